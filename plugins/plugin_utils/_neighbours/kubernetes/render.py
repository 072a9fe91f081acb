# SPDX-License-Identifier: GPL-3.0-or-later
"""From nodes and the site's options to all files: values, policies, labels, jobs; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._ground.plain import plain
from ..._plan.matrix.model import Matrix
from . import (
    attachments,
    document,
    dra,
    hostdev,
    jobs,
    labels,
    names,
    networks,
    operators,
    pods,
    policy,
    shared,
    sources,
    values,
)
from .names import KubernetesError
from .networks import Network
from .nodes import Node, Reported
from .operators import Operators
from .options import HOSTDEV, SRIOV, Options
from .pools import Pool, pools
from .shared import Shared
from .sources import Sources


@dataclass(frozen=True)
class Rendered:
    """``files``: by their path below the folder. ``remarks``: what the site has to know."""

    files: Mapping[str, str]
    remarks: tuple[str, ...]
    sources: Sources
    operators: Operators
    resources: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class _Found:
    """Everything that was decided."""

    pools: tuple[Pool, ...]
    options: Options
    sources: Sources
    operators: Operators
    shared: Mapping[str, Shared]
    networks: Mapping[str, Network]


def render(told: Reported, options: Options, matrix: Matrix, version: str) -> Rendered:
    """All files. ``version``: ibready's. The same input gives the same bytes; KubernetesError."""
    if not told.nodes:
        said = "".join(f"; {host}: {why}" for host, why in told.refused.items())
        raise KubernetesError(
            f"no host with an RDMA rail told what it is{said}. Next: see the tasks above that "
            "contact and look at every host"
        )
    groups = pools(told.nodes)
    dra.refuse(groups, options)
    by = sources.decide(told.nodes, options)
    chosen = operators.choose(told.nodes, by, options, matrix)
    given = networks.resources_of(groups, options)
    ways = {group.slug: networks.network(group, given.get(group.slug), options) for group in groups}
    found = _Found(groups, options, by, chosen, given, ways)
    files = dict(_files(found, matrix, version))
    remarks = (*told.remarks, *chosen.doubts, *_remarks(found))
    files["README.md"] = _guide(sorted(files), groups, chosen, options, _origin(groups, version), remarks)
    resources = {group.group: dict(ways[group.slug].resources) for group in groups}
    return Rendered(files, tuple(dict.fromkeys(remarks)), by, chosen, resources)


def _files(found: _Found, matrix: Matrix, version: str) -> Iterator[tuple[str, str]]:
    origin = _origin(found.pools, version)
    pool_of = {node.name: pool for pool in found.pools for node in pool.nodes}
    nodes = [node for pool in found.pools for node in pool.nodes]
    by, chosen, options = found.sources, found.operators, found.options
    if chosen.gpu is not None:
        content = dra.operator_values(values.gpu_operator(nodes, by, chosen, options, matrix), by, options)
        notes = [*origin, f"Helm values of GPU Operator v{chosen.gpu.name}.", _who(by)]
        yield "gpu-operator-values.yaml", document.document(content, notes)
    if options.dra:
        notes = [*origin, f"Helm values of the DRA driver for NVIDIA GPUs {dra.CHART}.", _who(by)]
        yield "dra-driver-values.yaml", document.document(dra.driver_values(by, options), notes)
    notes = [*origin, f"Helm values of Network Operator {chosen.network.name}.", _who(by)]
    content = values.network_operator(chosen, options)
    yield "network-operator-values.yaml", document.document(content, notes)
    content = policy.policy(found.pools, found.shared.values(), by, chosen, options)
    yield "nic-cluster-policy.yaml", document.document(content, [*origin, _who(by)])
    listed = attachments.manifests(found.pools, options)
    if listed:
        yield "networks.yaml", _documents((entry, origin) for entry in listed)
    for node, content in labels.manifests(found.pools, by, options):
        pool = pool_of[node.name]
        said = _origin([Pool(pool.group, pool.slug, pool.label, (node,))], version)
        yield f"node-labels/{node.name}.yaml", document.document(content, said)
    if options.image:
        yield from _jobs(found, version)


def _jobs(found: _Found, version: str) -> Iterator[tuple[str, str]]:
    options = found.options
    config = pods.config_map(options)
    yield "job-config.yaml", document.document(config, _origin(found.pools, version))
    claimed = [(entry, _origin(found.pools, version)) for entry in jobs.claimed(found.pools, options)]
    if claimed:
        yield "claims.yaml", _documents(claimed)
    for name, make in (
        ("test-pod", jobs.test_pod),
        ("pytorchjob", jobs.pytorch_job),
        ("mpijob", jobs.mpi_job),
    ):
        yield (
            f"{name}.yaml",
            _documents(
                (
                    make(pool, found.networks[pool.slug], options),
                    [*_origin([pool], version), *pods.NOTES],
                )
                for pool in found.pools
            ),
        )


def _documents(listed: Iterable[tuple[Mapping[str, Any], Iterable[str]]]) -> str:
    return "".join(document.document(content, notes) for content, notes in listed)


def _origin(groups: Sequence[Pool], version: str) -> list[str]:
    """What a manifest was made from."""
    found = [f"Rendered by ibready {version}; change variables and render again, not this file."]
    for group in groups:
        rails = f"{len(group.rails)} {group.layer} rails ({_models(group.first)})"
        digests = sorted({node.digest[:12] for node in group.nodes})
        found.append(
            f"From: class {group.group}, plan {' and '.join(digests)}, of "
            f"{names.shown(group.hosts)}: {rails}, {group.gpus} GPUs."
        )
    simulated = sorted({node.simulated for group in groups for node in group.nodes} - {""})
    if simulated:
        found.insert(1, f"SIMULATED: {', '.join(simulated)}")
    return found


def _models(node: Node) -> str:
    return ", ".join(dict.fromkeys(f"{rail.vendor}:{rail.device}" for rail in node.rails))


def _who(by: Sources) -> str:
    parts = {"driver": by.driver, "container toolkit": by.toolkit, "RDMA drivers": by.ofed}
    said = [f"{part} from the {who}" for part, who in parts.items() if who]
    return f"{', '.join(said)}."


def _remarks(found: _Found) -> Iterator[str]:
    for resource in {entry.name: entry for entry in found.shared.values()}.values():
        if resource.more:
            yield (
                f"{resource.resource} gives these ports as well, which are no rails and which "
                f"nothing that the device plugin looks at tells from them: "
                f"{shared.told(resource.more)}. NCCL_IB_HCA keeps NCCL off them; "
                "kubernetes_rdma_interfaces can name the interfaces of the rails"
            )
    if found.options.plugin == SRIOV:
        yield (
            "virtual functions have to be allowed in the HCAs' firmware (SRIOV_EN, NUM_OF_VFS), "
            "and by kernel arguments (host_tuning_kernel_args: sriov); no manifest does that"
        )
    if found.options.plugin == HOSTDEV:
        yield from hostdev.remarks(found.pools)
    yield from dra.remarks(found.options)
    for pool in found.pools:
        yield from pods.nccl(pool, found.networks[pool.slug], found.options).remarks
        if found.options.image and jobs.count(pool, found.options) < found.options.job_nodes:
            yield f"class {pool.group} has {len(pool.nodes)} of {found.options.job_nodes} nodes"
    if not found.options.image:
        yield "kubernetes_rdma_image is not set, so there is no test pod and no job"


def _guide(
    files: Sequence[str],
    pools: Sequence[Pool],
    chosen: Operators,
    options: Options,
    origin: Iterable[str],
    remarks: Iterable[str],
) -> str:
    """The page; its commands run in the folder of the manifests."""
    # A host's words stay within their line: below it are commands that somebody runs.
    lines = ["# Manifests", "", *(f"- {plain(entry)}" for entry in origin)]
    found = list(dict.fromkeys(remarks))
    if found:
        lines += ["", "## To know", "", *(f"- {plain(item)}" for item in found)]
    lines += ["", "## In this order", ""]
    for at, (title, command) in enumerate(_steps(files, pools, chosen, options), 1):
        lines += [f"{at}. {title}:", "", f"       {command}", ""]
    return "\n".join(lines)


def _steps(
    files: Sequence[str], pools: Sequence[Pool], chosen: Operators, options: Options
) -> Iterator[tuple[str, str]]:
    yield (
        "Label the nodes (a patch; a node that is not there is an error)",
        'for f in node-labels/*.yaml; do kubectl patch -f "$f" --type merge --patch-file "$f" || break; done',
    )
    if chosen.gpu is not None:
        yield (
            "Install the GPU Operator",
            f"helm upgrade --install gpu-operator nvidia/gpu-operator --version v{chosen.gpu.name} "
            "-n gpu-operator --create-namespace -f gpu-operator-values.yaml",
        )
    if options.dra:
        yield (
            "Install the DRA driver for NVIDIA GPUs",
            f"helm upgrade --install {dra.NAMESPACE} nvidia/dra-driver-nvidia-gpu --version {dra.CHART} "
            f"-n {dra.NAMESPACE} --create-namespace -f dra-driver-values.yaml",
        )
    yield (
        "Install the Network Operator",
        "helm upgrade --install network-operator nvidia/network-operator --version "
        f"{chosen.network.name} -n {options.operator_namespace} --create-namespace "
        "-f network-operator-values.yaml",
    )
    yield (
        "Have the server look at the policy, then apply it",
        "kubectl apply --dry-run=server -f nic-cluster-policy.yaml && kubectl apply -f nic-cluster-policy.yaml",
    )
    if "networks.yaml" in files:
        yield (
            "Make the networks of the rails",
            "kubectl apply --dry-run=server -f networks.yaml && kubectl apply -f networks.yaml",
        )
    if "claims.yaml" in files:
        yield (
            "Make what GPUs and NVLink domains are claimed by",
            "kubectl apply --dry-run=server -f claims.yaml && kubectl apply -f claims.yaml",
        )
    if "test-pod.yaml" in files:
        yield "Try one pod of each class", "kubectl apply -f job-config.yaml -f test-pod.yaml"
        for pool in pools:
            yield (
                f"See what it found on class {plain(pool.group)}",
                f"kubectl logs -n {options.namespace} ibready-test-{pool.slug}",
            )
        yield "Run a job with the training operator", "kubectl apply -f pytorchjob.yaml"
        yield "or with the MPI operator", "kubectl apply -f mpijob.yaml"
