# SPDX-License-Identifier: GPL-3.0-or-later
"""What a live search came to, as text, as an object, and as what is wrong with each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._ground.text import few
from .._fleet.bench.reported import Reported
from .._ground.plain import plain
from .live import Lost, Search
from .verdict import ACQUITTED, CANNOT_TELL, CONVICTED, Proof, Told, Verdict

SCHEMA = "ibready/bisect/1"
_SHOWN = 20
_FEW = 4
NOTHING = "nothing was measured"


def as_dict(found: Search, told: Told, simulated: str) -> dict[str, Any]:
    """As docs/slow.md has it."""
    engine = found.engine
    return {
        "schema": SCHEMA,
        "simulated": simulated,
        "ports": len(engine.net.ports),
        "ways": found.blind or "by the fabric",
        **told.to_dict(),
        "unmeasured": [lost.__dict__ for lost in found.lost],
    }


def bad(found: Search, told: Told, hosts: Sequence[Reported]) -> dict[str, str]:
    """By host: which part is convicted, or cannot be told, and what nobody measured; nothing where all is well.

    A part that is no host's is laid at the doors of those whose flows were slow over it.
    """
    names = [host.name for host in hosts]
    wrong: dict[str, list[str]] = {}
    for verdict in told.verdicts:
        if verdict.verdict != ACQUITTED:
            for host in _doors(found, verdict, names):
                wrong.setdefault(host, []).append(f"{verdict.verdict}: {verdict.kind} {verdict.part}: {verdict.why}")
    for host, why in _unmeasured(found, told, hosts).items():
        wrong.setdefault(host, []).append(f"{CANNOT_TELL}: {why}")
    for slower in found.slower:
        for host in [slower.host] if slower.host else names:
            wrong.setdefault(host, []).append(f"{CANNOT_TELL}: {slower}")
    for why in _of_all(found, told):
        for host in names:
            wrong.setdefault(host, []).append(f"{CANNOT_TELL}: {why}")
    wrong.update({host.name: [host.absent] for host in hosts if host.absent})
    return {name: plain(few(list(dict.fromkeys(wrong[name])), _FEW)) for name in names if name in wrong}


def _doors(found: Search, verdict: Verdict, names: Sequence[str]) -> list[str]:
    own = verdict.part.partition(" ")[0]
    if own in names:
        return [own]
    engine = found.engine
    part = next(part for part in engine.parts.all if part.name == verdict.part)
    slow = {at for at, _likely in engine.record.of(part.links)} & set(engine.record.slow)
    return sorted({engine.net.ports[engine.record.seen[at].source].host for at in slow}) or list(names)


def _of_all(found: Search, told: Told) -> list[str]:
    """What keeps the whole search from an answer."""
    if not told.flows:
        return [f"{NOTHING}: {found.lost[0].why if found.lost else 'no two ports reach each other'}"]
    why = []
    if found.asked is not None:
        why.append(f"the search ended after {told.rounds} rounds, before it was done")
    if found.engine.record.low:
        why.append(
            f"the fastest flows reach {100 * told.usual:.0f} % of the line rate: all are slow alike, or that is usual "
            "here (bench_bisect_gbps says so)"
        )
    return why


def _unmeasured(found: Search, told: Told, hosts: Sequence[Reported]) -> dict[str, str]:
    """By host the rails that no flow was measured from, or to, each with the reason; a host without any, too."""
    ports = found.engine.net.ports
    sent = {ports[seen.source].named for seen in found.engine.record.seen}
    got = {ports[seen.target].named for seen in found.engine.record.seen}
    reasons: dict[tuple[str, str], str] = {}
    for lost in found.lost:
        reasons.setdefault((lost.source, "from"), lost.why)
        reasons.setdefault((lost.target, "to"), lost.why)
    here = {port.named for port in ports}
    # A search that convicts ends before every link was used both ways.
    ended = any(verdict.verdict == CONVICTED for verdict in told.verdicts)
    by_host: dict[str, str] = {}
    for host in hosts:
        if host.absent:
            continue
        quiet = []
        for name in sorted({*host.rates, *host.member.rails}):
            named = f"{host.name} {name}"
            ways = [way for way, seen in (("from", sent), ("to", got)) if named not in seen]
            if len(ways) == 1 and ended and (named, ways[0]) not in reasons:
                continue
            if ways:
                told_why = next((reasons[named, way] for way in ways if (named, way) in reasons), "")
                left_out = "" if named in here else "its cable leads to no switch that was seen"
                why = host.down.get(name) or host.error or told_why or left_out
                quiet.append(f"{' or '.join(ways)} {name}{f' ({why})' if why else ''}")
        if quiet:
            by_host[host.name] = f"no flow was measured {few(quiet, _FEW)}"
        elif host.error:
            by_host[host.name] = f"it took no further part: {host.error}"
        elif not host.rates:
            by_host[host.name] = host.why or "it has no port that could be measured"
    return by_host


def render(found: Search, told: Told, hosts: Sequence[Reported], simulated: str) -> str:
    """For people: what is convicted and why, what nobody can tell, and what was measured."""
    lines = [f"SIMULATED: {simulated}", ""] if simulated else []
    counted = f"{told.flows} flows between {len(found.engine.net.ports)} ports in {told.rounds} of {told.limit} rounds"
    lines.append(f"{counted}; a healthy flow reaches {100 * told.usual:.0f} % of what its port could")
    if found.blind:
        lines.append(f"The ways between the switches are not known ({found.blind}): what is between them stays untold")
    shown: Mapping[str, list[Verdict]] = {
        word: [one for one in told.verdicts if one.verdict == word] for word in (CONVICTED, CANNOT_TELL, ACQUITTED)
    }
    if not bad(found, told, hosts):
        judged = "No host and no port is slow." if found.blind else "No part is slow."
        lines.append("No part that was measured is slow." if told.unused else judged)
    for word in (CONVICTED, CANNOT_TELL):
        for verdict in shown[word][:_SHOWN]:
            lines += ["", f"{word}: {verdict.kind} {verdict.part}", f"  {verdict.why}", *_proofs(verdict)]
        if len(shown[word]) > _SHOWN:
            lines += ["", f"{word}: {len(shown[word]) - _SHOWN} more parts, in the report"]
    rest = [*_of_all(found, told), *map(str, found.slower)]
    rest += [f"{host.name}: {host.absent}" for host in hosts if host.absent]
    rest += [f"{host}: {why}" for host, why in _unmeasured(found, told, hosts).items()]
    lines += ["", *(f"{CANNOT_TELL}: {why}" for why in rest)] if rest else []
    lines += _rest(shown[ACQUITTED], told, found.lost)
    return "\n".join(map(plain, lines))


def _proofs(verdict: Verdict) -> list[str]:
    lines = [f"  slow   {proof}" for proof in verdict.against]
    lines += [f"  fast   {_by(proof)}" for proof in verdict.others[:_FEW]]
    return lines


def _by(proof: Proof) -> str:
    return f"{proof}, which clears {proof.part}"


def _rest(acquitted: Sequence[Verdict], told: Told, lost: Sequence[Lost]) -> list[str]:
    lines = [""]
    if acquitted:
        lines.append(f"acquitted: {few([one.part for one in acquitted], _FEW)}")
    lines.append(f"never slow: {told.clear} parts")
    if told.unused:
        lines.append(f"no flow went over: {few(list(told.unused), _FEW)}")
    reasons: dict[str, int] = {}
    for one in lost:
        reasons[one.why] = reasons.get(one.why, 0) + 1
    lines += [f"{count} flows not measured: {why}" for why, count in list(reasons.items())[:_FEW]]
    return lines
