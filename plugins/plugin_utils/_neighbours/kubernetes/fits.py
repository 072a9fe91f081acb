# SPDX-License-Identifier: GPL-3.0-or-later
"""What speaks against a release of an operator, surely or perhaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..._plan.matrix.model import CONFIRMED, Fact, Matrix
from ..._plan.matrix.versions import version, within
from ..._plan.resolve import rules_driver, rules_rdma, rules_software
from ..._plan.resolve.candidates import Candidate
from ..._plan.resolve.collision import collision
from . import gpudirect, names
from .nodes import Node
from .options import HOST, OPERATOR, Options
from .sources import Sources

TITLES = {
    "kubernetes.gpu_operators": "GPU Operator",
    "kubernetes.network_operators": "Network Operator",
}
# The resolver's rules that hold for what comes in a container as for a package of the host.
_HOLD = (
    *("GPU_KNOWN", "GPU_BRANCH", "GPU_DRIVER_FLOOR", "DRIVER_KERNEL", "CDI_ENGINE"),
    *("RDMA_KNOWN", "HCA_KNOWN", "HCA_RDMA"),
)
_RULES = tuple(
    alone for alone in (*rules_driver.ALONE, *rules_software.ALONE, *rules_rdma.ALONE) if alone.rule in _HOLD
)
# Docker and podman are not what a kubelet runs containers with.
_OF_KUBELETS = ("containerd", "cri-o")


@dataclass(frozen=True)
class Against:
    """``sure``: it forbids the release; otherwise it is a doubt."""

    text: str
    sure: bool = True


@dataclass(frozen=True)
class _Brought:
    """A part that an operator brings, in the resolver's words, and the nodes that get it."""

    by: str
    part: Candidate
    nodes: Sequence[Node]


def judge(
    nodes: Sequence[Node],
    sources: Sources,
    options: Options,
    matrix: Matrix,
    gpu: Fact | None,
    stack: Fact | None,
    network: Fact,
) -> Iterator[Against]:
    """Everything that speaks against the pair."""
    if gpu is not None and stack is None:
        yield Against(f"GPU Operator {gpu.name}: stacks.yml has no {gpu.get('stack')}")
        return
    if gpu is not None:
        wanted = network.get("gpu_operator")
        if not within(gpu.name, wanted):
            yield Against(
                f"Network Operator {network.name} wants GPU Operator {wanted}, not {gpu.name}",
                network.sure("gpu_operator") == CONFIRMED,
            )
    if sources.driver == OPERATOR:
        yield from _systems(nodes)
    for brought in _brought(nodes, sources, matrix, gpu, stack, network):
        yield from _by_rules(brought, matrix)
    yield from _cluster(options, [gpu, network])
    if sources.ofed == OPERATOR:
        yield from _ofed(nodes, network, matrix)
    if gpu is not None and stack is not None:
        yield from (Against(doubt, False) for doubt in _doubts(nodes, sources, matrix, gpu, stack))


def _brought(
    nodes: Sequence[Node],
    sources: Sources,
    matrix: Matrix,
    gpu: Fact | None,
    stack: Fact | None,
    network: Fact,
) -> Iterator[_Brought]:
    if gpu is not None and stack is not None:
        by = f"GPU Operator {gpu.name}"
        if sources.driver == OPERATOR:
            driver = str(stack.get("driver"))
            branch = driver.partition(".")[0]
            known = matrix.get("drivers.branches", branch)
            part = Candidate("driver", driver, branch=branch, fact=known)
            yield _Brought(by, part, [node for node in nodes if node.gpus])
        if sources.toolkit == OPERATOR:
            toolkit = str(stack.get("container_toolkit"))
            yield _Brought(by, Candidate("container_toolkit", toolkit), nodes)
    if sources.ofed == OPERATOR:
        doca = str(network.get("doca"))
        known = matrix.get("rdma.releases", f"doca-{doca}")
        part = Candidate("rdma", doca, flavour="doca", fact=known)
        yield _Brought(f"Network Operator {network.name}", part, nodes)


def _by_rules(brought: _Brought, matrix: Matrix) -> Iterator[Against]:
    for node in brought.nodes:
        engines = {name: found for name, found in node.platform.engines.items() if name in _OF_KUBELETS}
        here = replace(node.platform, engines=engines)
        for rule in _RULES:
            if rule.part != brought.part.part:
                continue
            found = collision(rule.rule, rule.test(here, brought.part, matrix), matrix)
            if found is not None:
                # A doubt is of the whole class, so that it counts once.
                where = node.host if found.blocks else f"class {node.group}"
                yield Against(
                    f"{brought.by} brings {brought.part} to {where}: {found.one}; {found.other}",
                    found.blocks,
                )


def _cluster(options: Options, facts: Sequence[Fact | None]) -> Iterator[Against]:
    """Operators that are not for this Kubernetes."""
    for fact in facts:
        wanted = fact.get("kubernetes") if fact else None
        if fact is None or not wanted or not options.kubernetes_version:
            continue
        if not within(options.kubernetes_version, wanted):
            yield Against(
                f"{TITLES[fact.section]} {fact.name} runs on Kubernetes {wanted}, not on {options.kubernetes_version}",
                fact.sure("kubernetes") == CONFIRMED,
            )


def _systems(nodes: Sequence[Node]) -> Iterator[Against]:
    found = {node.platform.system or node.platform.distribution for node in nodes if node.gpus}
    if len(found) > 1:
        yield Against(
            f"the operator's driver wants one operating system, and the nodes have "
            f"{' and '.join(sorted(found))} (stack_driver can bring it to each)"
        )


def _ofed(nodes: Sequence[Node], network: Fact, matrix: Matrix) -> Iterator[Against]:
    """The systems that its container is made for."""
    doca = str(network.get("doca"))
    release = matrix.get("rdma.releases", f"doca-{doca}")
    if release is None:
        return  # A rule says so.
    for node in nodes:
        if not node.platform.is_like(release.get("systems", [])):
            sure = release.sure("systems") == CONFIRMED
            yield Against(
                f"Network Operator {network.name} brings DOCA {doca}, which is not made for "
                f"{node.platform.system or node.platform.distribution} "
                f"({node.host if sure else f'class {node.group}'})",
                sure,
            )


def _doubts(nodes: Sequence[Node], sources: Sources, matrix: Matrix, gpu: Fact, stack: Fact) -> Iterator[str]:
    """What nobody vouches for, and nothing forbids."""
    for node in nodes:
        kind = node.stack.get("driver", {}).get("modules")
        if (sources.driver, sources.ofed) == (HOST, OPERATOR) and kind == "proprietary":
            yield (
                f"class {node.group}: no way of GPUDirect RDMA, for the driver's proprietary "
                "modules were not built against the operator's OFED"
            )
        engine = node.platform.engines.get("containerd", "")
        if engine and not within(engine, gpu.get("containerd")):
            yield (
                f"GPU Operator {gpu.name} gives GPUs by CDI, for which containerd has to be "
                f"{gpu.get('containerd')}: class {node.group} has {engine}"
            )
        branch = _branch(node)
        if sources.driver == HOST and branch and branch not in gpu.get("drivers"):
            yield (f"GPU Operator {gpu.name} does not name driver branch {branch} of class {node.group} among its own")
        mine = str(node.stack.get("container_toolkit", {}).get("version") or "")
        theirs = str(stack.get("container_toolkit"))
        if sources.toolkit == HOST and mine and _series(mine) != _series(theirs):
            yield (f"GPU Operator {gpu.name} was made with container toolkit {theirs}, class {node.group} has {mine}")
    users = [node for node in nodes if node.gpus]
    if sources.driver == OPERATOR and gpudirect.way(users, sources, stack, matrix) is None:
        yield f"no way of GPUDirect RDMA: {names.shown([user.host for user in users])}"


def _branch(node: Node) -> str:
    planned = node.stack.get("driver", {})
    there = (node.installed or {}).get("driver", "")
    return str(planned.get("branch") or there.partition(".")[0])


def _series(text: str) -> tuple[int, ...]:
    return version(text).release[:2]
