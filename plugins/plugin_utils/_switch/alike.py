# SPDX-License-Identifier: GPL-3.0-or-later
"""The odd switch out: what each does with RoCE, held against the others that run the same; no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from ...module_utils._ground.equals import Compared, compare
from .hop import Hop
from .port import shown

_ALIKE = "roce.switch.alike"


def _does(hop: Hop) -> dict[str, str]:
    """What of a port is compared between switches, in words; "" for what it does not tell."""
    port = hop.port
    does = {
        "flow control": "" if port.pfc.value is None else f"for {shown(port.pfc.value)}",
        "trust": "" if port.trust.value is None else shown(port.trust.value),
        "MTU": "" if port.mtu.value is None else str(port.mtu.value),
    }
    if hop.mark.value:
        found, ecn = hop.roce_class(), port.ecn.value
        priority = "none" if found is None or found.priority is None else found.priority
        queue = None if found is None else found.queue
        does[f"DSCP {hop.dscp}"] = "" if port.classes.value is None else f"in priority {priority}"
        does[f"ECN for DSCP {hop.dscp}"] = "" if queue is None or ecn is None else "on" if queue in ecn else "off"
    return does


def judge(hops: Sequence[Hop]) -> list[Check]:
    """The check of each hop, by what most ports of its switch do that hosts hang on."""
    runs = {hop.switch.name: hop.switch.runs for hop in hops}
    counted: dict[str, dict[str, Counter[str]]] = {}
    for hop in hops:
        for what, value in _does(hop).items():
            mine = counted.setdefault(what, {}).setdefault(hop.switch.name, Counter())
            mine.update([value] if value else [])
    told = {
        what: {name: mine.most_common(1)[0][0] if mine else "" for name, mine in switches.items()}
        for what, switches in counted.items()
    }
    compared = {what: compare(values, runs) for what, values in told.items()}
    checks = {name: _of_switch(name, runs, told, compared) for name in runs}
    return [replace(checks[hop.switch.name], subject=hop.rail.name) for hop in hops]


def _of_switch(
    name: str, runs: Mapping[str, str], told: Mapping[str, Mapping[str, str]], compared: Mapping[str, Compared[str]]
) -> Check:
    others = [other for other, what in runs.items() if what == runs[name] and other != name]
    if not others:
        return skipped(_ALIKE, "", f"no other switch that runs {runs[name]} has a host of the fleet")
    mine = {what: result for what, result in compared.items() if name in told[what]}
    odd = {what: result.odd[name] for what, result in mine.items() if name in result.odd}
    if odd:
        observed = f"{name}: " + "; ".join(f"{what} {entry.value}" for what, entry in odd.items())
        expected = "; ".join(f"{what} {entry.usual}" for what, entry in odd.items())
        return failed(_ALIKE, "", observed, expected, next(iter(odd.values())).source)
    lost = [
        f"{what}: {why}"
        for what, result in mine.items()
        for other, why in {**result.split, **result.pairs}.items()
        if other in (name, *others)
    ]
    for what in mine:
        theirs = [told[what][other] for other in others if other in told[what]]
        if not told[what][name]:
            lost.append(f"the texts of {name} do not tell: {what}")
        elif theirs and not any(theirs):
            lost.append(f"the texts of no other switch tell: {what}")
    if lost:
        return unknown(_ALIKE, "", "; ".join(lost))
    many = f"{len(others)} other switch{'es' if len(others) > 1 else ''}"
    return passed(_ALIKE, "", name, f"as {many}", f"equals {len(others) + 1}/{len(others) + 1}")
