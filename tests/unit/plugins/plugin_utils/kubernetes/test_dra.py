# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs by claims and ComputeDomains: valid, and each claim has what it is made from."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import nodes, options, pods, render
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.names import KubernetesError
from tests import cases
from tests.unit import clusters
from tests.unit.clusters import IMAGE, MATRIX, REGISTRY, Like
from tests.unit.plugins.plugin_utils.kubernetes import judge

BOARDS = {"racks": ("gb200-nvl72-node",), "boxes": ("hgx-h800-8",), "both": ("gb200-nvl72-node", "hgx-h800-8")}
WISHES = [("gpus",), ("compute_domains",), ("gpus", "compute_domains")]
WHO = {"host": {}, "operator": {"driver": "none", "container_toolkit": "none"}}
JOBS = ("PyTorchJob", "MPIJob")
CLIQUE = "nvidia.com/gpu.clique"


@functools.cache
def hostvars(boards: str, who: str) -> dict[str, dict[str, Any]]:
    hosts = {f"node{at}{number}": Like(name, WHO[who]) for at, name in enumerate(BOARDS[boards]) for number in (1, 2)}
    return clusters.hostvars(hosts)


def made(boards: str, *dra: str, who: str = "host", imex: str = "job", **given: Any) -> render.Rendered:
    found = {name: {**one, "nvidia_driver_imex": imex} for name, one in hostvars(boards, who).items()}
    wanted = options.read({"registry": REGISTRY, "image": IMAGE, "dra": list(dra), **given})
    return render.render(nodes.read(list(found), found, MATRIX), wanted, MATRIX, "0.1.0")


def documents(rendered: render.Rendered, path: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(rendered.files[path])) if path in rendered.files else []


def templates(rendered: render.Rendered) -> dict[str, dict[str, Any]]:
    """The pods with rails, by the name of their job."""
    found = {one["metadata"]["name"]: one for one in documents(rendered, "test-pod.yaml")}
    for path in ("pytorchjob.yaml", "mpijob.yaml"):
        for job in documents(rendered, path):
            for one in judge.templates(job):
                if "nodeSelector" in one["spec"]:
                    found[f"{job['metadata']['name']}"] = one
    return found


CASES = [
    case for case in itertools.product(BOARDS, WISHES, WHO) if case[0] != "boxes" or "compute_domains" not in case[1]
]


@pytest.mark.parametrize(("boards", "wish", "who"), cases.some(CASES, lambda case: case[1]))
def test_everything_is_valid_and_claimed_from_something(boards: str, wish: tuple[str, ...], who: str) -> None:
    rendered = made(boards, *wish, who=who)
    for path in ("claims.yaml", "test-pod.yaml", "pytorchjob.yaml", "mpijob.yaml"):
        for one in documents(rendered, path):
            judge.manifest(one)
    for chart in ("gpu-operator", "dra-driver"):
        judge.values(chart, yaml.safe_load(rendered.files[f"{chart}-values.yaml"]))
    offered = set()
    for one in documents(rendered, "claims.yaml"):
        domain = one["kind"] == "ComputeDomain"
        offered.add(one["spec"]["channel"]["resourceClaimTemplate"]["name"] if domain else one["metadata"]["name"])
    used = set()
    for pod in templates(rendered).values():
        (container,) = pod["spec"]["containers"]
        claims = {one["name"]: one["resourceClaimTemplateName"] for one in pod["spec"].get("resourceClaims", [])}
        assert [one["name"] for one in container["resources"].get("claims", [])] == list(claims)
        used |= set(claims.values())
        assert (pods.GPU in container["resources"]["limits"]) == ("gpus" not in wish)
        assert ("gpus" in claims) == ("gpus" in wish)
    assert used == offered, "each claim has what it is made from, and nothing is made for nobody"


def test_a_pod_claims_as_many_gpus_as_it_runs_on() -> None:
    rendered = made("both", "gpus")
    counts = {
        one["metadata"]["name"]: one["spec"]["spec"]["devices"]["requests"][0]["exactly"]
        for one in documents(rendered, "claims.yaml")
    }
    assert {name: one["count"] for name, one in counts.items()} == {
        "ibready-1-gpu": 1,
        "ibready-4-gpus": 4,
        "ibready-8-gpus": 8,
    }
    assert {one["deviceClassName"] for one in counts.values()} == {"gpu.nvidia.com"}
    for pod in templates(rendered).values():
        env = {one["name"]: one["value"] for one in pod["spec"]["containers"][0]["env"]}
        (claim,) = pod["spec"]["resourceClaims"]
        assert str(counts[claim["resourceClaimTemplateName"]]["count"]) == env["IBREADY_GPUS"]


def test_a_job_of_a_rack_has_a_domain_of_its_own_and_stays_in_one_clique() -> None:
    rendered = made("both", "compute_domains", job_nodes=2)
    domains = {one["metadata"]["name"]: one["spec"] for one in documents(rendered, "claims.yaml")}
    racks = {name for name in templates(rendered) if "gb200" in name and "test" not in name}
    assert set(domains) == racks
    assert len(racks) == 2
    for name, pod in templates(rendered).items():
        near = pod["spec"]["affinity"].get("podAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
        assert [one["topologyKey"] for one in near] == ([CLIQUE] if name in racks else [])
        if name in racks:
            assert domains[name]["numNodes"] == 2
            assert near[0]["labelSelector"]["matchLabels"] == pod["metadata"]["labels"]


@pytest.mark.parametrize("who", WHO)
def test_no_gpu_is_given_by_two_drivers(who: str) -> None:
    both = made("boxes", "gpus", who=who)
    operator = yaml.safe_load(both.files["gpu-operator-values.yaml"])
    driver = yaml.safe_load(both.files["dra-driver-values.yaml"])
    assert operator["devicePlugin"] == {"enabled": False}
    assert driver["resources"] == {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}}
    assert driver["gpuResourcesEnabledOverride"]
    assert driver["nvidiaDriverRoot"] == {"host": "/", "operator": "/run/nvidia/driver"}[who]
    # The operator evicts by a label what its driver is taken from below.
    label = "nvidia.com/dra-kubelet-plugin"
    labelled = [label in text for path, text in both.files.items() if path.startswith("node-labels/")]
    assert set(labelled) == {who == "operator"}
    assert (label in str(operator["driver"].get("manager"))) == (who == "operator")
    assert driver.get("kubeletPlugin") == ({"nodeSelector": {label: "true"}} if who == "operator" else None)
    domains = yaml.safe_load(made("racks", "compute_domains").files["gpu-operator-values.yaml"])
    assert "devicePlugin" not in domains, "GPUs stay the device plugin's"


def test_without_the_wish_nothing_is_claimed() -> None:
    rendered = made("racks")
    assert not {"claims.yaml", "dra-driver-values.yaml"} & set(rendered.files)
    assert not [text for text in rendered.files.values() if "resourceClaims" in text or CLIQUE in text]


def test_the_guide_installs_the_driver_before_claims_and_claims_before_jobs() -> None:
    guide = made("racks", "gpus", "compute_domains").files["README.md"]
    order = ["dra-driver-values.yaml", "apply -f claims.yaml", "apply -f pytorchjob.yaml"]
    places = [guide.rindex(text) for text in order]
    assert places == sorted(places)
    assert "kubernetes_rdma_dra needs Kubernetes gpus >=1.34 and compute_domains >=1.32" in guide
    assert "needs Kubernetes" not in made("racks", "gpus", kubernetes_version="1.35").files["README.md"]


@pytest.mark.parametrize(
    ("boards", "dra", "given", "said"),
    [
        ("boxes", ["compute_domains"], {}, "in no class do all nodes tell of an NVLink domain"),
        ("racks", ["gpus"], {"kubernetes_version": "1.33.4"}, r"gpus, and Kubernetes 1\.33\.4 .*resource\.k8s\.io/v1"),
        ("racks", ["compute_domains"], {"kubernetes_version": "1.31"}, r"compute_domains, and Kubernetes 1\.31 "),
        ("racks", ["compute_domains"], {"imex": "auto"}, "node01, node02: a ComputeDomain brings IMEX.*imex: job"),
        ("racks", ["compute_domains"], {"imex": ""}, "Next: nvidia_driver_imex: job"),
    ],
)
def test_a_wish_that_cannot_be_is_refused(boards: str, dra: list[str], given: dict[str, Any], said: str) -> None:
    with pytest.raises(KubernetesError, match=said):
        made(boards, *dra, **given)


def test_one_node_that_tells_no_domain_takes_its_class_out() -> None:
    hosts = hostvars("racks", "host")
    found = {name: {**one, "nvidia_driver_imex": "job"} for name, one in hosts.items()}
    facts = found["node01"]["ibready_node"]["node"]
    found["node01"] = {**found["node01"], "ibready_node": {"node": {**facts, "nvlink_domain": None}}}
    wanted = options.read({"registry": REGISTRY, "image": IMAGE, "dra": ["compute_domains"]})
    with pytest.raises(KubernetesError, match="in no class do all nodes"):
        render.render(nodes.read(list(found), found, MATRIX), wanted, MATRIX, "0.1.0")
