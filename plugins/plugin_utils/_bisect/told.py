# SPDX-License-Identifier: GPL-3.0-or-later
"""What a live search came to, as text, as an object, and as what is wrong with each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._ground.text import few
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


def bad(found: Search, told: Told, names: Sequence[str]) -> dict[str, str]:
    """By host: what part that its flows were slow over is convicted, or cannot be told; nothing where all is well."""
    if not told.flows:
        why = f"{NOTHING}: {found.lost[0].why}" if found.lost else f"{NOTHING}: no two ports reach each other"
        return dict.fromkeys(names, why)
    wrong: dict[str, list[str]] = {}
    for verdict in told.verdicts:
        if verdict.verdict == ACQUITTED:
            continue
        for host in dict.fromkeys(proof.source.partition(" ")[0] for proof in verdict.against):
            wrong.setdefault(host, []).append(f"{verdict.verdict}: {verdict.kind} {verdict.part}: {verdict.why}")
        own = verdict.part.partition(" ")[0]
        if own in names and own not in wrong:
            wrong[own] = [f"{verdict.verdict}: {verdict.kind} {verdict.part}: {verdict.why}"]
    for host, said in _unmeasured(found, names).items():
        wrong.setdefault(host, []).append(f"{CANNOT_TELL}: {said}")
    return {name: few(list(dict.fromkeys(said)), _FEW) for name, said in wrong.items() if name in names}


def _unmeasured(found: Search, names: Sequence[str]) -> dict[str, str]:
    """By host the ports over which no flow was measured, with the first reason; a host without any port, too."""
    ports = found.engine.net.ports
    used = {number for seen in found.engine.record.seen for number in (seen.source, seen.target)}
    why: dict[str, str] = {}
    for lost in found.lost:
        why.setdefault(lost.source, lost.why)
        why.setdefault(lost.target, lost.why)
    quiet: dict[str, list[str]] = {}
    for number, port in enumerate(ports):
        if number not in used:
            reason = why.get(port.named)
            quiet.setdefault(port.host, []).append(f"{port.name}{f' ({reason})' if reason else ''}")
    told = {host: f"no flow was measured over {few(mine, _FEW)}" for host, mine in quiet.items()}
    here = {port.host for port in ports}
    return {**told, **{name: "it has no port that could be measured" for name in names if name not in here}}


def render(found: Search, told: Told, simulated: str) -> str:
    """For people: what is convicted and why, what nobody can tell, and what was measured."""
    engine = found.engine
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
        quiet = _unmeasured(found, ())
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
