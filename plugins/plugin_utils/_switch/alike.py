# SPDX-License-Identifier: GPL-3.0-or-later
"""The odd switch out: what each does with RoCE, held against the others that run the same; no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from ...module_utils._ground.equals import compare
from .hop import Hop
from .port import shown

_ALIKE = "roce.switch.alike"


def _does(hop: Hop) -> dict[str, str]:
    """What of a port is compared between switches, in words; "" for what it does not tell."""
    port, found = hop.port, hop.roce_class()
    unmarked = not hop.mark.value or found is None
    return {
        "flow control": "" if port.pfc.value is None else f"for {shown(port.pfc.value)}",
        "trust": "" if port.trust.value is None else shown(port.trust.value),
        "the class of RoCE": "" if found is None else f"DSCP {hop.dscp} in priority {found.priority}",
        "ECN": "" if unmarked or found is None or port.ecn.value is None else str(found.queue in port.ecn.value),
        "MTU": "" if port.mtu.value is None else str(port.mtu.value),
    }


def judge(hops: Sequence[Hop]) -> Callable[[Hop], Check]:
    """The odd switch out, by what most ports of each do that hosts hang on."""
    told: dict[str, dict[str, Counter[str]]] = {}
    for hop in hops:
        for what, value in _does(hop).items():
            told.setdefault(what, {}).setdefault(hop.switch.name, Counter())[value] += 1
    runs = {hop.switch.name: hop.switch.runs for hop in hops}
    found = {
        what: compare({name: counted.most_common(1)[0][0] for name, counted in values.items()}, runs)
        for what, values in told.items()
    }

    def one(hop: Hop) -> Check:
        name = hop.switch.name
        kind = [other for other, what in runs.items() if what == hop.switch.runs]
        if len(kind) == 1:
            return skipped(
                _ALIKE, hop.rail.name, f"no other switch that runs {hop.switch.runs} has a host of the fleet"
            )
        odd = {what: result.odd[name] for what, result in found.items() if name in result.odd}
        if odd:
            observed = "; ".join(f"{name}: {what} {entry.value}" for what, entry in odd.items())
            expected = "; ".join(f"{what} {entry.usual}" for what, entry in odd.items())
            return failed(_ALIKE, hop.rail.name, observed, expected, next(iter(odd.values())).source)
        split = [
            f"{what}: {why}"
            for what, result in found.items()
            for other, why in {**result.split, **result.pairs}.items()
            if other in kind
        ]
        if split:
            return unknown(_ALIKE, hop.rail.name, "; ".join(split))
        return passed(
            _ALIKE, hop.rail.name, name, f"as {len(kind) - 1} other switches", f"equals {len(kind)}/{len(kind)}"
        )

    return one
