# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules that judge GPUs and the stack, and the one that collects."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.container.area import AREA as CONTAINER
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import AREAS
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_desired import from_text
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect as _collect
from ansible_collections.ibready.cluster.plugins.modules import (
    collect,
    containerverify,
    hostverify,
    ibverify,
    ncclverify,
    nvlinkverify,
    stackverify,
)
from tests.gauntlet import fault, render
from tests.gauntlet.nodes import nccl

# What is compared with other hosts, where areas that tell of it were asked.
COMPARED = {"equals", "own"}

RunModule = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("node")
    _collect.collect(
        render.render(render.node("hgx-h100-8")),
        str(place),
        "node7",
        "now",
        {"nccl": {"peers": [nccl.PEER]}, "container": {}},
    )
    return place / "node7"


@pytest.mark.parametrize(
    ("module", "areas"),
    [
        (ibverify, {"host", "pci", "ib", "roce", "fabric"}),
        (nvlinkverify, {"gpu", "nvlink"}),
        (stackverify, {"stack"}),
        (hostverify, {*AREAS}),
    ],
)
def test_each_module_covers_its_areas(run_module: RunModule, node: Path, module: ModuleType, areas: set[str]) -> None:
    expect = render.node("hgx-h100-8").expect
    result = run_module(module.main, bundle=str(node), expect=expect)
    assert result["verdict"] == "ready", result.get("msg")
    assert result["host"] == "node7"
    assert set(result["facts"]) - COMPARED == {*areas, "machine"}
    assert {one["id"].split(".")[0] for one in result["checks"]} == areas


def test_all_areas_in_one_visit(run_module: RunModule, node: Path) -> None:
    areas = ["host", "pci", "ib", "roce", "gpu", "nvlink", "stack"]
    expect = render.node("hgx-h100-8").expect
    result = run_module(hostverify.main, bundle=str(node), expect=expect, areas=areas)
    assert result["verdict"] == "ready", result.get("msg")
    assert set(result["facts"]) - COMPARED == {*areas, "machine"}


def test_a_broken_node_fails_and_a_waiver_lets_it_pass(run_module: RunModule, tmp_path: Path) -> None:
    one = next(one for one in fault.load() if one.check == "nvlink.fabric_manager.version")
    described, tree = fault.broken(one)
    _collect.collect(tree, str(tmp_path), "node7", "now")
    given = {"bundle": str(tmp_path / "node7"), "expect": described.expect}
    failing = run_module(nvlinkverify.main, **given)
    assert failing["failed"] is True
    assert "nvlink.fabric_manager.version" in failing["msg"]
    waivers = [
        {"check": check["id"], "host": "node7", "until": "2999-12-31", "reason": "RMA 1"}
        for check in failing["checks"]
        if check["result"] == "fail"
    ]
    waived = run_module(nvlinkverify.main, **given, waivers=waivers)
    assert waived["verdict"] == "ready"
    assert any(check["waived"] for check in waived["checks"])


def test_of_a_host_without_gpus_their_areas_are_skipped_and_the_host_is_not(run_module: RunModule, node: Path) -> None:
    bare = render.node("ib-login")
    _collect.collect(render.render(bare), str(node.parent), "bare", "now")
    given = {"bundle": str(node.parent / "bare"), "expect": bare.expect}
    alone = run_module(nvlinkverify.main, **given, answer="short")
    assert (alone["verdict"], alone.get("failed", False), set(alone["counts"])) == ("ready", False, {"skip"})
    assert any("no NVIDIA GPU on the PCI bus" in reason for reason in alone["findings"])
    whole = run_module(hostverify.main, **given, areas=["pci", "ib", "gpu", "nvlink"])
    assert whole["verdict"] == "ready", whole.get("msg")


def test_a_bad_waiver_is_refused(run_module: RunModule, node: Path) -> None:
    waiver = {"check": "x.y.z", "host": "n", "until": "2999-12-31", "reason": "r"}
    result = run_module(stackverify.main, bundle=str(node), waivers=[waiver])
    assert result["failed"] is True
    assert "there is no check 'x.y.z'" in result["msg"]


def test_collect_writes_a_bundle(run_module: RunModule, tmp_path: Path) -> None:
    result = run_module(collect.main, dest=str(tmp_path / "b"), host="node7")
    assert result["changed"] is True
    with tarfile.open(result["archive"]) as archive:
        assert "node7/manifest.json" in archive.getnames()
    assert Path(result["path"], "manifest.json").exists()


def test_collect_in_check_mode_writes_nothing(run_module: RunModule, tmp_path: Path) -> None:
    result = run_module(collect.main, dest=str(tmp_path / "b"), host="node7", check=True)
    assert result["changed"] is True
    assert not (tmp_path / "b").exists()


def test_collect_says_where_it_could_not_write(run_module: RunModule, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run_module(collect.main, dest=str(tmp_path / "file"), host="node7")
    assert result["failed"] is True
    assert "next:" in result["msg"]


def test_containers_are_judged_where_a_bundle_holds_them(run_module: RunModule, node: Path, tmp_path: Path) -> None:
    expect = render.node("hgx-h100-8").expect
    result = run_module(containerverify.main, bundle=str(node), expect=expect)
    assert result["verdict"] == "ready", result.get("msg")
    assert {one["id"].split(".")[0] for one in result["checks"]} == {"container"}
    assert result["facts"]["container"]["probe"]["origin"] == "local"
    only = ["container.limit.memlock"]
    result = run_module(containerverify.main, bundle=str(node), only=only)
    assert [one["subject"] for one in result["checks"]] == ["root", "user 65534"]
    _collect.collect(render.render(render.node("hgx-h100-8")), str(tmp_path), "node8", "now")
    result = run_module(containerverify.main, bundle=str(tmp_path / "node8"))
    assert result["failed"]
    assert result["verdict"] == "unknown"


@pytest.mark.parametrize("check", [False, True])
def test_check_mode_fetches_no_image(run_module: RunModule, monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    asked: list[str] = []

    def ask(wish: str) -> Output:
        asked.append(wish)
        raise Unavailable("container_probe", "only written down")

    monkeypatch.setitem(cast(dict[str, Any], CONTAINER.questions), "container_probe", ask)
    expect = {"container": {"image": "site/train:1", "pull": True}}
    run_module(containerverify.main, check=check, expect=expect, report_only=True)
    (wish,) = {from_text(one) for one in asked}
    assert (wish.image, wish.pull) == ("site/train:1", not check)


def test_a_wish_that_cannot_be_meant_is_refused(run_module: RunModule, tmp_path: Path) -> None:
    bad = {"container": {"engine": "lxc"}}
    result = run_module(containerverify.main, expect=bad)
    assert result["failed"]
    assert "expect.container.engine must be one of docker, podman, containerd" in result["msg"]
    result = run_module(collect.main, dest=str(tmp_path / "b"), expect=bad)
    assert result["failed"]
    assert "next: correct ibready_expect" in result["msg"]


def test_a_log_is_judged_by_itself_and_without_one_the_host_is(
    run_module: RunModule, node: Path, tmp_path: Path
) -> None:
    log = tmp_path / "job.log"
    log.write_text(nccl.log(render.node("hgx-h100-8")))
    result = run_module(ncclverify.main, log=str(log), bundle=str(node))
    assert result["verdict"] == "ready", result.get("msg")
    assert {one["id"].rpartition(".")[0] for one in result["checks"]} == {"nccl.log"}
    log.write_text("NET/Socket : Using [0]eth0:192.0.2.1<0>\n")
    result = run_module(ncclverify.main, log=str(log), bundle=str(node))
    assert result["failed"]
    assert result["verdict"] != "ready"
    result = run_module(ncclverify.main, log=str(tmp_path / "none"))
    assert result["failed"]
    assert result["verdict"] == "unknown"
    result = run_module(ncclverify.main, bundle=str(node))
    assert result["verdict"] == "ready", result.get("msg")
    assert "nccl.log" not in {one["id"].rpartition(".")[0] for one in result["checks"]}
    result = run_module(ncclverify.main, bundle=str(node), only=["nccl.conf.taken"])
    assert [one["id"] for one in result["checks"]] == ["nccl.conf.taken"]
    result = run_module(ncclverify.main, bundle=str(node), only=["nccl.conf.tkaen"])
    assert result["failed"]
