# SPDX-License-Identifier: GPL-3.0-or-later
"""Which leaf switch every port hangs on, as the fabric was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def leaves(fabric: Any, rails: Mapping[str, Iterable[str]]) -> dict[tuple[str, str], str]:
    """(host, rail) -> GUID of its leaf switch; nothing for what the fabric does not tell.

    ``fabric``: the report's, or {} where nobody looked; an HCA goes by its name (``mlx5_0``) or its
    port's (``mlx5_0/1``). ``rails``: host -> names of its ports.
    """
    at: dict[tuple[str, str], set[str]] = {}
    for entry in _list(fabric, "fabrics"):
        for node in _list(entry, "nodes"):
            if isinstance(node, Mapping) and node.get("leaf"):
                key = (str(node.get("host")), str(node.get("hca")))
                at.setdefault(key, set()).add(str(node["leaf"]))
    found = {}
    for host, names in rails.items():
        for rail in names:
            switches = at.get((host, rail)) or at.get((host, rail.partition("/")[0]), set())
            # An HCA on two switches: nobody told which port hangs on which.
            if len(switches) == 1:
                found[host, rail] = min(switches)
    return found


def _list(value: Any, key: str) -> list[Any]:
    reported = value.get(key) if isinstance(value, Mapping) else None
    return list(reported) if isinstance(reported, list | tuple) else []
