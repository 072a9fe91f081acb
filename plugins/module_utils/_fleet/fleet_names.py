# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge that no two hosts give themselves the same name; no I/O."""

from __future__ import annotations

from typing import Mapping

from .._expect.expectations import CAPABILITY
from .._ground.check import Check, outcome
from .._ground.text import few

_CHECK = "fleet.host.name"
_SHOWN = 4


def judge(names: Mapping[str, str]) -> dict[str, list[Check]]:
    """``names``: what each host calls itself, by its name in the inventory."""
    owners: dict[str, list[str]] = {}
    for host, name in names.items():
        owners.setdefault(name, []).append(host)
    found = {}
    for host, name in names.items():
        alone = len(owners[name]) == 1
        observed = name if alone else f"{name}, the name of {few(owners[name], _SHOWN)}"
        found[host] = [outcome(alone, _CHECK, "host", observed, "a name of its own", CAPABILITY)]
    return found
