# SPDX-License-Identifier: GPL-3.0-or-later
"""Incasts: which hosts write to one port at once and when, each host's part, and what came of it.

In a round a host takes part in one incast. As many run side by side as Ansible works on hosts, and no host sends or
receives where a job runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._between.bench import perftest
from ....module_utils._data.bench import WRITE_BW
from ....module_utils._expect.expectations import CAPABILITY
from ....module_utils._fleet import incast
from ....module_utils._fleet.incast import LOAD, Incast, Side
from ....module_utils._ground.check import Check, skipped, unknown
from ....module_utils._ground.text import few
from ....module_utils._rails.roce_ports import RocePort
from ..._answers import apart, rdma as rdma_told, shapes
from ..._answers.typed import read
from ..._ground.dicts import as_dict
from ..._hosts import hosts as _hosts
from ..._switch import hop
from .plan import PORT

SECONDS, SENDERS = 10, 2
# Logging in and starting modules on all hosts of a round, in seconds.
_OVERHEAD = 60
_TOLD, _ERROR, _JOBS, _PLAN = "ibready_incast_told", "ibready_incast_error", "ibready_bench_jobs", "ibready_incast_plan"
_FEW = 4
_NOBODY = "no other hosts could send to it"


@dataclass(frozen=True)
class Desired:
    """``receivers``: the hosts that receive, all where none is named. ``senders``: to each. ``forks``: on how many
    hosts Ansible works at a time."""

    receivers: Sequence[str] = ()
    senders: int = SENDERS
    seconds: int = SECONDS
    port: int = PORT
    forks: int = 5


def plan(hosts: Sequence[_hosts.Host], hostvars: Mapping[str, Any], wish: Desired) -> dict[str, Any]:
    """``rounds`` of incasts (receiver, rail, senders) between hosts without a job; ``hosts``: what `parts` needs;
    ``left``: why others stay out; ``rails_left``: of hosts that should receive, why a rail does not."""
    members: dict[str, dict[str, Any]] = {}
    left: dict[str, str] = {}
    lame: dict[str, dict[str, str]] = {}
    for host in hosts:
        if host.rdma is None or host.absent:
            continue
        busy = _busy(hostvars.get(host.name, {}))
        if host.rdma.host.off or busy:
            left[host.name] = host.rdma.host.off or f"left out: {busy}"
            continue
        rails, lame[host.name] = _able(host, host.rdma)
        if rails:
            members[host.name] = {"address": host.rdma.address, "rails": rails}
        why = next((f"{rail}: {said}" for rail, said in lame[host.name].items()), "")
        left[host.name] = why or "none of its rails is one of as many other hosts as have to send"
    rounds: list[list[dict[str, Any]]] = []
    for group in _groups(members, wish):
        names = {group["receiver"], *group["senders"]}
        free = (some for some in rounds if _fits(some, names, wish.forks))
        room = next(free, None)
        if room is None:
            room = []
            rounds.append(room)
        room.append(group)
    receiving = {(group["receiver"], group["rail"]) for some in rounds for group in some}
    taking = {name for some in rounds for group in some for name in (group["receiver"], *group["senders"])}
    rails_left: dict[str, dict[str, str]] = {}
    for host in hosts:
        if host.name in taking and (not wish.receivers or host.name in wish.receivers):
            for rail in _cabled(host):
                if (host.name, rail) not in receiving:
                    why = lame[host.name].get(rail) or _few_others(rail, members, wish)
                    rails_left.setdefault(host.name, {})[rail] = why
    return {
        "rounds": rounds,
        "hosts": {name: members[name] for name in sorted(taking)},
        "left": {name: why for name, why in left.items() if name not in taking},
        "rails_left": rails_left,
        "named": list(wish.receivers),
        "seconds": wish.seconds,
        "port": wish.port,
        "lease": min(perftest.limit_of(WRITE_BW, wish.seconds) + _OVERHEAD, perftest.LEASE_MOST),
    }


def _cabled(host: _hosts.Host) -> list[str]:
    """The RoCE rails that hang on a switch port of their own."""
    return [port.name for port, _mark in hop.of_host(host)]


def _few_others(rail: str, members: Mapping[str, Mapping[str, Any]], wish: Desired) -> str:
    others = sum(rail in member["rails"] for member in members.values()) - 1
    return f"of other hosts, {others} can send on this rail, and {wish.senders} have to"


def _able(host: _hosts.Host, rdma: rdma_told.Reported) -> tuple[dict[str, Any], dict[str, str]]:
    """The rails that can take part by name, and why the others cannot."""
    rails: dict[str, Any] = {}
    lame = dict(rdma.host.missing)
    marks = {port.name: mark for port, mark in hop.of_host(host)}
    for name, rail in rdma.host.rails.items():
        mark = marks.get(name)
        if mark is None:
            lame[name] = "it hangs on no switch port of its own (software RDMA, a virtual function, InfiniBand)"
        elif mark.value is None:
            lame[name] = f"how jobs mark its packets is not known: {mark.why}"
        else:
            meet = {"device": rail.device, "port": rail.port, "gid_index": rail.gid_index}
            rails[name] = {**meet, "traffic_class": mark.value}
    return rails, lame


def _groups(members: Mapping[str, Mapping[str, Any]], wish: Desired) -> Iterator[dict[str, Any]]:
    """On each rail every receiver, and the hosts that come after it in the order of names."""
    for rail in sorted({rail for member in members.values() for rail in member["rails"]}):
        names = sorted(name for name, member in members.items() if rail in member["rails"])
        for at, receiver in enumerate(names):
            others = (names[at + 1 :] + names[:at])[: wish.senders]
            if len(others) == wish.senders and (not wish.receivers or receiver in wish.receivers):
                yield {"receiver": receiver, "rail": rail, "senders": others}


def _fits(some: Sequence[Mapping[str, Any]], names: set[str], forks: int) -> bool:
    busy = {name for group in some for name in (group["receiver"], *group["senders"])}
    return not busy & names and len(busy | names) <= forks


def parts(made: Mapping[str, Any], hostvars: Mapping[str, Any], number: int) -> dict[str, dict[str, Any]]:
    """What each host does in one round, as perftest takes it: ``state`` with ``ends`` or ``questions``; ``left``: why
    its incast is left out, for a job runs on one of its hosts."""
    found: dict[str, dict[str, Any]] = {}
    for group in made["rounds"][number]:
        receiver, rail = group["receiver"], group["rail"]
        names = (receiver, *group["senders"])
        why = few([f"{name}: {said}" for name in names if (said := _busy(hostvars.get(name, {})))], _FEW)
        if why:
            found.update({name: {"state": "", "left": why} for name in names})
            continue
        far, ends = made["hosts"][receiver], []
        for at, sender in enumerate(group["senders"]):
            meet = {"test": WRITE_BW, "tcp_port": made["port"] + at}
            ends.append({**far["rails"][rail], **meet})
            question = {**made["hosts"][sender]["rails"][rail], **meet, "address": far["address"]}
            asks = [{**question, "server": receiver, "rail": rail}]
            found[sender] = {"state": "asked", "questions": asks, "ends": [], "server": receiver, "left": ""}
        found[receiver] = {"state": "watched", "questions": [], "ends": ends, "server": receiver, "left": ""}
    return found


def _busy(seen: Mapping[str, Any]) -> str:
    """What runs on a host now, or why nobody can tell."""
    looked = as_dict(seen.get(_JOBS))
    if "jobs" not in looked or "unknown" not in looked:
        return "whether a job runs there is not known"
    return few([str(entry) for entry in (*looked["jobs"], *looked["unknown"])], _FEW)


def judged(
    hosts: Sequence[_hosts.Host], hostvars: Mapping[str, Any], made: Mapping[str, Any]
) -> tuple[dict[str, list[Check]], list[dict[str, Any]]]:
    """Checks of every host with RoCE rails, and a row for each incast."""
    known = {host.name: host for host in hosts if not host.absent and host.rdma is not None}
    told, odd = apart.each(known, lambda name: _told(hostvars.get(name, {})))
    found = [
        _incast(group, number, known, told, odd, hostvars)
        for number, some in enumerate(made["rounds"])
        for group in some
        if {group["receiver"], *group["senders"]} & set(known)
    ]
    checks = {name: some for name, some in incast.judge(found).items() if name in known}
    received = {(entry.receiver.host, entry.receiver.rail) for entry in found}
    for name, host in known.items():
        if host.rdma is not None and host.rdma.host.off:
            checks[name] = [skipped(LOAD, "host", host.rdma.host.off)]
        elif name in made["left"] or (made["named"] and name not in made["named"]):
            checks.setdefault(name, []).append(_out(name, made))
        else:
            mine = checks.setdefault(name, [])
            whys = made["rails_left"].get(name, {})
            for rail in _cabled(host):
                if (name, rail) not in received:
                    mine.append(unknown(LOAD, rail, whys.get(rail, _NOBODY), remedy=incast.AGAIN))
            if not mine:
                mine.append(_out(name, made))
    return checks, [_row(entry) for entry in found]


def _out(name: str, made: Mapping[str, Any]) -> Check:
    """Of a host that received nothing."""
    if made["named"] and name not in made["named"]:
        return skipped(LOAD, "host", "ibready_incast_receivers names other hosts")
    return unknown(LOAD, "host", made["left"].get(name, _NOBODY), remedy=incast.AGAIN)


def _told(seen: Mapping[str, Any]) -> dict[int, shapes.Loaded]:
    return {entry["number"]: entry for entry in read(list[shapes.Loaded], seen.get(_TOLD) or [], _TOLD)}


def _incast(
    group: Mapping[str, Any],
    number: int,
    known: Mapping[str, _hosts.Host],
    told: Mapping[str, Mapping[int, shapes.Loaded]],
    odd: Mapping[str, str],
    hostvars: Mapping[str, Any],
) -> Incast:
    rail, names = group["rail"], (group["receiver"], *group["senders"])
    rounds = {name: told.get(name, {}).get(number, shapes.Loaded(number=number)) for name in names}
    left = next((entry["left"] for entry in rounds.values() if entry.get("left")), "")
    why = f"left out: {left}" if left else ""
    for name in names:
        if not why and "counted" not in rounds[name]:
            said = as_dict(hostvars.get(name)).get(_ERROR)
            why = f"{name}: {odd.get(name) or said or 'it was not reached, or not asked'}"
    receiver, *senders = (_side(name, rail, known.get(name), rounds[name]) for name in names)
    received = tuple((float(at), int(count)) for at, count in rounds[names[0]].get("received", ()))
    rail_told = known[names[0]].rdma if names[0] in known else None
    mine = rail_told.host.rails.get(rail) if rail_told is not None else None
    return Incast(receiver, tuple(senders), mine.rate if mine is not None else None, received, why)


def _side(name: str, rail: str, host: _hosts.Host | None, entry: shapes.Loaded) -> Side:
    counted = entry.get("counted", {})
    before, after = counted.get("before"), counted.get("after")
    both = before is not None and after is not None
    lame = next((look["why"] for look in (before, after) if look is not None and look["why"]), "")
    port = next((port for port, _mark in hop.of_host(host) if port.name == rail), None) if host is not None else None
    lossless, source = _lossless(host, port)
    answer = next(iter(entry.get("answers", ())), None)
    return Side(
        name,
        rail,
        driver=(before["driver"] if before is not None else "") or (port.driver if port is not None else ""),
        lossless=lossless,
        told_by=source,
        before=before["values"] if before is not None else {},
        after=after["values"] if after is not None else {},
        why=lame or ("" if both else "its counters were not read before and after"),
        gbps=answer.get("gbps") if answer is not None else None,
        untested=str(answer.get("untested") or "") if answer is not None else "",
    )


def _lossless(host: _hosts.Host | None, port: RocePort | None) -> tuple[tuple[int, ...] | None, str]:
    """The priorities with flow control, and who says so: the site, its profile, else the port itself."""
    said = host.expect.get("roce_pfc") if host is not None else None
    if said is not None:
        return tuple(said.value), said.source
    if port is None or port.qos.pfc.value is None:
        return None, (port.qos.pfc.why if port is not None else "") or "nobody looked"
    return port.qos.pfc.value, CAPABILITY


def _row(entry: Incast) -> dict[str, Any]:
    seconds, most = incast.full(entry.received, entry.rate) if entry.rate else (0.0, 0.0)
    return {
        "receiver": entry.receiver.host,
        "rail": entry.receiver.rail,
        "senders": [side.host for side in entry.senders],
        "gbps": [side.gbps for side in entry.senders],
        "rate_gbps": entry.rate,
        "full_s": round(seconds, 1),
        "most_gbps": round(most, 1),
        "untested": entry.why,
    }


def made_by(hostvars: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any] | None:
    """By which plan they sent, None where nobody consented."""
    return _hosts.plan_of(hostvars, names, _PLAN)
