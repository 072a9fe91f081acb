# SPDX-License-Identifier: GPL-3.0-or-later
"""Error counters of every port since they were cleared, and which rise: only hosts with some.

Every link was down before it came up: that counts as far as it is more than on most ports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from .....module_utils._data.ib_counters import COUNTERS, LINK_DOWNED
from .....module_utils._ground.check import FAIL
from ...._ground.dicts import as_dict
from ...picture.model import natural
from . import fleet
from .text import Names, brief, names, number

HOSTS = 100
COLUMNS = 32
# Shades: 0, to 9, to 99 and so on.
SHADES = 7
_KNOWN = frozenset(counter.name for counter in COUNTERS)
_RISES = ("ib.port.errors", "ib.port.flaps")
_TOLD = 6


@dataclass(frozen=True)
class Cell:
    """One port. ``total``: over its error counters, None where nobody could look (``why``).

    ``rises``: between two looks of this run one rose too fast, or the link went down.
    """

    total: int | None
    rises: bool = False
    says: str = ""

    @property
    def shade(self) -> int:
        """By powers of ten."""
        if not self.total:
            return 0
        return min(SHADES - 1, 1 + int(math.log10(self.total)))


@dataclass(frozen=True)
class Row:
    host: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Heat:
    """``read``, ``none``: hosts with ports whose counters were read, or whose driver shows none.
    ``usual``: how often the link of most ports went down.

    ``unread``: hosts with a port whose counters nobody could read. ``more``: hosts left out.
    """

    ports: tuple[str, ...]
    rows: list[Row]
    read: int
    none: int
    unread: Names
    usual: int = 0
    more: int = 0
    more_ports: int = 0


def read(run: Mapping[str, Any]) -> Heat:
    """Of all hosts of a run object; those with rising counters first, then the highest."""
    seen = fleet.hosts(run)
    found: dict[str, dict[str, Cell]] = {}
    unread: list[str] = []
    counted = none = 0
    usual = _usual(seen)
    for host in seen:
        cells, missing = _host(host, usual)
        if any(cell.total is not None for cell in cells.values()):
            counted += 1
        elif missing and not cells:
            none += 1
        if (not missing and not cells) or any(cell.total is None for cell in cells.values()):
            unread.append(host.name)
        if any(cell.total or cell.rises for cell in cells.values()):
            found[host.name] = cells
    order = sorted(found, key=lambda name: _rank(found[name]))
    shown = order[:HOSTS]
    ports = sorted({port for name in shown for port in found[name]}, key=natural)
    columns = ports[:COLUMNS]
    rows = [Row(name, tuple(found[name].get(port) for port in columns)) for name in shown]
    more = (max(0, len(order) - HOSTS), len(ports) - len(columns))
    return Heat(tuple(columns), rows, counted, none, names(unread, 20), usual, *more)


def _usual(seen: list[fleet.Seen]) -> int:
    """How often the link of most ports went down since the counters were cleared."""
    reported = [
        int(value)
        for host in seen
        for detail in as_dict(host.area("ib").get("details")).values()
        if (value := number(as_dict(_values(detail).get("value")).get(LINK_DOWNED))) is not None
    ]
    return median_low(reported) if reported else 0


def _values(detail: Any) -> Mapping[str, Any]:
    return as_dict(as_dict(detail).get("counters"))


def _rank(cells: Mapping[str, Cell]) -> tuple[int, int]:
    return (-sum(cell.rises for cell in cells.values()), -max((cell.total or 0 for cell in cells.values()), default=0))


def _host(host: fleet.Seen, usual: int) -> tuple[dict[str, Cell], bool]:
    """Cells by port, and whether a driver shows no counters of a port."""
    details = as_dict(host.area("ib").get("details"))
    rising = {
        str(check.get("subject")): str(check.get("observed") or "")
        for check in host.checks
        if check.get("id") in _RISES and check.get("result") == FAIL
    }
    found: dict[str, Cell] = {}
    missing = False
    for name, detail in details.items():
        reported = _values(detail)
        values, why = reported.get("value"), str(reported.get("why") or "")
        if values is None and reported.get("missing"):
            missing = True
            continue
        rise = rising.get(str(name), "")
        known = any(number(as_dict(values).get(entry)) is not None for entry in _KNOWN)
        if values is None or not known:
            why = why or "no error counter was told"
            found[brief(name, 40)] = Cell(None, bool(rise), brief(why, 100))
        else:
            found[brief(name, 40)] = _cell(as_dict(values), rise, usual)
    return found, missing


def _cell(values: Mapping[str, Any], rise: str, usual: int) -> Cell:
    numbers = {
        str(name): int(value)
        for name, raw in values.items()
        if name in _KNOWN and (value := number(raw)) is not None and value > 0
    }
    high = sorted(numbers.items(), key=lambda number: -number[1])
    said = ", ".join(f"{name} {value:,}" for name, value in high[:_TOLD])
    if rise:
        said = f"{rise}; {said}" if said else rise
    total = sum(numbers.values()) - min(usual, numbers.get(LINK_DOWNED, 0))
    return Cell(total, bool(rise), brief(said, 200))
