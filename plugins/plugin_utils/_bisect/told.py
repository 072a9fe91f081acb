# SPDX-License-Identifier: GPL-3.0-or-later
"""What a live search came to, as text, as an object, and as what is wrong with each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._ground.text import few
from .._fleet.bench.reported import Reported
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
    names = {host.name for host in hosts}
    wrong: dict[str, list[str]] = {}
    for verdict in told.verdicts:
        if verdict.verdict == ACQUITTED:
            continue
        own = verdict.part.partition(" ")[0]
        doors = [own] if own in names else [proof.source.partition(" ")[0] for proof in verdict.against]
        for host in dict.fromkeys(doors):
            wrong.setdefault(host, []).append(f"{verdict.verdict}: {verdict.kind} {verdict.part}: {verdict.why}")
    for host, why in _unmeasured(found, hosts).items():
        wrong.setdefault(host, []).append(f"{CANNOT_TELL}: {why}")
    if not told.flows:
        why = found.lost[0].why if found.lost else "no two ports reach each other"
        wrong = {name: [*wrong.get(name, ()), f"{NOTHING}: {why}"] for name in names}
    wrong.update({host.name: [host.absent] for host in hosts if host.absent})
    return {name: few(list(dict.fromkeys(said)), _FEW) for name, said in wrong.items() if name in names}


def _unmeasured(found: Search, hosts: Sequence[Reported]) -> dict[str, str]:
    """By host the rails over which no flow was measured, each with the reason; a host without any, too."""
    ports = found.engine.net.ports
    used = {ports[number].named for seen in found.engine.record.seen for number in (seen.source, seen.target)}
    reasons: dict[str, str] = {}
    for lost in found.lost:
        reasons.setdefault(lost.source, lost.why)
        reasons.setdefault(lost.target, lost.why)
    here = {port.named for port in ports}
    told: dict[str, str] = {}
    for host in hosts:
        if host.absent:
            continue
        quiet = []
        for name in sorted({*host.rates, *host.member.rails}):
            named = f"{host.name} {name}"
            if named not in used:
                left_out = "" if named in here else "its cable leads to no switch that was seen"
                why = host.down.get(name) or host.error or reasons.get(named) or left_out
                quiet.append(f"{name}{f' ({why})' if why else ''}")
        if quiet:
            told[host.name] = f"no flow was measured over {few(quiet, _FEW)}"
        elif host.error:
            told[host.name] = f"it took no further part: {host.error}"
        elif not host.rates:
            told[host.name] = host.why or "it has no port that could be measured"
    return told


def render(found: Search, told: Told, hosts: Sequence[Reported], simulated: str) -> str:
    """For people: what is convicted and why, what nobody can tell, and what was measured."""
    engine, quiet = found.engine, _unmeasured(found, hosts)
    lines = [f"SIMULATED: {simulated}", ""] if simulated else []
    counted = f"{told.flows} flows between {len(engine.net.ports)} ports in {told.rounds} of {told.limit} rounds"
    lines.append(f"{counted}; a healthy flow reaches {100 * told.usual:.0f} % of what its port could")
    if found.blind:
        lines.append(f"The ways between the switches are not known ({found.blind}): what is between them stays untold")
    by: Mapping[str, list[Verdict]] = {
        word: [one for one in told.verdicts if one.verdict == word] for word in (CONVICTED, CANNOT_TELL, ACQUITTED)
    }
    if not told.flows:
        lines.append(NOTHING)
    elif not by[CONVICTED] and not by[CANNOT_TELL]:
        lines.append("No part that was measured is slow." if quiet else "No part is slow.")
    lines += [f"{CANNOT_TELL}: {host}: {said}" for host, said in quiet.items()]
    for word in (CONVICTED, CANNOT_TELL):
        for verdict in by[word][:_SHOWN]:
            lines += ["", f"{word}: {verdict.kind} {verdict.part}", f"  {verdict.why}", *_proofs(verdict)]
    lines += _rest(by[ACQUITTED], told, found.lost)
    return "\n".join(lines)


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
