# SPDX-License-Identifier: GPL-3.0-or-later
"""What contradicts the plan, the hosts or itself is refused, with the next step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import (
    names,
    nodes,
    options,
    render,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.names import KubernetesError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from tests.gauntlet.node import HCAS
from tests.unit import clusters
from tests.unit.clusters import IPAM, Like
from tests.unit.plugins.plugin_utils.kubernetes import judge

LEFT = {"driver": "none", "container_toolkit": "none"}
ROCE = "hgx-h200-8-roce"


def two(**like: Any) -> dict[str, Like]:
    return {"a": Like(**like), "b": Like(**like)}


def fewer(node: Any) -> None:
    """One rail is gone."""
    del node.hcas[7]


def none(node: Any) -> None:
    """All HCAs are gone."""
    node.hcas.clear()


def moved(node: Any) -> None:
    """One rail is at another address."""
    node.hcas[0].address = "0000:f5:00.0"
    node.hcas[0].path[-1] = "0000:f5:00.0"


def swapped(node: Any) -> None:
    """Two rails are in each other's slot."""
    one, other = node.hcas[0], node.hcas[1]
    one.address, other.address, one.path, other.path = other.address, one.address, other.path, one.path


REFUSED: dict[str, tuple[dict[str, Like], dict[str, Any], str]] = {
    "two drivers by the plan": (two(), {"driver": "operator"}, "plan installs NVIDIA driver 580"),
    "two drivers by what is there": (
        two(wishes=LEFT, installed={"driver": "580.95.05 open"}),
        {"driver": "operator"},
        "NVIDIA driver 580.95.05 open is installed on the host: there would be two",
    ),
    "two toolkits": (two(), {"toolkit": "operator"}, "container toolkit 1.20.1 on the host"),
    "two OFEDs by the plan": (
        two(),
        {"ofed": "operator"},
        "RDMA stack doca .* there would be two. Next: stack_rdma_flavour: inbox",
    ),
    "two OFEDs by what is there": (
        two(wishes={"rdma_flavour": "inbox"}, installed={"rdma": "mlnx_ofed 24.10-3.2.5.0"}),
        {"ofed": "operator"},
        "mlnx_ofed 24.10-3.2.5.0 is installed on the host",
    ),
    "no driver at all": (two(wishes=LEFT), {"driver": "host"}, "nor is it there"),
    "nobody could look": (two(wishes=LEFT, installed=None), {}, "nobody could see whether"),
    "a toolkit that finds no driver": (
        two(wishes={"driver": "none"}, installed={"container_toolkit": "1.19.0-1"}),
        {},
        "/run/nvidia/driver",
    ),
    "drivers from here and there": (
        {"a": Like(), "b": Like(wishes=LEFT)},
        {},
        "a from the host and b from the operator",
    ),
    "operating systems of two kinds": (
        {"a": Like(wishes=LEFT), "b": Like(wishes=LEFT, facts={"os": {"id": "ubuntu", "version": "22.04"}})},
        {},
        "wants one operating system.*ubuntu22.04 and ubuntu24.04",
    ),
    "an HCA that the operator's driver dropped": (
        two(board="dgx-1-v100", wishes={**LEFT, "rdma_flavour": "inbox"}),
        {"ofed": "operator"},
        r"doca 3\.4\.1 to a: doca <2\.10 drives ConnectX-4;",
    ),
    "a GPU that the operator's driver dropped": (
        two(board="dgx-1-v100", wishes={**LEFT, "rdma_flavour": "inbox"}),
        {"gpu_operator": "26.7.0"},
        r"driver 595\.91\.07 to a: V100 SXM2 \(Volta\) needs driver >=384,<590",
    ),
    "an engine too old for the operator's toolkit": (
        two(wishes=LEFT, facts={"engines": {"containerd": "1.7.2"}}),
        {"gpu_operator": "26.3.0"},
        r"toolkit 1\.19\.0 to a: containerd >=1\.7\.16 is needed.*has containerd 1\.7\.2",
    ),
    "an unknown GPU Operator": (two(), {"gpu_operator": "v24.9.0"}, "24.9.0 is not in the matrix"),
    "an unknown Network Operator": (two(), {"network_operator": "1.0"}, "known are 26.7.0"),
    "peer memory against no symbols": (
        two(wishes={**LEFT, "rdma_flavour": "inbox"}),
        {"peer_memory": "peermem"},
        "built against MLNX_OFED or DOCA-OFED",
    ),
    "DMA-BUF with an old kernel": (
        two(wishes=LEFT, facts={"kernel": "5.4.0-150-generic"}),
        {"peer_memory": "dmabuf"},
        "Linux >=5.12",
    ),
    "a node that differs": (
        {"a": Like(), "b": Like(), "c": Like(bent=fewer)},
        {},
        "c has 7 InfiniBand 15b3:1021, 8 GPUs, a has 8 InfiniBand 15b3:1021",
    ),
    "SR-IOV in the node's network": (two(), {"plugin": "sriov", "network": "host"}, "belongs to a pod's own network"),
    "RoCE without addresses": (two(board=ROCE), {"plugin": "sriov"}, "kubernetes_rdma_ipam"),
    "macvlan without addresses": (two(board=ROCE), {"network": "pod"}, "nobody said whose"),
    "SR-IOV at two addresses": (
        {"a": Like(), "b": Like(bent=moved)},
        {"plugin": "sriov"},
        r"rail 0 is 0000:15:00\.0 on a and 0000:f5:00\.0 on b",
    ),
    "SR-IOV of virtual functions": (
        two(board="cloud-a100-8-vm"),
        {"plugin": "sriov"},
        "are virtual functions themselves",
    ),
    "host devices in the node's network": (
        two(),
        {"plugin": "hostdev", "network": "host"},
        "belongs to a pod's own network",
    ),
    "host devices over RoCE without addresses": (two(board=ROCE), {"plugin": "hostdev"}, "kubernetes_rdma_ipam"),
    "a rail that is another on the next node": (
        {"a": Like(), "b": Like(bent=swapped)},
        {"plugin": "hostdev"},
        r"is ib-rail\d on a and ib-rail\d on b, and the device plugin knows functions by address",
    ),
    "no registry": (two(), {"registry": ""}, "kubernetes_rdma_registry"),
    "twins": (
        {"a": Like(facts={"hostname": "x"}), "b": Like(facts={"hostname": "x"})},
        {},
        "a and b would both be the node x",
    ),
    "a name that no node has": ({"a": Like(facts={"hostname": "node_1"})}, {}, r"kubernetes_rdma_node\) is 'node_1'"),
}


@pytest.mark.parametrize(("hosts", "given", "said"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_by_name(hosts: dict[str, Like], given: dict[str, Any], said: str) -> None:
    with pytest.raises(KubernetesError, match=said) as caught:
        clusters.rendered(hosts, **given)
    text = str(caught.value)
    assert "Next: " in text or "must be" in text or "RFC 1123" in text


def test_an_operator_for_another_kubernetes_is_refused_where_that_is_sure(tmp_path: Path) -> None:
    wanted = {"kubernetes_version": "1.30", "network_operator": "26.1.0"}
    rendered = clusters.rendered(two(), **wanted)
    assert any("Kubernetes >=1.31,<1.36, not on 1.30" in one for one in rendered.remarks)
    (tmp_path / "kubernetes.yml").write_text(
        """
network_operators:
  "26.1.0": {source: ours, confidence: confirmed, field_confidence: {kubernetes: confirmed}}
"""
    )
    matrix = load.load([tmp_path])
    hosts = two()
    reported = nodes.read(list(hosts), clusters.hostvars(hosts), matrix)
    given = options.read({"registry": "r/x", **wanted})
    with pytest.raises(KubernetesError, match=r"not on 1\.30"):
        render.render(reported, given, matrix, "0.1.0")
    assert render.render(reported, options.read({"registry": "r/x"}), matrix, "0.1.0").files


def test_the_youngest_release_without_a_doubt_is_taken() -> None:
    assert clusters.rendered(two()).operators.versions == ("GPU Operator 26.7.0, Network Operator 26.7.0")
    older = clusters.rendered(two(wishes={"container_toolkit": "1.18.1"})).operators
    assert (older.versions, older.doubts) == ("GPU Operator 25.10.1, Network Operator 26.7.0", ())
    volta = two(board="dgx-1-v100", wishes={**LEFT, "rdma_flavour": "mlnx_ofed"})
    found = clusters.rendered(volta)
    assert "GPU Operator 26.3.3" in found.operators.versions
    assert "kernelModuleType: proprietary" in found.files["gpu-operator-values.yaml"]
    assert "useHostMofed: true" in found.files["gpu-operator-values.yaml"]


def test_what_is_not_sure_is_a_doubt(tmp_path: Path) -> None:
    (tmp_path / "kubernetes.yml").write_text(
        """
network_operators:
  "26.4.1": {gpu_operator: ">=27", source: ours, confidence: medium}
"""
    )
    hosts = two()
    reported = nodes.read(list(hosts), clusters.hostvars(hosts), clusters.MATRIX)
    given = options.read({"registry": "r/x", "network_operator": "26.4.1"})
    found = render.render(reported, given, load.load([tmp_path]), "0.1.0")
    assert any("wants GPU Operator >=27, not 26.7.0" in one for one in found.remarks)


def test_an_hca_that_nobody_knows_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HCAS, "ConnectX-7", ("MT4129", "ffee", "28.47.1026", 400, 5))
    found = clusters.rendered(two(wishes={"rdma_flavour": "inbox"}), ofed="operator")
    (doubt,) = found.operators.doubts
    assert "brings rdma doca 3.5.0 to class" in doubt
    assert "the host has HCA 15b3:ffee; the matrix has neither the model nor its generation" in doubt


def test_hosts_that_told_nothing_or_have_no_rail_are_told_apart() -> None:
    hosts = {"a": Like(), "b": Like(), "c": Like(bent=none)}
    known = clusters.hostvars(hosts)
    reported = nodes.read(["a", "b", "c", "gone"], known, clusters.MATRIX)
    assert [one.host for one in reported.nodes] == ["a", "b"]
    assert (reported.absent, reported.idle) == (("gone",), ("c",))
    assert reported.remarks == ("no manifest is about c: no RDMA rail there",)
    del known["b"][nodes.TOLD]
    assert nodes.read(["a", "b"], known, clusters.MATRIX).absent == ("b",)
    with pytest.raises(KubernetesError, match="no host with an RDMA rail"):
        render.render(nodes.Reported(), options.Options(), clusters.MATRIX, "0.1.0")


def test_what_nccl_may_need_and_nobody_knows_is_told() -> None:
    rails = [f"mlx5_{number}" for number in (0, 1, 77)]
    rendered = clusters.rendered(two(policy={"nccl_rails": rails}))
    for host in "ab":
        (said,) = [one for one in rendered.remarks if one.startswith(f"{host}: NCCL_IB_HCA")]
        assert "nccl_rails names mlx5_77, which this host does not have" in said
        assert said in rendered.files["README.md"]


@pytest.mark.parametrize(
    ("bend", "why"),
    [
        (
            lambda mine: mine[nodes.TOLD]["nccl_host"]["ports"].update(value=1),
            "nccl_host.ports.value: a number, and not a list",
        ),
        (
            lambda mine: mine["ibready_node"]["node"]["gpus"][0].update(device=None),
            "node.gpus[0].device: nothing, and not text",
        ),
        (lambda mine: mine["ibready_node"]["node"].update(hostname="node_1"), "(kubernetes_rdma_node) is 'node_1'"),
    ],
)
def test_a_host_whose_answers_cannot_be_used_is_left_out_by_name(bend: Any, why: str) -> None:
    known = clusters.hostvars({"a": Like(), "b": Like()})
    bend(known["a"])
    reported = nodes.read(["a", "b"], known, clusters.MATRIX)
    assert [one.host for one in reported.nodes] == ["b"]
    assert reported.absent == ("a",)
    assert why in reported.refused["a"]


FOREIGN = {
    "image": ["a b", "x;y", "UPPER/x:1", "x:1\n", "$(id)", "x@sha256:1", "-x", "../x"],
    "registry": ["a b", "http://x", "x/", "x;y", "x\n"],
    "namespace": ["", "A", "a.b", "-a", "a" * 64, "a\nb", "../x"],
    "operator_namespace": ["", "x_y"],
    "shm": ["", "1", "0Gi", "1.5Gi", "16 Gi", "16Gi\n"],
    "gpu_operator": ["newest", "26", "26.7.0; x"],
    "kubernetes_version": ["v1", "1.x"],
    "interfaces": [["a b"], ["ib0;x"], ["x" * 16]],
    "job_nodes": [0, -1, 10**6],
    "vfs": [0, 128],
    "pods_per_node": [0],
    "torch_command": [[""], ["a\nb"]],
    "ipam": [{"type": "x\ny"}, {"a": object()}],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in FOREIGN.items() for value in values])
def test_foreign_words_are_refused(name: str, value: Any) -> None:
    with pytest.raises(KubernetesError, match=name.split("_")[0]):
        options.read({name: value})


@given(st.text())
def test_any_text_becomes_a_value_that_a_label_can_have(text: str) -> None:
    assert judge.is_label("ibready.io/class", names.value(text))
    slug = names.slug(text)
    assert not slug or names.label(slug, "slug")
    assert len(slug) <= 40


@given(st.text(min_size=80), st.text(min_size=80))
def test_long_texts_stay_apart(one: str, other: str) -> None:
    safe, more = (f"{'x' * 60}{each!r}" for each in (one, other))
    assert (names.value(safe) == names.value(more)) == (safe == more)


IMAGES = ["torch", "torch:2.9", "r.example.com:5000/a/b:1", "r/x@sha256:" + "a" * 64, "a/b__c:1-2"]


@pytest.mark.parametrize("text", IMAGES)
def test_an_image_is_taken_as_it_is(text: str) -> None:
    assert names.image(text, "image") == text


def test_ipam_is_filled_for_each_rail() -> None:
    rendered = clusters.rendered(two(), plugin="sriov", ipam=IPAM)
    for rail in range(8):
        assert f'"poolName": "rail{rail}"' in rendered.files["networks.yaml"]


def test_operators_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "kubernetes.yml").write_text(
        """
network_operators:
  "26.4.1": {gpu_operator: ">=27", source: ours, confidence: confirmed}
"""
    )
    hosts = two()
    reported = nodes.read(list(hosts), clusters.hostvars(hosts), clusters.MATRIX)
    given = options.read({"registry": "r/x", "network_operator": "26.4.1"})
    with pytest.raises(KubernetesError, match=r"26\.4\.1 wants GPU Operator >=27, not 26\.7\.0"):
        render.render(reported, given, load.load([tmp_path]), "0.1.0")
