# SPDX-License-Identifier: GPL-3.0-or-later
"""Combinations of stack, operator, plugin, network and nodes: what is rendered is valid, and its parts agree.

Of any two of these every pair of choices, and with IBREADY_CASES=all every combination.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from yamllint import linter
from yamllint.config import YamlLintConfig

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import (
    document,
    labels,
    names,
    nodes,
    options,
    pods,
    render,
    script,
)
from tests import cases
from tests.unit import clusters
from tests.unit.clusters import IMAGE, IPAM, MATRIX, REGISTRY, Like
from tests.unit.plugins.plugin_utils.kubernetes import judge

LINT = YamlLintConfig(file=str(Path(__file__).parents[5] / ".yamllint"))
# What the plan leaves to the GPU Operator.
WHO = {
    "host": {},
    "toolkit": {"container_toolkit": "none"},
    "operator": {"driver": "none", "container_toolkit": "none"},
}
FLAVOURS = {
    "doca": ({"rdma_flavour": "doca"}, "auto"),
    "mlnx_ofed": ({"rdma_flavour": "mlnx_ofed"}, "auto"),
    "inbox": ({"rdma_flavour": "inbox"}, "host"),
    "operator": ({"rdma_flavour": "inbox"}, "operator"),
}
BOARDS = {
    "infiniband": ("hgx-h800-8",),
    "roce": ("hgx-h200-8-roce",),
    "both": ("hgx-h800-8", "hgx-h200-8-roce"),
    "storage": ("dgx-h100-8",),
}
PLUGINS = {
    "shared": {"plugin": "shared"},
    "shared in the node's network": {"plugin": "shared", "network": "host"},
    "shared in the pod's network": {"plugin": "shared", "network": "pod", "ipam": IPAM},
    "sriov": {"plugin": "sriov", "ipam": IPAM},
    "hostdev": {"plugin": "hostdev", "ipam": IPAM},
}
NETWORKS = ("SriovNetwork", "SriovIBNetwork", "MacvlanNetwork", "HostDeviceNetwork")
EVERY = [
    *itertools.product(FLAVOURS, WHO, BOARDS, PLUGINS, (2,)),
    *itertools.product(["doca"], ["host"], BOARDS, PLUGINS, (1,)),
]


def of_pairs(every: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """So many of these that each two choices that meet in one of them meet in one that is taken."""
    met = {case: set(itertools.combinations(enumerate(case), 2)) for case in every}
    left = set().union(*met.values())
    found = []
    while left:
        found.append(max(every, key=lambda case: len(met[case] & left)))
        left -= met[found[-1]]
    return found


CASES = EVERY if cases.ALL else of_pairs(EVERY)


@functools.cache
def told(flavour: str, who: str, boards: str, count: int) -> nodes.Reported:
    desired_settings = {**FLAVOURS[flavour][0], **WHO[who]}
    hosts = {
        f"node{board}{number}": Like(name, desired_settings)
        for board, name in enumerate(BOARDS[boards])
        for number in range(count)
    }
    return nodes.read(list(hosts), clusters.hostvars(hosts), MATRIX)


@functools.cache
def made(flavour: str, who: str, boards: str, plugin: str, count: int) -> render.Rendered:
    wanted = options.read(
        {
            "registry": REGISTRY,
            "image": IMAGE,
            "ofed": FLAVOURS[flavour][1],
            **PLUGINS[plugin],
        }
    )
    return render.render(told(flavour, who, boards, count), wanted, MATRIX, "0.1.0")


@functools.cache
def parsed(text: str) -> list[dict[str, Any]]:
    return list(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def documents(rendered: render.Rendered) -> list[tuple[str, dict[str, Any]]]:
    """Every document of every YAML file, with its file."""
    return [(path, one) for path, text in rendered.files.items() if path.endswith(".yaml") for one in parsed(text)]


@functools.cache
def judged(path: str, content: str) -> None:
    """Judge one document; most are the same in many of the cases."""
    if path.endswith("-values.yaml"):
        judge.values(path.removesuffix("-values.yaml"), json.loads(content))
    else:
        judge.manifest(json.loads(content))


@functools.cache
def complaints(text: str) -> list[str]:
    return [str(one) for one in linter.run(text, LINT, "a.yaml")]


def kinds(rendered: render.Rendered, kind: str) -> list[dict[str, Any]]:
    return [one for _path, one in documents(rendered) if one.get("kind") == kind]


def specs(rendered: render.Rendered) -> Iterator[dict[str, Any]]:
    """The specs of all pods that use RDMA, in jobs or alone."""
    for _path, one in documents(rendered):
        if one.get("kind") == "Pod":
            yield {"metadata": one["metadata"], **one["spec"]}
        elif one.get("kind") in ("MPIJob", "PyTorchJob"):
            for template in judge.templates(one):
                if "nodeSelector" in template["spec"]:
                    yield {"metadata": template["metadata"], **template["spec"]}


every = pytest.mark.parametrize("case", CASES, ids=[" ".join(map(str, one)) for one in CASES])


@every
def test_everything_is_what_its_schema_says(case: tuple[Any, ...]) -> None:
    rendered = made(*case)
    for path, content in documents(rendered):
        kind = path if path.endswith("-values.yaml") else ""
        judged(kind, json.dumps(content, sort_keys=True))


@every
def test_there_are_never_two_drivers(case: tuple[Any, ...]) -> None:
    flavour, who, *_rest = case
    rendered = made(*case)
    gpu = yaml.safe_load(rendered.files["gpu-operator-values.yaml"])
    plan = told(flavour, who, case[2], case[4]).nodes[0].stack
    assert gpu["driver"]["enabled"] == ("driver" not in plan) == (who == "operator")
    assert gpu["toolkit"]["enabled"] == ("container_toolkit" not in plan) == (who != "host")
    (policy,) = kinds(rendered, "NicClusterPolicy")
    assert ("ofedDriver" in policy["spec"]) == (flavour == "operator")
    if "ofedDriver" in policy["spec"]:
        assert plan["rdma"]["flavour"] == "inbox"
    rdma = gpu["driver"].get("rdma", {})
    assert rdma.get("useHostMofed", False) <= (flavour in ("doca", "mlnx_ofed"))
    network = yaml.safe_load(rendered.files["network-operator-values.yaml"])
    assert (gpu["nfd"]["enabled"], network["nfd"]["enabled"]) == (True, False), "one NFD"


@every
def test_resources_agree_between_plugin_and_pods(case: tuple[Any, ...]) -> None:
    rendered = made(*case)
    offered = {pods.GPU}
    (policy,) = kinds(rendered, "NicClusterPolicy")
    if "rdmaSharedDevicePlugin" in policy["spec"]:
        config = json.loads(policy["spec"]["rdmaSharedDevicePlugin"]["config"])
        offered |= {f"rdma/{one['resourceName']}" for one in config["configList"]}
    prefix = yaml.safe_load(rendered.files["network-operator-values.yaml"])
    prefix = prefix.get("sriov-network-operator", {}).get("operator", {}).get("resourcePrefix")
    if "sriovDevicePlugin" in policy["spec"]:
        config = json.loads(policy["spec"]["sriovDevicePlugin"]["config"])
        offered |= {f"{one['resourcePrefix']}/{one['resourceName']}" for one in config["resourceList"]}
    policies = kinds(rendered, "SriovNetworkNodePolicy")
    offered |= {f"{prefix}/{one['spec']['resourceName']}" for one in policies}
    seen = list(specs(rendered))
    assert seen
    for spec in seen:
        for one in spec["containers"]:
            wanted = one["resources"]["limits"]
            assert wanted == one["resources"]["requests"]
            assert set(wanted) <= offered
            assert len(wanted) > 1, "no RDMA asked for"
            assert one["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
            assert "hugepages" not in str(wanted)
            mounts = {mount["mountPath"]: mount for mount in one["volumeMounts"]}
            assert mounts["/dev/shm"]["name"] == "shm"
            volumes = {volume["name"]: volume for volume in spec["volumes"]}
            assert volumes["shm"]["emptyDir"]["medium"] == "Memory"
            assert {mount["name"] for mount in one["volumeMounts"]} == set(volumes)
    used = {name for spec in seen for name in spec["containers"][0]["resources"]["limits"]}
    assert used == offered, "a resource that nobody uses"


@every
def test_networks_and_selectors_agree(case: tuple[Any, ...]) -> None:
    rendered = made(*case)
    labelled = {one["metadata"]["labels"][labels.CLASS] for one in kinds(rendered, "Node")}
    wanted = {spec["nodeSelector"][labels.CLASS] for spec in specs(rendered)}
    assert wanted == labelled
    (policy,) = kinds(rendered, "NicClusterPolicy")
    affinity = policy["spec"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (expression,) = affinity["nodeSelectorTerms"][0]["matchExpressions"]
    assert set(expression["values"]) == labelled
    there = [one for kind in NETWORKS for one in kinds(rendered, kind)]
    resources = {one["spec"]["resourceName"] for one in kinds(rendered, "SriovNetworkNodePolicy")}
    if "sriovDevicePlugin" in policy["spec"]:
        config = json.loads(policy["spec"]["sriovDevicePlugin"]["config"])
        resources |= {one["resourceName"] for one in config["resourceList"]}
    assert {one["spec"]["resourceName"] for one in there if "resourceName" in one["spec"]} == (resources)
    known = {one["metadata"]["name"] for one in there}
    joined = set()
    for spec in specs(rendered):
        said = spec["metadata"].get("annotations", {}).get("k8s.v1.cni.cncf.io/networks", "")
        joined |= set(said.split(", ")) - {""}
        # The node's network and one of the pod's own exclude each other.
        assert not (spec.get("hostNetwork") and said)
        assert spec.get("hostNetwork", False) == (spec.get("dnsPolicy") is not None)
    assert joined == known
    assert ("secondaryNetwork" in policy["spec"]) == bool(known)
    for one in there:
        assert one["spec"]["networkNamespace"] == "default"
        assert "{rail}" not in one["spec"].get("ipam", "")


@every
def test_nccl_is_told_by_the_file_or_by_variables_but_not_by_both(case: tuple[Any, ...]) -> None:
    for spec in specs(made(*case)):
        (one,) = spec["containers"]
        told_by_env = {entry["name"] for entry in one["env"] if entry["name"].startswith("NCCL_")}
        mounts = {mount["mountPath"]: mount for mount in one["volumeMounts"]}
        attached = "annotations" in spec["metadata"]
        assert ("/etc/nccl.conf" in mounts) == (not attached)
        if "/etc/nccl.conf" in mounts:
            assert mounts["/etc/nccl.conf"]["readOnly"]
            # In a pod's own network the interface of the file is not there.
            assert told_by_env == (set() if spec.get("hostNetwork") else {"NCCL_SOCKET_IFNAME"})
        else:
            assert "NCCL_IB_GID_INDEX" not in told_by_env
        if "sriov" in case:
            assert "NCCL_IB_HCA" not in told_by_env


def _same_length(found: re.Match[str]) -> str:
    return "f" * len(found.group())


@every
def test_the_text_is_clean_and_says_where_it_is_from(case: tuple[Any, ...]) -> None:
    rendered = made(*case)
    for path, text in rendered.files.items():
        if path.endswith(".yaml"):
            # Sums are of one length, and nothing else tells many of the cases apart.
            assert complaints(re.sub(r"\b[0-9a-f]{12,16}\b", _same_length, text)) == [], path
            count = len(parsed(text))
            assert text.count("# Rendered by ibready 0.1.0") == count
            assert text.count("# From: class ") >= count
    assert [path for path in rendered.files if path.startswith("node-labels/")] == sorted(
        path for path in rendered.files if path.startswith("node-labels/")
    )


@every
def test_every_name_is_one_that_kubernetes_takes(case: tuple[Any, ...]) -> None:
    rendered = made(*case)
    seen = set()
    for path, one in documents(rendered):
        if path.endswith("-values.yaml"):
            continue
        meta = one["metadata"]
        assert (one["kind"], meta["name"]) not in seen
        seen.add((one["kind"], meta["name"]))
        names.subdomain(meta["name"], one["kind"])
        for key, value in meta.get("labels", {}).items():
            assert judge.is_label(key, value), key
        # The operators append to it, and pods' names end at 63 characters.
        if one["kind"] in ("MPIJob", "PyTorchJob"):
            names.label(f"{meta['name']}-worker-999", "a worker")


def test_the_same_hosts_give_the_same_bytes_in_any_order() -> None:
    hosts = {"a": Like(), "b": Like(), "c": Like("hgx-h200-8-roce")}
    backwards = dict(reversed(hosts.items()))
    assert clusters.rendered(hosts).files == clusters.rendered(backwards).files


ODD = {"123456789012": "int", "12e4567890123456": "float", "0123": "octal", "y": "bool", "=": "="}


@pytest.mark.parametrize("text", ODD)
def test_no_reader_of_yaml_takes_a_text_for_a_number(text: str) -> None:
    written = document.document({"a": text}, [])
    assert re.search(r"a: '", written)
    assert yaml.safe_load(written) == {"a": text}


class Tagged(str):
    """As Ansible hands over texts."""


def test_texts_of_ansible_are_texts() -> None:
    assert document.document({"a": [Tagged("b c")]}, [Tagged("d")]) == "---\n# d\na:\n  - b c\n"


def test_a_comment_stays_a_comment() -> None:
    written = document.document({"a": 1}, ["x\ny: 2\u2028z: 3\x07"])
    assert yaml.safe_load(written) == {"a": 1}


def test_the_schemas_do_refuse() -> None:
    """The judge of all of the above can fail."""
    rendered = made("doca", "host", "both", "sriov", 1)
    parsed.cache_clear()  # What follows is bent.
    for path, content in documents(rendered):
        if path.endswith("-values.yaml"):
            with pytest.raises(jsonschema.ValidationError):
                judge.values(path.removesuffix("-values.yaml"), {**content, "divers": {}})
            continue
        if "spec" not in content:
            continue
        with pytest.raises(jsonschema.ValidationError):
            judge.manifest({**content, "spec": {**content["spec"], "colour": "red"}})
    (policy,) = kinds(rendered, "NicClusterPolicy")
    del policy["spec"]["secondaryNetwork"]["multus"]["version"]
    with pytest.raises(jsonschema.ValidationError, match="version"):
        judge.manifest(policy)
    job = kinds(rendered, "PyTorchJob")[0]
    template = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    template["spec"]["containers"][0]["comand"] = ["x"]
    with pytest.raises(jsonschema.ValidationError, match="comand"):
        judge.manifest(job)
    with pytest.raises(LookupError, match="no schema of Cat"):
        judge.manifest({"apiVersion": "v9", "kind": "Cat", "metadata": {"name": "x"}, "spec": {}})


def test_the_small_job_compiles() -> None:
    compile(script.ALLREDUCE, "allreduce.py", "exec")
