# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are taken out of scheduling and which are given back, by a verify's verdicts and a site's limits; no I/O.

A node is taken out only where a verify says ``not_ready``; one of which nobody could tell stays as it is. What ibready
did to a node is remembered on it, and that alone is taken back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ....module_utils._ground.check import DEGRADED, NOT_READY, READY
from ....module_utils._ground.text import few, printable
from ..kubernetes import names
from .node import EFFECT, MARK, TAINT, ClusterError, Mark, Node

# Kinds of acts that a site may allow.
CORDON, TAINTS, BACK = "cordon", "taint", "back"
KINDS = (CORDON, TAINTS, BACK)
_GOOD = (READY, DEGRADED)
_SHOWN = 4


@dataclass(frozen=True)
class Host:
    """What a verify said of a host. ``node``: its name in Kubernetes. ``bad``: ids of the checks that failed; of those
    that all nodes share, none. ``simulated``: what of the host is no hardware, "" for nothing. ``seen``: ids of the
    checks that somebody could judge."""

    name: str
    node: str
    verdict: str
    bad: tuple[str, ...] = ()
    simulated: str = ""
    seen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Limits:
    """What a site allows. ``most``: how many nodes of the cluster may take no pods at once, whoever saw to that."""

    allow: Collection[str] = ()
    most: int = 1


@dataclass(frozen=True)
class Step:
    """One act. ``does``: it in words. ``patch``: a merge patch of the node, good for what was seen of it alone."""

    host: str
    node: str
    back: bool
    does: str
    why: str
    patch: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As a module answers it."""
        return {key: value for key, value in asdict(self).items() if key != "patch"}


@dataclass(frozen=True)
class Held:
    """One host whose node is left as it is though something speaks for a change, and why."""

    host: str
    node: str
    why: str
    next: str


@dataclass(frozen=True)
class Plan:
    """``out``: how many nodes took no pods before; ``known``: and how many there are."""

    steps: Sequence[Step] = ()
    held: Sequence[Held] = ()
    out: int = 0
    known: int = 0


def plan(hosts: Iterable[Host], nodes: Mapping[str, Node], limits: Limits, at: str) -> Plan:
    """What is done now. Who is given back makes no room for another: the next run sees whether it was. ClusterError
    where the cluster is not that of these hosts."""
    listed = sorted(hosts, key=lambda one: one.name)
    if listed and not any(host.node in nodes for host in listed):
        raise ClusterError(
            f"none of {few([host.node for host in listed], _SHOWN)} is among the cluster's {len(nodes)} nodes "
            f"({few(sorted(nodes), _SHOWN)}). Next: set cordon_context to the cluster of these hosts, or "
            "kubernetes_rdma_node"
        )
    found = [(host, judged(host, nodes.get(host.node), limits, at)) for host in listed]
    out = sum(node.out for node in nodes.values())
    taken: list[str] = []
    steps: list[Step] = []
    held: list[Held] = []
    for host, entry in found:
        if isinstance(entry, Held):
            held.append(entry)
        elif isinstance(entry, Step):
            # Who takes no pods already costs the budget nothing more.
            costs = not entry.back and not nodes[host.node].out
            if costs and out + len(taken) >= limits.most:
                held.append(Held(host.name, host.node, _no_room(out, taken, limits.most), _MAKE_ROOM))
                continue
            taken += [host.node] if costs else []
            steps.append(entry)
    return Plan(steps, held, out, len(nodes))


_MAKE_ROOM = (
    "fix the nodes that are out and run this again, or raise cordon_most; where many nodes fail at once, look for one "
    "cause first (playbooks/diagnose.yml)"
)


_BY_HAND = "give it back by hand where that is right: uncordon it, and remove taint and annotation"


def _no_room(out: int, taken: Sequence[str], most: int) -> str:
    first = f", {few(taken, _SHOWN)} first" if taken else ""
    return f"{out} of the cluster's nodes take no pods{first}, and cordon_most is {most}"


def judged(host: Host, node: Node | None, limits: Limits, at: str) -> Step | Held | None:
    """What is due for one host, whatever the budget; None where its node is as it should be."""
    if host.simulated:
        why = f"what it told is simulated ({host.simulated}), and no word on a node of a cluster"
        return Held(host.name, host.node, why, "leave it out with --limit")
    if host.verdict in _GOOD:
        return _back(host, node, limits)
    if host.verdict != NOT_READY:
        return Held(host.name, host.node, f"its verdict is {host.verdict}: nobody could tell", "fix what hides it")
    if not host.bad:
        why = "only what all nodes share keeps it from being ready (cordon_never)"
        return Held(host.name, host.node, why, "fix that; one node less would not help")
    if node is None:
        why = f"the cluster has no node {host.node}"
        return Held(host.name, host.node, why, "set kubernetes_rdma_node, or name the cluster's own cordon_context")
    return _out(host, node, limits, at)


def _out(host: Host, node: Node, limits: Limits, at: str) -> Step | Held | None:
    if node.strange:
        return _strange(host)
    if node.mark is not None:
        missing = [what for what, gone in (("cordon", _uncordoned(node)), ("taint", _untainted(node))) if gone]
        if not missing:
            return None
        why = f"somebody took back the {' and the '.join(missing)} that ibready set at {printable(node.mark.at)}"
        forget = f"`kubectl annotate node {host.node} {MARK}-` has it forget that"
        return Held(host.name, host.node, why, f"leave it so, or {forget}")
    if node.unschedulable:
        # Whoever cordoned it, jobs stay away from it and it is theirs to give back.
        return None
    # Not in the order of the site's list.
    wanted = [kind for kind in (CORDON, TAINTS) if kind in limits.allow]
    if not wanted:
        why = f"{_checks(host)}, and neither {CORDON} nor {TAINTS} is allowed"
        return Held(host.name, host.node, why, "add cordon, taint or both to cordon_allow")
    mark = Mark(CORDON in wanted, TAINTS in wanted, at, host.bad)
    spec: dict[str, Any] = {}
    if mark.cordoned:
        spec["unschedulable"] = True
    if mark.tainted:
        taint = {"key": TAINT, "value": names.value(host.bad[0]), "effect": EFFECT}
        spec["taints"] = [*_others(node), taint]
    does = " and ".join({CORDON: "cordon", TAINTS: f"taint {TAINT}:{EFFECT}"}[kind] for kind in wanted)
    return Step(host.name, host.node, False, does, _checks(host), _patch(node, mark.text(), spec))


def _back(host: Host, node: Node | None, limits: Limits) -> Step | Held | None:
    if node is None or not (node.mark or node.strange):
        return None
    if node.strange:
        return _strange(host)
    unseen = [printable(entry) for entry in node.mark.checks if entry not in host.seen] if node.mark else []
    if unseen:
        why = f"it is {host.verdict}, but {few(unseen, _SHOWN)}, for which it was taken out, was not looked at"
        return Held(host.name, host.node, why, f"run this over all hosts, or {_BY_HAND}")
    cordoned = node.mark is not None and node.mark.cordoned and node.unschedulable
    parts = [*(["uncordon"] if cordoned else []), *([f"take {TAINT} back"] if node.tainted else [])]
    does = " and ".join(parts) or "forget what somebody else took back"
    if BACK not in limits.allow:
        why = f"it is {host.verdict} again, and {BACK} is not allowed"
        return Held(host.name, host.node, why, f"add {BACK} to cordon_allow")
    spec: dict[str, Any] = {"unschedulable": None} if cordoned else {}
    if node.tainted:
        spec["taints"] = _others(node) or None
    return Step(host.name, host.node, True, does, f"its verdict is {host.verdict}", _patch(node, None, spec))


def _strange(host: Host) -> Held:
    why = f"its annotation {MARK} is missing or not as ibready wrote it, so nobody knows what is ours"
    return Held(host.name, host.node, why, _BY_HAND)


def _uncordoned(node: Node) -> bool:
    return node.mark is not None and node.mark.cordoned and not node.unschedulable


def _untainted(node: Node) -> bool:
    return node.mark is not None and node.mark.tainted and not node.tainted


def _others(node: Node) -> list[dict[str, Any]]:
    """The taints that are not ours, as they are: a patch replaces the whole list."""
    return [dict(taint) for taint in node.taints if taint["key"] != TAINT]


def _patch(node: Node, mark: str | None, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch, which the server refuses where the node was changed since."""
    metadata = {"resourceVersion": node.version, "annotations": {MARK: mark}}
    return {"metadata": metadata, **({"spec": dict(spec)} if spec else {})}


def _checks(host: Host) -> str:
    return few(list(host.bad), _SHOWN)


def holds(step: Step, node: Node) -> bool:
    """Whether a node is as the act was to leave it: something between may have changed the patch."""
    spec = step.patch.get("spec", {})
    if step.back:
        return node.mark is None and not node.tainted and not ("unschedulable" in spec and node.unschedulable)
    wanted = ("unschedulable" not in spec or node.unschedulable) and ("taints" not in spec or node.tainted)
    return node.mark is not None and wanted
