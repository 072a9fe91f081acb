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
from .._answers import shapes
from .._answers.typed import AnswerError, read


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
