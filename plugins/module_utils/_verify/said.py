# SPDX-License-Identifier: GPL-3.0-or-later
"""What a text says, in one line: of tools whose facts no check of a host goes by, or not always. Facts in, no I/O."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Iterable, Mapping

from .._ground.text import few, printable

Facts = Mapping[str, Any]
_SHOWN = 4


def said(tool: str, facts: Facts) -> str:
    """The line; "" of a tool whose texts checks go by."""
    return printable(_LINES[tool](facts)) if tool in _LINES else ""


def _listed(entries: Iterable[str]) -> str:
    return few(list(entries), _SHOWN)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _beegfs(facts: Facts) -> str:
    ways = f"{_count(len(facts['rdma']), 'server')} by RDMA, {len(facts['tcp'])} by TCP"
    nics = f", interfaces {facts['nics']}" if facts["nics"] else ""
    first = f", errors like {facts['errors'][0]!r}" if facts["errors"] else ""
    return f"{_count(facts['records'], 'record')}, {ways}{nics}{first}"


def _dcgmi(facts: Facts) -> str:
    results = Counter(result["result"] for test in facts["tests"] for result in test["results"])
    parts = [f"{result}: {number}" for result, number in results.most_common()]
    health = [f"health {facts['health']}"] if facts["health"] else []
    links = (f"{of['entity']} has {of['up']} NVLinks up and {of['down']} down" for of in facts.get("nvlinks", ()))
    return "; ".join(filter(None, [", ".join(parts), *health, _listed(links)]))


def _fabric_manager(facts: Facts) -> str:
    """Why it does not run: where it found no NVSwitch, no check has anything to look at."""
    return f"the fabric manager does not run: {facts['reason']}" if facts.get("reason") else ""


def _ibdev2netdev(facts: Facts) -> str:
    ports = facts["ports"]
    up = sum(port["up"] for port in ports)
    named = (f"{port['device']} is {port['netdev']}, {'up' if port['up'] else 'down'}" for port in ports)
    return f"{up} of {_count(len(ports), 'interface')} up: {_listed(named)}"


def _ibdiagnet(facts: Facts) -> str:
    return f"{facts['nodes']} nodes, {facts['switches']} switches, {_count(len(facts['stages']), 'stage')} of checks"


def _dump_fts(facts: Facts) -> str:
    number = len(facts["switches"])
    return f"the forwarding tables of {number} switch{'' if number == 1 else 'es'}"


def _imex(facts: Facts) -> str:
    ready = sum(node["state"] == "READY" for node in facts["nodes"])
    domain = f"the domain is {facts['domain']}, " if facts["domain"] else ""
    return f"{domain}{ready} of {_count(len(facts['nodes']), 'node')} READY" if facts["nodes"] else domain.rstrip(", ")


def _lspci(facts: Facts) -> str:
    kinds = Counter(device["kind"] for device in facts["devices"] if device["kind"])
    parts = ", ".join(_count(number, kind) for kind, number in kinds.most_common())
    return f"{_count(len(facts['devices']), 'device')}{f', among them {parts}' if parts else ''}"


def _mlnx_qos(facts: Facts) -> str:
    pfc = facts["pfc"]
    flow = (
        "flow control is not shown" if pfc is None else f"flow control of priority {_listed(map(str, pfc)) or 'none'}"
    )
    return f"trust {facts['trust'] or 'is not shown'}, {flow}"


def _mlxlink(facts: Facts) -> str:
    advice = f"; mlxlink's own advice: {facts['recommendation']}" if facts.get("recommendation") else ""
    return f"{facts['state'] or 'no state'}, {facts['physical_state']}, {facts['speed']} {facts['width']}{advice}"


# GB/s of the slowest rail that anybody builds, and bytes from which on the rate of one is reached.
_RAIL, _LARGE = 12.5, 1 << 27


def _nccl_tests(facts: Facts) -> str:
    mean = "" if facts["average"] is None else f"{facts['average']:g} GB/s busbw on average, "
    hosts = len({rank["host"] for rank in facts["ranks"]})
    where = f" by {_count(len(facts['ranks']), 'rank')} on {_count(hosts, 'host')}" if hosts else ""
    slow = hosts > 1 and facts["peak"] < _RAIL and max((row["size"] for row in facts["rows"]), default=0) >= _LARGE
    less = ", less than one rail of 100 Gb/s: look for NET/Socket in NCCL_DEBUG=INFO"
    if slow:
        return f"{facts['peak']:g} GB/s at most{where}{less}"
    return f"{mean}{facts['peak']:g} GB/s at most, {_count(len(facts['rows']), 'size')}{where}"


def _opensm(facts: Facts) -> str:
    up = (facts["subnet_up"] or {}).get("count", 0)
    if not facts["records"]:
        return f"{facts['program'] or 'OpenSM'} {facts['version']}, and no record of its log"
    state = facts["state"] or "in no known state"
    return f"{facts['records']} records, the subnet manager is {state}, SUBNET UP {up} times"


def _perftest(facts: Facts) -> str:
    rates = [row["gbps"] for row in facts["bandwidth"]]
    if rates:
        return f"{max(rates):g} Gb/s at most, {_count(len(rates), 'size')}"
    return f"latencies of {_count(len(facts['latency']), 'size')}"


def _pingpong(facts: Facts) -> str:
    return f"{facts['iterations']} round trips, {facts['usec']:g} us each"


def _rping(facts: Facts) -> str:
    return f"{_count(facts['pings'], 'ping')} {'came in' if facts['server'] else 'came back'}"


def _show_gids(facts: Facts) -> str:
    routable = [
        f"{gid['device']}/{gid['port']} index {gid['index']}" for gid in facts["gids"] if gid["version"] == "v2"
    ]
    return f"{_count(len(facts['gids']), 'GID')}, of RoCE v2: {_listed(routable) or 'none'}"


_LINES: dict[str, Callable[[Facts], str]] = {
    "beegfs_log": _beegfs,
    "dcgmi": _dcgmi,
    "fabricmanager_status": _fabric_manager,
    "ibdev2netdev": _ibdev2netdev,
    "ibdiagnet": _ibdiagnet,
    "dump_fts": _dump_fts,
    "imex_status": _imex,
    "lspci": _lspci,
    "mlnx_qos": _mlnx_qos,
    "mlxlink": _mlxlink,
    "nccl_tests": _nccl_tests,
    "opensm_log": _opensm,
    "perftest": _perftest,
    "rc_pingpong": _pingpong,
    "rping": _rping,
    "show_gids": _show_gids,
}
