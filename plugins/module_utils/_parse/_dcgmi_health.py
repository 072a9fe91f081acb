# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the table of ``dcgmi health -c``, as DCGM 2 to 4 draw it and as DCGM 1 did."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ._dcgmi import Incident, Row

REPORT = "Health Monitor Report"
_OVERALL = "Overall Health"
_STATE = r"(Healthy|Warning|Failure|Internal error)"
_IS_STATE = re.compile(_STATE)
_ARROW = re.compile(r"-> (.{1,60})")
_ERRORS = "Errors"
_GROUP = re.compile(r"[A-Za-z][A-Za-z ]{1,20}")
_NUMBER = re.compile(r"[0-9]{1,9}")
# DCGM 1: `| Group 1 | Overall Health: Warning |`, `| GPU ID: 0 | Warning |`, `| | PCIe system: Warning - ... |`.
_OVERALL_1 = re.compile(rf"{_OVERALL}: {_STATE}")
_GPU_1 = re.compile(r"GPU ID: ([0-9]{1,4})")
_SYSTEM_1 = re.compile(rf"([A-Z][A-Za-z ]{{1,30}}): {_STATE} - (.{{1,250}})")


@dataclass
class _Incident:
    entity: str
    system: str
    state: str
    pieces: list[str] = field(default_factory=list)


class Health:
    """``ended``: whether a rule came last."""

    def __init__(self) -> None:
        self.overall = ""
        self.ended = False
        self.unread = 0
        self._group = self._entity = ""
        self._found: list[_Incident] = []
        self._open: _Incident | None = None

    @property
    def incidents(self) -> tuple[Incident, ...]:
        return tuple(Incident(each.entity, each.system, each.state, " ".join(each.pieces)) for each in self._found)

    def take(self, row: Row) -> None:
        """The next row or rule."""
        self.ended = row.rule
        if row.rule:
            self._open = None
            return
        name, value = " ".join(row.left.split()), " ".join(row.right.split())
        arrow, gpu, system = _ARROW.fullmatch(name), _GPU_1.fullmatch(name), _SYSTEM_1.fullmatch(value)
        overall = _OVERALL_1.fullmatch(value) or _OVERALL_1.fullmatch(name)
        if name == _OVERALL and _IS_STATE.fullmatch(value):
            self.overall = value
        elif overall is not None:
            self.overall = overall.group(1)
        elif gpu is not None:
            self._entity, self._open = f"GPU {gpu.group(1)}", None
        elif not name and system is not None:
            self._begin(*system.groups())
        elif arrow is not None:
            self._arrow(arrow.group(1), value)
        elif not name and self._open is not None:
            self._open.pieces.append(value)
        elif name and not value and _GROUP.fullmatch(name):
            self._group, self._open = name, None
        elif name or value:
            self._open = None
            self.unread += 1

    def _arrow(self, name: str, value: str) -> None:
        self._open = None
        if _NUMBER.fullmatch(name):
            self._entity = f"{self._group} {name}".strip()
        elif name != _ERRORS and _IS_STATE.fullmatch(value):
            self._begin(name, value)
        elif name != _ERRORS:
            self.unread += 1

    def _begin(self, system: str, state: str, text: str = "") -> None:
        self._open = _Incident(self._entity, system, state, [text] if text else [])
        self._found.append(self._open)
