# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts as nodes of a cluster, read from what they and the plan told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import NVIDIA
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import derive_rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclPort
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting
from ansible_collections.ibready.cluster.plugins.plugin_utils import _nccl_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes import names
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.names import (
    KubernetesError,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.platform import (
    Platform,
    platform,
)

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
    its nccl.conf."""

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


@dataclass(frozen=True)
class Told:
    """``absent``: hosts that told nothing. ``idle``: those without a rail, which no manifest is
    about. ``remarks``: what stops nothing."""

    nodes: tuple[Node, ...] = ()
    absent: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())


def read(hosts: Sequence[str], hostvars: Mapping[str, Any], matrix: Matrix) -> Told:
    """The nodes of these hosts, in the order of their names; raises KubernetesError."""
    seen = {host: _seen(hostvars, host) for host in sorted(set(hosts))}
    there = {host: one for host, one in seen.items() if one is not None}
    try:
        told = {
            host: _nccl_plan.told(host, one[TOLD]["nccl_host"], one[TOLD].get("wish"))
            for host, one in there.items()
        }
    except _nccl_plan.ToldError as exc:
        raise KubernetesError(str(exc)) from exc
    lines = _nccl_plan.plan(told, told, [host for host in seen if host not in there])
    nodes, idle, remarks = [], [], []
    for host, one in there.items():
        rails = derive_rails.rails(told[host].host, told[host].wish.policy)
        if not rails.ports and not rails.why:
            idle.append(host)
            continue
        if not rails.ports:
            raise KubernetesError(
                f"{host}: its rails cannot be told: {rails.why}. Next: name them in nccl_rails, "
                "or leave the host out with --limit"
            )
        remarks += [f"{host}: {text}" for text in rails.remarks]
        remarks += [
            f"{host}: {one.name} may be needed and is unknown: {one.why}"
            for one in lines[host].untold
        ]
        nodes.append(_node(host, one, told[host], rails.ports, lines[host].settings, matrix))
    _refuse_twins(nodes)
    if idle:
        remarks.append(f"no manifest is about {names.shown(idle)}: no RDMA rail there")
    absent = tuple(host for host in seen if host not in there)
    return Told(tuple(nodes), absent, tuple(idle), tuple(remarks))


def _seen(hostvars: Mapping[str, Any], host: str) -> Mapping[str, Any] | None:
    """The variables of a host that told everything."""
    if host not in hostvars:
        return None
    mine = hostvars[host]
    told, node = mine.get(TOLD), (mine.get("ibready_node") or {}).get("node")
    if not isinstance(told, Mapping) or "nccl_host" not in told or not node:
        return None
    return {one: mine[one] for one in (TOLD, NAME, "ibready_node", "ibready_plan") if one in mine}


def _node(
    host: str,
    seen: Mapping[str, Any],
    told: _nccl_plan.Told,
    rails: Iterable[NcclPort],
    lines: tuple[Setting, ...],
    matrix: Matrix,
) -> Node:
    facts = seen["ibready_node"]["node"]
    plan = seen.get("ibready_plan")
    if not isinstance(plan, Mapping):
        raise KubernetesError(
            f"{host} has no plan. Next: `ansible-playbook playbooks/plan.yml` says why"
        )
    ids = {str(one["address"]): one for one in facts.get("hcas") or ()}
    mine = tuple(_hca(one, ids) for one in rails)
    ports = told.host.ports.value or ()
    names_of_rails = {one.name for one in mine}
    said = str(seen.get(NAME) or "")
    name = said or str(facts.get("hostname") or host).lower()
    return Node(
        host=host,
        name=names.subdomain(name, f"{host}: the name of its node (kubernetes_rdma_node)"),
        group=str(plan["class"]),
        digest=str(plan["digest"]),
        stack={part: dict(one) for part, one in plan["stack"].items()},
        platform=platform(facts, matrix),
        installed=dict(facts["installed"]) if facts.get("installed") else None,
        rails=mine,
        others=tuple(
            replace(_hca(one, ids), why=one.apart.why if one.apart else "")
            for one in ports
            if one.name not in names_of_rails
        ),
        gpus=sum(1 for one in facts.get("gpus") or () if one.get("vendor") == NVIDIA),
        nccl=lines,
        simulated=str(facts.get("simulated") or told.host.simulated),
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
    for one in nodes:
        if one.name in by_name:
            raise KubernetesError(
                f"{by_name[one.name]} and {one.host} would both be the node {one.name}. "
                "Next: set kubernetes_rdma_node on each"
            )
        by_name[one.name] = one.host
