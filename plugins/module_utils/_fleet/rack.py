# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the hosts of a rack together: one IMEX domain is one NVLink domain, with one list; no I/O.

source: NVIDIA's IMEX guide (deployment models): every instance has to have the addresses of all nodes,
and refuses those that have others. The order of a file's lines is not held against it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Mapping, Sequence

from .._expect.expectations import CAPABILITY
from .._ground.check import Check, failed, passed, skipped

NODES, DOMAIN = "fleet.imex.nodes", "fleet.imex.domain"
_SHOWN = 4


@dataclass(frozen=True)
class Tray:
    """A host of a rack. ``domains``: what its GPUs tell, one where all is well; ``nodes``: the
    addresses that its IMEX has, None where nobody could look."""

    domains: tuple[str, ...]
    nodes: tuple[str, ...] | None = None

    @property
    def domain(self) -> str:
        """Empty where the GPUs do not tell of just one."""
        return self.domains[0] if len(self.domains) == 1 else ""


def judge(trays: Mapping[str, Tray]) -> dict[str, list[Check]]:
    """Both checks of every host of a rack."""
    checks: dict[str, list[Check]] = {name: [] for name in trays}
    domains: dict[str, list[str]] = {}
    for name, tray in trays.items():
        if not tray.domain:
            checks[name].append(skipped(NODES, "host", "fix nvlink.fabric.clique first"))
            checks[name].append(skipped(DOMAIN, "host", "fix nvlink.fabric.clique first"))
        else:
            domains.setdefault(tray.domain, []).append(name)
    for members in domains.values():
        _lists({name: trays[name] for name in members}, checks)
    _spread({name: tray for name, tray in trays.items() if tray.domain}, checks)
    return checks


def _lists(trays: Mapping[str, Tray], checks: dict[str, list[Check]]) -> None:
    """One list on all hosts of an NVLink domain, and none of them left out."""
    told = {name: frozenset(tray.nodes) for name, tray in trays.items() if tray.nodes}
    usual, times = Counter(told.values()).most_common(1)[0] if told else (frozenset(), 0)
    for name in trays:
        mine = told.get(name)
        if mine is None:
            checks[name].append(skipped(NODES, "host", "nvlink.imex.nodes tells of its list"))
        elif mine != usual or (times < len(told) and 2 * times <= len(told)):
            checks[name].append(_differs(name, mine, told))
        elif len(mine) < len(trays):
            observed = f"{len(mine)} nodes, and {len(trays)} hosts are in its NVLink domain"
            cause = "the list was made before hosts were added, or of a part of the rack"
            checks[name].append(failed(NODES, "host", observed, "every host of the domain", CAPABILITY, cause=cause))
        else:
            seen = f"{len(mine)} nodes, alike on {len(told)} hosts of its NVLink domain"
            checks[name].append(passed(NODES, "host", seen, "one list", CAPABILITY))


def _differs(name: str, mine: frozenset[str], told: Mapping[str, frozenset[str]]) -> Check:
    other, theirs = next((other, nodes) for other, nodes in told.items() if nodes != mine)
    unlike = [f"{node} only here" for node in sorted(mine - theirs)]
    unlike += [f"{node} only on {other}" for node in sorted(theirs - mine)]
    return failed(NODES, "host", f"{len(mine)} nodes; {_some(unlike)}", "one list", CAPABILITY)


def _spread(trays: Mapping[str, Tray], checks: dict[str, list[Check]]) -> None:
    """Hosts that have one list are of one NVLink domain."""
    lists: dict[frozenset[str], dict[str, list[str]]] = {}
    for name, tray in trays.items():
        if tray.nodes:
            lists.setdefault(frozenset(tray.nodes), {}).setdefault(tray.domain, []).append(name)
    for name, tray in trays.items():
        if not tray.nodes:
            checks[name].append(skipped(DOMAIN, "host", "nvlink.imex.nodes tells of its list"))
            continue
        found = lists[frozenset(tray.nodes)]
        most = max(found, key=lambda domain: len(found[domain]))
        alone = 2 * len(found[most]) <= sum(map(len, found.values()))
        if len(found) == 1:
            hosts = len(found[most])
            seen = f"{hosts} host{'' if hosts == 1 else 's'} of this list, all of {tray.domain}"
            checks[name].append(passed(DOMAIN, "host", seen, "one NVLink domain", CAPABILITY))
        elif tray.domain == most and not alone:
            checks[name].append(passed(DOMAIN, "host", tray.domain, "one NVLink domain", CAPABILITY))
        else:
            others = _some([f"{domain} on {_some(names)}" for domain, names in found.items() if domain != tray.domain])
            observed = f"{tray.domain} here, {others}, by one list of nodes"
            checks[name].append(failed(DOMAIN, "host", observed, "one NVLink domain", CAPABILITY))


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
