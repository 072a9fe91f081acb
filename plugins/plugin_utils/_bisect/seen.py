# SPDX-License-Identifier: GPL-3.0-or-later
"""A search from the variables that a run registered: hosts, fabrics where somebody asked them, and all answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._between.bench import perftest
from ...module_utils._data.bench import BANDWIDTH, WRITE_BW
from .._answers import apart
from .._fabric import gather, judge, report
from .._fabric.build import build
from .._fabric.model import Fabric
from .._fleet.bench import reported
from .._fleet.bench.reported import Reported
from .._hosts import hosts as _hosts
from .live import Desired, Fabrics, Search, plan, search

_HOSTS, _WISH = "ibready_bisect_hosts", "ibready_bisect_wish"
# The least and the most of each. A host has at most so many ends of a round, each with a TCP port of its own.
_ENDS = 256
_NUMBERS = {
    **{"seconds": (1, perftest.SECONDS_MOST), "tcp_port": (1024, 65535 - _ENDS)},
    **{"flows": (0, 65535), "forks": (1, 65535)},
}
_GBPS = (0, 65535)
_VARIABLES = {
    **{"seconds": "bench_seconds", "tcp_port": "bench_port", "flows": "bench_bisect_flows"},
    **{"gbps": "bench_bisect_gbps", "forks": "forks"},
}


class BisectError(ValueError):
    """A variable of the site cannot be used; the message says which."""


def fabrics(hostvars: Mapping[str, Any], names: Sequence[str]) -> Fabrics:
    """The InfiniBand fabrics as this run saw them; none where it did not ask."""
    asked = report.asked(hostvars, names)
    if asked is None:
        return Fabrics()
    inventory = gather.inventory(_hosts.gather(hostvars, list(names)), asked.known)
    found: list[Fabric] = []
    tables: dict[str, Mapping[int, int]] = {}
    lids: dict[str, int] = {}
    why = asked.error
    # Of several looks at one fabric the one that saw most.
    for number, (look, *_others) in enumerate(judge.groups(asked.looks), 1):
        facts = look.discovery.value.facts if look.discovery.value is not None else None
        if facts is None:
            why = why or look.discovery.why
            continue
        found.append(build(f"fabric {number}", look.asked, facts, inventory))
        told = look.routes.value.facts if look.routes.value is not None else None
        if told is None:
            why = why or look.routes.why or "their forwarding tables were not told"
            continue
        tables.update({table.guid: table.out for table in told.tables})
        lids.update(told.lids)
    lacking = [node for fabric in found for node in fabric.nodes.values() if node.level and node.guid not in tables]
    if lacking and not why:
        why = f"the forwarding table of {lacking[0].name or lacking[0].guid} is missing"
    return Fabrics(tuple(found), {} if why else tables, {} if why else lids, why)


def begun(hostvars: Mapping[str, Any], names: Sequence[str]) -> tuple[list[str], Desired]:
    """The hosts that the search began with, in that order, and what was wanted; raises BisectError on none."""
    for name in names:
        mine = hostvars.get(name, {})
        if mine.get(_HOSTS):
            return [str(host) for host in mine[_HOSTS]], desired(mine.get(_WISH) or {})
    return list(names), Desired()


def desired(raw: Mapping[str, Any]) -> Desired:
    """From the site's variables; raises BisectError on what cannot be used."""
    if raw.get("test") not in (None, *BANDWIDTH):
        raise BisectError(f"bench_bisect_test: {raw['test']!r} is none of {', '.join(BANDWIDTH)}; next: leave it out")
    found = {name: _number(raw[name], name) for name in _NUMBERS if name in raw}
    gbps = _number(raw.get("gbps", 0), "gbps", float)
    return Desired(str(raw.get("test", WRITE_BW)), gbps=gbps, joined=bool(raw.get("joined")), **found)


def _number(value: Any, name: str, kind: type[int] | type[float] = int) -> Any:
    least, most = _NUMBERS.get(name, _GBPS)
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = least - 1
    if not least <= number <= most:
        raise BisectError(f"{_VARIABLES[name]} must be a number from {least} to {most}, not {value!r}")
    return number


def made(hostvars: Mapping[str, Any], names: Sequence[str], wish: Desired) -> tuple[dict[str, Any], Search]:
    """The next round as tasks, and the search; a host whose answers cannot be used stays out."""

    def one(some: Sequence[Reported]) -> tuple[dict[str, Any], Search]:
        found = search(some, fabrics(hostvars, [host.name for host in some]), wish)
        return plan(found, some, wish), found

    return apart.together(reported.gather(hostvars, list(names)), one, reported.lost)
