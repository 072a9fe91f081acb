# SPDX-License-Identifier: GPL-3.0-or-later
"""The run object as its file holds it: what passed or was skipped once for all hosts, by number.

A host's ``checks`` are those that failed or could not look; ``settled`` is the order of all of its
checks: a number from 0 is the place in the run's ``settled``, NEXT is the next of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...module_utils._ground.check import PASS, SKIP

NEXT = -1
_SETTLED = (PASS, SKIP)
Check = Mapping[str, Any]


class _Table:
    """Checks by number, equal ones under one."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._numbers: dict[str, int] = {}
        self._seen: dict[int, int] = {}

    def __call__(self, check: Check) -> int:
        # Of equal checks of a fleet there is mostly one object (_fleet/cluster).
        number = self._seen.get(id(check))
        if number is None:
            text = json.dumps(check)
            number = self._numbers.setdefault(text, len(self.checks))
            if number == len(self.checks):
                self.checks.append(check)
            self._seen[id(check)] = number
        return number


def fold(run: Mapping[str, Any]) -> dict[str, Any]:
    """As the file holds it."""
    table = _Table()
    hosts = {}
    for name, host in run["hosts"].items():
        order = [table(check) if check["result"] in _SETTLED else NEXT for check in host["checks"]]
        own = [check for check in host["checks"] if check["result"] not in _SETTLED]
        hosts[name] = {"verdict": host["verdict"], "checks": own, "settled": order, **_others(host)}
    found: dict[str, Any] = {}
    for key, value in run.items():
        if key == "hosts":
            found["settled"] = table.checks
        found[key] = hosts if key == "hosts" else value
    return found


def unfold(found: Mapping[str, Any]) -> dict[str, Any]:
    """The run object of what has the file's shape; ValueError where its numbers lead nowhere."""
    settled = found["settled"]
    hosts = {}
    for name, host in found["hosts"].items():
        own = iter(host["checks"])
        try:
            checks = [next(own) if number == NEXT else settled[_place(number)] for number in host["settled"]]
        except (IndexError, StopIteration):
            raise ValueError(f"hosts.{name}.settled names a check that is not there") from None
        if next(own, None) is not None:
            raise ValueError(f"hosts.{name}.settled leaves out a check")
        hosts[name] = {"verdict": host["verdict"], "checks": checks, **_others(host)}
    return {**{key: value for key, value in found.items() if key != "settled"}, "hosts": hosts}


def _place(number: int) -> int:
    if number < 0:
        raise IndexError
    return number


def _others(host: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in host.items() if key not in ("verdict", "checks", "settled")}
