# SPDX-License-Identifier: GPL-3.0-or-later
"""README.md beside the manifests: what to do with them, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.operators import (
    Operators,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.options import Options
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.pools import Pool


def text(
    files: Sequence[str],
    pools: Sequence[Pool],
    chosen: Operators,
    options: Options,
    origin: Iterable[str],
    remarks: Iterable[str],
) -> str:
    """The page; its commands run in the folder of the manifests."""
    lines = ["# Manifests", "", *(f"- {one}" for one in origin)]
    found = list(dict.fromkeys(remarks))
    if found:
        lines += ["", "## To know", "", *(f"- {one}" for one in found)]
    lines += ["", "## In this order", ""]
    for at, (title, command) in enumerate(_steps(files, pools, chosen, options), 1):
        lines += [f"{at}. {title}:", "", f"       {command}", ""]
    return "\n".join(lines)


def _steps(
    files: Sequence[str], pools: Sequence[Pool], chosen: Operators, options: Options
) -> Iterator[tuple[str, str]]:
    yield (
        "Label the nodes (a patch; a node that is not there is an error)",
        'for f in node-labels/*.yaml; do kubectl patch -f "$f" --type merge --patch-file "$f" '
        "|| break; done",
    )
    if chosen.gpu is not None:
        yield (
            "Install the GPU Operator",
            f"helm upgrade --install gpu-operator nvidia/gpu-operator --version v{chosen.gpu.name} "
            "-n gpu-operator --create-namespace -f gpu-operator-values.yaml",
        )
    yield (
        "Install the Network Operator",
        "helm upgrade --install network-operator nvidia/network-operator --version "
        f"{chosen.network.name} -n {options.operator_namespace} --create-namespace "
        "-f network-operator-values.yaml",
    )
    yield (
        "Have the server look at the policy, then apply it",
        "kubectl apply --dry-run=server -f nic-cluster-policy.yaml && "
        "kubectl apply -f nic-cluster-policy.yaml",
    )
    if "networks.yaml" in files:
        yield (
            "Make the networks of the rails",
            "kubectl apply --dry-run=server -f networks.yaml && kubectl apply -f networks.yaml",
        )
    if "test-pod.yaml" in files:
        yield "Try one pod of each class", "kubectl apply -f job-config.yaml -f test-pod.yaml"
        for one in pools:
            yield (
                f"See what it found on class {one.group}",
                f"kubectl logs -n {options.namespace} ibready-test-{one.slug}",
            )
        yield "Run a job with the training operator", "kubectl apply -f pytorchjob.yaml"
        yield "or with the MPI operator", "kubectl apply -f mpijob.yaml"
