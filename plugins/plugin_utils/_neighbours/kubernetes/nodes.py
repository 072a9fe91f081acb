# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts as nodes of a cluster, read from what they and the plan told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....module_utils._areas.machine.facts import NVIDIA
from ....module_utils._areas.stack.contact_facts import NodeReported
from ....module_utils._nccl import derive_rails
from ....module_utils._nccl.derived import Setting
from ....module_utils._nccl.host import NcclPort
from ..._answers import apart
from ..._answers.typed import read as answer
from ..._fleet import nccl_plan
from ..._plan.matrix.model import Matrix
from ..._plan.resolve.platform import Platform, platform
from ..._site.expected import IMEX
from . import names
from .names import KubernetesError

# What tasks/look.yml of the role registers.
TOLD, NAME = "__kubernetes_rdma_host", "__kubernetes_rdma_name"


@dataclass(frozen=True)
class Hca:
    """One RDMA port. ``layer``: InfiniBand or Ethernet. ``vendor``, ``device``: PCI ids, "" where
    nobody told. ``netdev``: its network interface, "" where none is known. ``gbps``: its rate.
    ``why``: why it is no rail, "" where it is one."""

    name: str
    address: str
    layer: str
    vendor: str = ""
    device: str = ""
    netdev: str = ""
    gbps: float = 0.0
    why: str = ""


@dataclass(frozen=True)
class Node:
    """``name``: in Kubernetes. ``group``: the class of the plan. ``installed``: what is on the host
    now, None where nobody could look. ``others``: ports that are no rails. ``nccl``: the lines of
    its nccl.conf. ``domain``: its NVLink domain, "" where it told none. ``imex``: who brings IMEX
    (nvidia_driver_imex)."""

    host: str
    name: str
    group: str
    digest: str
    stack: Mapping[str, Mapping[str, str]]
    platform: Platform
    installed: Mapping[str, str] | None = None
    rails: tuple[Hca, ...] = ()
    others: tuple[Hca, ...] = ()
    gpus: int = 0
    nccl: tuple[Setting, ...] = ()
    simulated: str = ""
    domain: str = ""
    imex: str = ""


@dataclass(frozen=True)
class Reported:
    """``absent``: hosts that told nothing, or what cannot be used (``refused``, by host). ``idle``:
    those without a rail, which no manifest is about. ``remarks``: what stops nothing."""

    nodes: tuple[Node, ...] = ()
    absent: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())
    refused: Mapping[str, str] = field(default_factory=dict)


def read(hosts: Sequence[str], hostvars: Mapping[str, Any], matrix: Matrix) -> Reported:
    """The nodes of these hosts, in the order of their names; raises KubernetesError."""
    seen = {host: _seen(hostvars, host) for host in sorted(set(hosts))}
    there = {host: entry for host, entry in seen.items() if entry is not None}
    reported, refused = apart.each(there, lambda host: _told(there[host], matrix))
    there = {host: there[host] for host in reported}
    lines = nccl_plan.plan(reported, reported, [host for host in seen if host not in there])
    nodes, idle, remarks = [], [], []
    for host, entry in there.items():
        rails = derive_rails.rails(reported[host].host, reported[host].wish.policy)
        if not rails.ports and not rails.why:
            idle.append(host)
            continue
        if not rails.ports:
            raise KubernetesError(
                f"{host}: its rails cannot be told: {rails.why}. Next: name them in nccl_rails, "
                "or leave the host out with --limit"
            )
        remarks += [f"{host}: {text}" for text in rails.remarks]
        remarks += [f"{host}: {entry.name} may be needed and is unknown: {entry.why}" for entry in lines[host].untold]
        nodes.append(_node(host, entry, reported[host], rails.ports, lines[host].settings, matrix))
    _refuse_twins(nodes)
    if idle:
        remarks.append(f"no manifest is about {names.shown(idle)}: no RDMA rail there")
    absent = tuple(host for host in seen if host not in there)
    return Reported(tuple(nodes), absent, tuple(idle), tuple(remarks), refused)


def _seen(hostvars: Mapping[str, Any], host: str) -> Mapping[str, Any] | None:
    """The variables of a host that told everything."""
    if host not in hostvars:
        return None
    mine = hostvars[host]
    reported, node = mine.get(TOLD), (mine.get("ibready_node") or {}).get("node")
    if not isinstance(reported, Mapping) or "nccl_host" not in reported or not node:
        return None
    return {entry: mine[entry] for entry in (TOLD, NAME, IMEX, "ibready_node", "ibready_plan") if entry in mine}


def _told(seen: Mapping[str, Any], matrix: Matrix) -> nccl_plan.Reported:
    """What its modules told; raises where that cannot be used."""
    platform(answer(NodeReported, seen["ibready_node"]["node"], "node"), matrix)
    if not seen.get(NAME) and _own_name(seen):
        try:
            names.subdomain(_own_name(seen), "the name of its node (kubernetes_rdma_node)")
        except KubernetesError as exc:
            raise apart.Absent(str(exc)) from exc
    return nccl_plan.told(seen[TOLD])


def _own_name(seen: Mapping[str, Any]) -> str:
    return str(seen["ibready_node"]["node"].get("hostname") or "").lower()


def _node(
    host: str,
    seen: Mapping[str, Any],
    told: nccl_plan.Reported,
    rails: Iterable[NcclPort],
    lines: tuple[Setting, ...],
    matrix: Matrix,
) -> Node:
    facts = seen["ibready_node"]["node"]
    plan = seen.get("ibready_plan")
    if not isinstance(plan, Mapping):
        raise KubernetesError(f"{host} has no plan. Next: `ansible-playbook playbooks/plan.yml` says why")
    ids = {hca.get("address", ""): hca for hca in facts.get("hcas") or ()}
    mine = tuple(_hca(rail, ids) for rail in rails)
    ports = told.host.ports.value or ()
    names_of_rails = {entry.name for entry in mine}
    said = str(seen.get(NAME) or "")
    name = said or _own_name(seen) or host.lower()
    return Node(
        host=host,
        name=names.subdomain(name, f"{host}: the name of its node (kubernetes_rdma_node)"),
        group=str(plan["class"]),
        digest=str(plan["digest"]),
        stack={part: dict(entry) for part, entry in plan["stack"].items()},
        platform=platform(facts, matrix),
        installed=dict(facts["installed"]) if facts.get("installed") else None,
        rails=mine,
        others=tuple(
            replace(_hca(port, ids), why=port.apart.why if port.apart else "")
            for port in ports
            if port.name not in names_of_rails
        ),
        gpus=sum(1 for gpu in facts.get("gpus") or () if gpu.get("vendor") == NVIDIA),
        nccl=lines,
        simulated=str(facts.get("simulated") or told.host.simulated),
        domain=str(facts.get("nvlink_domain") or ""),
        imex=str(seen.get(IMEX) or ""),
    )


def _hca(port: NcclPort, ids: Mapping[str, Mapping[str, Any]]) -> Hca:
    function = ids.get(port.address, {})
    return Hca(
        name=port.name,
        address=port.address,
        layer=port.layer,
        vendor=str(function.get("vendor") or ""),
        device=str(function.get("device") or ""),
        netdev=port.netdev,
        gbps=port.rate or 0.0,
    )


def _refuse_twins(nodes: Iterable[Node]) -> None:
    by_name: dict[str, str] = {}
    for node in nodes:
        if node.name in by_name:
            raise KubernetesError(
                f"{by_name[node.name]} and {node.host} would both be the node {node.name}. "
                "Next: set kubernetes_rdma_node on each"
            )
        by_name[node.name] = node.host
