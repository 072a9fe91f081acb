# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the files of a service ask for: which of them sets a limit that is too low."""

from __future__ import annotations

from typing import Iterable, Mapping, Sequence

from ..._data import host_limits
from ..._data.floors import CPUS, FLOORS, Floor
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.bound import Bound
from ..._ground.reading import Reading
from ..._parse import proc_limits
from ..._parse.proc_limits import UNLIMITED, Limits
from ..._parse.systemctl_show import Block
from . import dropins, floors
from .facts import MANAGER, SysctlLine, UnitLimit

# By limit: the property that counts, and what is enough.
ENOUGH = {
    "MEMLOCK": ("LimitMEMLOCKSoft", proc_limits.UNLIMITED),
    "NOFILE": ("LimitNOFILE", host_limits.NOFILE_HARD),
}
# Drop-ins of one unit: of more the last ones, which count.
_MOST: Bound = 40


def asked(
    evidence: Evidence,
    shown: Sequence[Block],
    limits: Mapping[str, Reading[Limits]],
    default: Limits | None,
) -> dict[str, dict[str, UnitLimit]]:
    """What each service with ``limits`` asks for, by what is ``shown`` of it.

    Files are read only where that is too little.
    """
    units = {block["Id"]: block for block in shown if "Id" in block}
    found = {}
    cpus = {CPUS: ask.text(evidence, CPUS)}
    for service in limits:
        block = units.get(service, {})
        paths = [block.get("FragmentPath", ""), *block.get("DropInPaths", "").split()[-_MOST:]]
        entry = {key: _limit(block.get(name, "")) for key, (name, _least) in ENOUGH.items()}
        asks = limits[service].value
        soft = asks.soft if asks else {}
        below = [row.unit for row in FLOORS if row.unit and _below(row, soft, cpus)]
        low = any(_low(key, value) for key, value in entry.items())
        lines = _lines(evidence, paths) if low or below else ()
        reported = {key: _set_by(f"Limit{key}", value, lines if low else ()) for key, value in entry.items()}
        reported.update((key, _set_by(f"Limit{key}", None, lines)) for key in below)
        found[service] = reported
    if default is not None and _low("MEMLOCK", default.memlock_soft):
        lines = known.lines if (known := dropins.manager(evidence).value) else ()
        found[MANAGER] = {
            "MEMLOCK": _set_by("DefaultLimitMEMLOCK", default.memlock_soft, lines),
            "NOFILE": _set_by("DefaultLimitNOFILE", default.nofile_hard, lines),
        }
    return found


def _below(row: Floor, soft: Mapping[str, int], cpus: floors.Values) -> bool:
    return soft.get(row.reads.partition(" ")[2], UNLIMITED) < (floors.bound(row, cpus).value or 0)


def _low(key: str, value: int | None) -> bool:
    return value is not None and value < ENOUGH[key][1]


def _limit(text: str) -> int | None:
    try:
        return proc_limits.number(text)
    except ValueError:
        return None


def _lines(evidence: Evidence, paths: Iterable[str]) -> tuple[SysctlLine, ...]:
    """Of the files that can be read."""
    texts = [dropins.settings(evidence, [path]).value or () for path in paths if path.startswith("/")]
    return tuple(line for lines in texts for line in lines)


def _set_by(key: str, value: int | None, lines: Iterable[SysctlLine]) -> UnitLimit:
    """The last line that sets it; an empty value takes back what came before."""
    last = next((line for line in reversed(tuple(lines)) if line.key == key), None)
    return UnitLimit(value, last.line, last.path) if last is not None and last.value else UnitLimit(value)
