# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the hosts told to the lines of each one's nccl.conf, with all of them compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils._areas.nccl.check_derived import DERIVED, judge
from ...module_utils._areas.nccl.facts import NcclReported
from ...module_utils._expect.nccl import Desired
from ...module_utils._ground.check import Check
from ...module_utils._ground.reading import Reading
from ...module_utils._nccl.derive import derive, is_idle
from ...module_utils._nccl.derive_roce import SHARED
from ...module_utils._nccl.derived import Derived
from ...module_utils._nccl.fleet import FleetView, fleet_view
from ...module_utils._nccl.host import NcclHost
from .._answers import apart, shapes
from .._answers.typed import AnswerError, read

# Where the playbooks register what nccl_host told.
FACT = "__nccl_host"


@dataclass(frozen=True)
class Reported:
    """What one host told: the module nccl_host's result."""

    host: NcclHost
    wish: Desired


def told(result: Any) -> Reported:
    """Read what nccl_host returned; raises where nothing can be derived of it."""
    found = read(shapes.Reported, result)
    return derivable(found["nccl_host"], found["wish"])


def derivable(host: NcclHost, wish: Desired) -> Reported:
    """The same of facts that were read; tried with this host alone, so that it costs no other."""
    entry = Reported(host, wish)
    plan({"": entry}, [""])
    return entry


def fleet(nodes: Mapping[str, Reported], absent: Iterable[str] = ()) -> FleetView:
    """What the nodes have in common; idle ones take no part."""
    busy = {name: node for name, node in nodes.items() if not is_idle(node.host)}
    return fleet_view({name: (entry.host, entry.wish.policy) for name, entry in busy.items()}, absent)


def plan(nodes: Mapping[str, Reported], names: Iterable[str], absent: Iterable[str] = ()) -> dict[str, Derived]:
    """The lines of these hosts, of all that told; ``absent``: those that did not."""
    view = fleet(nodes, absent)
    return {name: Derived() if is_idle(nodes[name].host) else _derive(nodes[name], view) for name in names}


def derived(
    hostvars: Mapping[str, Any], hosts: Sequence[str], compare: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """The lines of these hosts as the filter nccl_derive returns them, compared with others, and what to warn of."""
    every = dict.fromkeys([*hosts, *compare])
    said = {name: found for name in every if (found := _answer(hostvars, name)) is not None}
    nodes, refused = apart.each(said, lambda name: told(said[name]))
    absent = [name for name in every if name not in nodes]
    found = plan(nodes, [name for name in hosts if name in nodes], absent)
    # What a line is not written for, once for all hosts that it is the same for.
    same: dict[tuple[str, str], list[str]] = {}
    for name, entry in found.items():
        for lacking in entry.untold:
            same.setdefault((lacking.name, lacking.why), []).append(name)
    unsure = [f"{', '.join(names)}: {variable} is not written: {why}" for (variable, why), names in same.items()]
    unsure += [f"{name}: nothing is derived for it: {why}" for name, why in refused.items()]
    # Such a line is not taken back for some of the nodes.
    shared = SHARED if absent else ()
    return {"hosts": {name: _lines(entry, shared) for name, entry in found.items()}, "refused": refused}, unsure


def _answer(hostvars: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    result = hostvars[name].get(FACT) if name in hostvars else None
    return result if isinstance(result, Mapping) and "nccl_host" in result else None


def _lines(entry: Derived, shared: tuple[str, ...]) -> dict[str, Any]:
    return {
        **entry.to_dict(),
        "settings": [{"name": line.name, "value": line.value, "reason": line.reason} for line in entry.settings],
        "keep": sorted({*shared, *(lacking.name for lacking in entry.untold)}),
    }


def _derive(node: Reported, view: FleetView) -> Derived:
    return derive(node.host, node.wish.policy, view)


def judged(facts: Mapping[str, Mapping[str, Any]], checks: Mapping[str, Sequence[Check]]) -> dict[str, list[Check]]:
    """The checks of every host, by name, with those of SHARED as the fleet has them.

    ``facts``: of the area nccl, {} where there are none; such hosts keep what they told.
    """
    reported = {name: each for name, raw in facts.items() if (each := _told(raw)) is not None}
    view = fleet({name: node for name, (node, _settings) in reported.items()})
    found = {name: list(mine) for name, mine in checks.items()}
    for name in view.nodes:
        if not any(check.id == DERIVED for check in found.get(name, [])):
            continue
        node, settings = reported[name]
        anew = judge(node.host, node.wish, settings, view)
        kept = [check for check in found[name] if check.id != DERIVED or check.subject not in SHARED]
        found[name] = [*kept, *(check for check in anew if check.subject in SHARED)]
    return found


def _told(raw: Mapping[str, Any]) -> tuple[Reported, Reading[dict[str, str]]] | None:
    """None where the host told nothing of it, or nothing that can be read."""
    try:
        reported = read(NcclReported, raw)
    except AnswerError:
        return None
    if not {"host", "wish", "settings"} <= reported.keys():
        return None
    return Reported(reported["host"], reported["wish"]), reported["settings"]
