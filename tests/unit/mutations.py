# SPDX-License-Identifier: GPL-3.0-or-later
"""Every field of what a host answers, bent: one at a time, by whatever JSON can hold."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import BANDWIDTH, LATENCY
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import ping_plan
from tests.gauntlet import render
from tests.unit import fleets
from tests.unit.rdma_hosts import answered
from tests.unit.tcp_told import tcp

NAMES = ("n1", "n2", "n3")
# The one that is bent.
ODD = "n2"
# What the hosts themselves answer: the rest is the operator's and the controller's.
ANSWERS = (
    "ibready_node",
    "ibready_ibverify",
    "ibready_pings",
    "ibready_pings_again",
    "ibready_tcp_listening",
    "ibready_tcp_asked",
    "ibready_tcp_stopped",
    "ibready_rdma_answers",
    "ibready_rdma_served",
    "ibready_rdma_inside",
)
Path = tuple[Any, ...]


class Gone:
    """Stands for a key that is not there."""


def deep(levels: int = 5000) -> Any:
    """Nested deeper than Python may call."""
    nested: Any = []
    for _ in range(levels):
        nested = [nested]
    return nested


# What no field of ours can be, or not well.
VALUES: Mapping[str, Any] = {
    "null": None,
    "text": "x",
    "no text": "",
    "number": 7,
    "negative": -1,
    "fraction": 0.5,
    "list": [],
    "list of text": ["x"],
    "object": {},
    "true": True,
    "false": False,
    "nan": math.nan,
    "infinity": math.inf,
    "huge": 10**30,
    "long": "x" * 100_000,
    "half": "\ud800",
    "escape": "\x1b[31m\nhost-that-is-none ready",
    "deep": deep(),
    "missing": Gone,
    "extra": Gone,
}


@cache
def _looked(board: str, number: int) -> str:
    node = fleets.described(board, number)
    tree = render.render(node)
    judged = _verify.verify(tree, from_inventory(node.expect))
    reported = verdict_object(f"n{number}", judged.checks, judged.facts)
    clock = {"asked": 10.0, "answered": 20.0, "began": 1e9 + 11, "ended": 1e9 + 19}
    seen = {
        "ibready_node": {
            "changed": False,
            "node": {
                **contact.collect(tree),
                "hostname": f"node{number}",
                "kernel": "6.8.0-88-generic",
                "root": True,
            },
        },
        "ibready_ibverify": {"changed": False, **reported, "clock": clock},
        "ibready_expect": node.expect,
    }
    return json.dumps(seen)


def fleet(board: str = "h100-pcie-2") -> dict[str, dict[str, Any]]:
    """Three honest hosts after a run in which all went well."""
    found = {name: json.loads(_looked(board, at)) for at, name in enumerate(NAMES, 1)}
    for name, mine in found.items():
        others = [one for one in NAMES if one != name]
        mine.update(tcp(*others), ibready_address=f"10.0.0.{name[1:]}", ibready_rdma="all")
    plan = ping_plan(found, NAMES)
    for name, mine in found.items():
        mine["ibready_ping_plan"] = plan
        mine["ibready_pings"] = [
            {
                **{"rail": rail, "server": other, "untested": ""},
                **{"sent": 50, "received": 50, "rtt_avg": 0.02, "rtt_max": 0.1},
            }
            for other in NAMES
            if other != name
            for rail in plan["ports"].get(name, {})
        ]
        mine["ibready_pings_again"] = mine["ibready_pings"][:1]
        mine["ibready_rdma_inside"] = {"host": {"memlock": "unlimited", "devices": [], "why": ""}}
    return answered(found, **{LATENCY: {"usec": 2.1}, BANDWIDTH: {"gbps": 391.0}})


def walk(value: Any, at: Path = ()) -> Iterator[Path]:
    """The way to every field, and to every list and object."""
    if at:
        yield at
    if isinstance(value, dict):
        for name, one in value.items():
            yield from walk(one, (*at, name))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from walk(one, (*at, number))


def kind(at: Path) -> Path:
    """What fields of one kind have alike: all of a list are, and names differ by their numbers."""
    return tuple("#" if isinstance(one, int) else re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", one) for one in at)


def fields(mine: Mapping[str, Any]) -> list[Path]:
    """One way to a field of each kind in a host's answers."""
    reported = {name: mine[name] for name in ANSWERS if name in mine}
    return list({kind(at): at for at in walk(reported)}.values())


def trimmed(mine: Any) -> Any:
    """Two entries of each list, and one of those keys that differ by their numbers alone."""
    if isinstance(mine, list):
        return [trimmed(one) for one in mine[:2]]
    if isinstance(mine, dict):
        kept = {kind((name,)): name for name in reversed(mine)}.values()
        return {name: trimmed(one) for name, one in mine.items() if name in kept}
    return mine


def value(mine: Any, at: Path) -> Any:
    """What is there."""
    for one in at:
        mine = mine[one]
    return mine


def bent(mine: Mapping[str, Any], at: Path, how: str) -> dict[str, Any]:
    """A copy of a host's variables with one field bent. Only what leads to the field is copied."""
    found = dict(mine)
    here: Any = found
    for one in at[:-1]:
        here[one] = copy.copy(here[one])
        here = here[one]
    last = at[-1]
    if how == "missing":
        del here[last]
    elif how == "extra":
        if isinstance(here[last], dict):
            here[last] = {**here[last], "not ours": {"a": [1]}}
        elif isinstance(here[last], list):
            here[last] = [*here[last], {"not": "ours"}]
    else:
        here[last] = VALUES[how]
    return found


def host(mine: Mapping[str, Any]) -> _hosts.Host:
    """What is read of a host."""
    return _hosts.gather({ODD: mine}, [ODD])[0]
