# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ends of the cable at a host's port, as the fabric tells them: in this run, or before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....module_utils._ground.check import Check
from ..._ground.dicts import as_dict
from ..._run.ends import ends


class Cables:
    """``of``: host, port, far end ("" where nobody knows it), and whether that is of an earlier run."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._now = ends(run)
        self._before = as_dict(as_dict(run.get("since")).get("ends"))

    def of(self, found: Iterable[tuple[str, Check]]) -> list[tuple[str, str, str, bool]]:
        """Each port once, of findings that are about a port."""
        told: dict[tuple[str, str], tuple[str, str, str, bool]] = {}
        for host, check in found:
            port = check.subject.removeprefix(f"{host} ").partition(" - ")[0]
            key = f"{host} {port}"
            now, before = self._now.get(key, ""), str(self._before.get(key) or "")
            if now or before or check.id in _CABLED:
                told.setdefault((host, port), (host, port, now or before, not now and bool(before)))
        return list(told.values())


# Whose far end is missed where nobody knows it.
_CABLED = ("ib.port.state", "ib.port.physical_state", "roce.port.state")
