# SPDX-License-Identifier: GPL-3.0-or-later
"""What speaks against a release of an operator, surely or perhaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes import gpudirect, names
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.nodes import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.options import (
    HOST,
    OPERATOR,
    Options,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.sources import Sources
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import (
    CONFIRMED,
    Fact,
    Matrix,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.versions import (
    version,
    within,
)

TITLES = {
    "kubernetes.gpu_operators": "GPU Operator",
    "kubernetes.network_operators": "Network Operator",
}


def against(
    nodes: Sequence[Node],
    sources: Sources,
    options: Options,
    matrix: Matrix,
    gpu: Fact | None,
    stack: Fact | None,
    network: Fact,
) -> Iterator[str]:
    """What forbids the pair, surely."""
    if gpu is not None:
        if stack is None:
            yield f"GPU Operator {gpu.name}: stacks.yml has no {gpu.get('stack')}"
            return
        if not within(gpu.name, network.get("gpu_operator")):
            wanted = network.get("gpu_operator")
            yield f"Network Operator {network.name} wants GPU Operator {wanted}, not {gpu.name}"
        if sources.driver == OPERATOR:
            yield from _driver(nodes, gpu, stack, matrix)
        if sources.toolkit == OPERATOR:
            yield from _toolkit(nodes, gpu, stack, matrix)
    yield from _cluster(options, [gpu, network], sure=True)
    if sources.ofed == OPERATOR:
        yield from _ofed(nodes, network, matrix)


def _cluster(options: Options, facts: Sequence[Fact | None], *, sure: bool) -> Iterator[str]:
    """Operators that are not for this Kubernetes, as far as that is sure, or is not."""
    for one in facts:
        wanted = one.get("kubernetes") if one else None
        if one is None or not wanted or not options.kubernetes_version:
            continue
        known = (one.sure("kubernetes") == CONFIRMED) == sure
        if known and not within(options.kubernetes_version, wanted):
            yield (
                f"{TITLES[one.section]} {one.name} runs on Kubernetes {wanted}, "
                f"not on {options.kubernetes_version}"
            )


def _driver(nodes: Sequence[Node], gpu: Fact, stack: Fact, matrix: Matrix) -> Iterator[str]:
    driver = str(stack.get("driver"))
    brings = f"GPU Operator {gpu.name} brings driver {driver}"
    mine = [one for one in nodes if one.gpus]
    systems = sorted({one.platform.system or one.platform.distribution for one in mine})
    if len(systems) > 1:
        yield (
            f"the operator's driver wants one operating system, and the nodes have "
            f"{' and '.join(systems)} (stack_driver can bring it to each)"
        )
    branch = matrix.get("drivers.branches", driver.partition(".")[0])
    for one in mine:
        for model in one.platform.gpus:
            fact = matrix.get("gpus.models", model)
            if fact is None:
                yield f"{one.host}: nothing is known of the GPU {model}"
            elif fact.sure("driver") == CONFIRMED and not within(driver, fact.get("driver")):
                yield f"{brings}, and {one.host}'s {model} needs {fact.get('driver')}"
        lacks = branch.get("lacks", ()) if branch else ()
        for architecture in one.platform.architectures:
            if architecture in lacks:
                yield f"{brings}, which does not drive {architecture} ({one.host})"


def _toolkit(nodes: Sequence[Node], gpu: Fact, stack: Fact, matrix: Matrix) -> Iterator[str]:
    toolkit = str(stack.get("container_toolkit"))
    for one in nodes:
        for engine, found in sorted(one.platform.engines.items()):
            fact = matrix.get("container_toolkit.engines", engine)
            # Docker and podman are not what a kubelet runs containers with.
            if fact is None or engine not in ("containerd", "cri-o"):
                continue
            if within(toolkit, fact.get("toolkit")) and not within(found, fact.get("engine")):
                yield (
                    f"GPU Operator {gpu.name} brings container toolkit {toolkit}, which needs "
                    f"{engine} {fact.get('engine')}, and {one.host} has {found}"
                )


def _ofed(nodes: Sequence[Node], network: Fact, matrix: Matrix) -> Iterator[str]:
    doca = str(network.get("doca"))
    brings = f"Network Operator {network.name} brings DOCA {doca}"
    release = matrix.get("rdma.releases", f"doca-{doca}")
    if release is None:
        yield f"{brings}, of which rdma.yml knows nothing"
        return
    for one in nodes:
        if release.sure("systems") == CONFIRMED and not one.platform.is_like(
            release.get("systems", [])
        ):
            yield f"{brings}, which is not made for {one.platform.system} ({one.host})"
        for model in one.platform.hcas:
            fact = matrix.get("hcas.models", model)
            if fact and fact.sure() == CONFIRMED and not within(doca, fact.get("doca")):
                yield f"{brings}, which does not run {one.host}'s {model}"


def doubts(
    nodes: Sequence[Node],
    sources: Sources,
    options: Options,
    matrix: Matrix,
    gpu: Fact | None,
    stack: Fact | None,
    network: Fact,
) -> Iterator[str]:
    """What nobody vouches for, and nothing forbids."""
    yield from _cluster(options, [gpu, network], sure=False)
    if gpu is None or stack is None:
        return
    for one in nodes:
        kind = one.stack.get("driver", {}).get("modules")
        if (sources.driver, sources.ofed) == (HOST, OPERATOR) and kind == "proprietary":
            yield (
                f"class {one.group}: no way of GPUDirect RDMA, for the driver's proprietary "
                "modules were not built against the operator's OFED"
            )
        engine = one.platform.engines.get("containerd", "")
        if engine and not within(engine, gpu.get("containerd")):
            yield (
                f"GPU Operator {gpu.name} gives GPUs by CDI, for which containerd has to be "
                f"{gpu.get('containerd')}: class {one.group} has {engine}"
            )
        branch = _branch(one)
        if sources.driver == HOST and branch and branch not in gpu.get("drivers"):
            yield (
                f"GPU Operator {gpu.name} does not name driver branch {branch} of class "
                f"{one.group} among its own"
            )
        mine = str(one.stack.get("container_toolkit", {}).get("version") or "")
        theirs = str(stack.get("container_toolkit"))
        if sources.toolkit == HOST and mine and _series(mine) != _series(theirs):
            yield (
                f"GPU Operator {gpu.name} was made with container toolkit {theirs}, class "
                f"{one.group} has {mine}"
            )
    users = [one for one in nodes if one.gpus]
    if sources.driver == OPERATOR and gpudirect.way(users, sources, stack, matrix) is None:
        yield f"no way of GPUDirect RDMA: {names.shown([one.host for one in users])}"


def _branch(node: Node) -> str:
    planned = node.stack.get("driver", {})
    there = (node.installed or {}).get("driver", "")
    return str(planned.get("branch") or there.partition(".")[0])


def _series(text: str) -> tuple[int, ...]:
    return version(text).release[:2]
