# SPDX-License-Identifier: GPL-3.0-or-later
"""What the gauntlet's faults do not show of the checks of containers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.observe import SANDBOX_MARK
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    FAIL,
    PASS,
    SKIP,
    UNKNOWN,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_desired import read
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

BOARD = "hgx-h100-8"
MEMLOCK = "Max locked memory         unlimited            unlimited            bytes"
NOFILE = "Max open files            1048576              1048576              files"
MIB8 = "Max locked memory         8388608              8388608              bytes"


def node(board: str = BOARD, **container: Any) -> tuple[Node, Tree]:
    described = render.node(board)
    described.more = {**described.more, "container": container}
    return described, render.render(described)


def say(tree: Tree, old: str, new: str) -> None:
    text = tree.commands["container_probe"].stdout
    assert old in text
    tree.command("container_probe", text.replace(old, new))


def judge(source: Evidence, described: Node, **wish: Any) -> list[Check]:
    expect = from_inventory({**described.expect, "container": wish})
    return _verify.verify(source, expect, ["container"]).checks


def of(checks: list[Check], check_id: str) -> dict[str, Check]:
    return {one.subject: one for one in checks if one.id == check_id}


def one_of(checks: list[Check], check_id: str) -> Check:
    (found,) = of(checks, check_id).values()
    return found


def test_nobody_asked_and_nothing_is_started() -> None:
    described, tree = node()
    del described.expect["container"]
    tree.broken["container_probe"] = "a container was started"
    judged = _verify.verify(tree, from_inventory(described.expect), ["container"])
    assert judged.checks == []
    assert judged.facts["container"] == {}


def test_a_bundle_that_holds_a_probe_is_judged_without_a_word() -> None:
    described, tree = node()
    del described.expect["container"]
    tree.recorded = True
    expect = from_inventory(described.expect)
    assert verdict(_verify.verify(tree, expect, ["container"]).checks) == "ready"
    del tree.commands["container_probe"]
    assert _verify.verify(tree, expect, ["container"]).checks == []


def test_without_an_engine_nothing_applies_unless_one_is_expected() -> None:
    described, tree = node()
    why = "container engine: not installed (no docker or podman or nerdctl or ctr in PATH)"
    reported = f"format\t1\nhost\twish\t{{}}\nhost\tno_engine\t{why}\nhost\tend\t3"
    tree.command("container_probe", f"host\t{reported}\n")
    checks = judge(tree, described)
    assert {one.result for one in checks} == {SKIP}
    assert all("no container engine on this host" in one.cause for one in checks)
    checks = judge(tree, described, engine="docker")
    assert one_of(checks, "container.engine.usable").expected_from == "inventory"
    assert {one.result for one in checks} == {FAIL, UNKNOWN}


def test_an_image_without_a_shell_is_unknown() -> None:
    described, tree = node()
    said = 'exec: "/bin/sh": stat /bin/sh: no such file or directory'
    runs = "".join(f"host\trun\t{who}\tno_shell\t{said}\n" for who in ("root\t0", "user\t7"))
    head = "".join(tree.commands["container_probe"].stdout.splitlines(keepends=True)[:4])
    tree.command("container_probe", f"{head}{runs}host\tend\t6\n")
    checks = judge(tree, described)
    assert {one.result for one in checks if one.id != "container.engine.usable"} == {UNKNOWN}
    assert "no /bin/sh" in of(checks, "container.image.runs")["user 7"].cause
    assert verdict(checks) == "unknown"


def test_another_user_than_was_asked_for_is_told() -> None:
    described, tree = node()
    say(tree, "Uid:\t65534\t65534\t65534\t65534", "Uid:\t0\t0\t0\t0")
    runs = of(judge(tree, described), "container.image.runs")
    assert (runs["root"].result, runs["user 65534"].result) == (PASS, FAIL)


def test_ipc_lock_counts_for_root_and_for_whom_it_is_effective() -> None:
    described, tree = node()
    say(tree, MEMLOCK, MIB8)
    found = of(judge(tree, described), "container.limit.memlock")
    assert found["root"].result == PASS
    assert "CAP_IPC_LOCK counts" in found["root"].observed
    assert found["user 65534"].result == FAIL
    assert "daemon.json" in found["user 65534"].remedy
    # Podman hands it on to users that are not root.
    say(tree, "CapEff:\t0000000000000000", "CapEff:\t0000000000004000")
    say(tree, "engine\tdocker", "engine\tpodman")
    assert of(judge(tree, described), "container.limit.memlock")["user 65534"].result == PASS


@pytest.mark.parametrize(("limit", "result"), [("8388608", SKIP), ("16777216", SKIP), ("65536", FAIL)])
def test_no_limit_is_judged_that_nobody_could_raise(limit: str, result: str) -> None:
    described, tree = node()
    mark = {"what": "everything", "hardware": True, "memlock_ceiling": 8388608}
    tree.file(SANDBOX_MARK, json.dumps(mark))
    tree.file("/run/.containerenv", "")
    say(tree, MEMLOCK, MIB8.replace("8388608", limit))
    found = of(judge(tree, described), "container.limit.memlock")
    assert {one.result for one in found.values()} == {result}


@pytest.mark.parametrize(("first", "result"), [("4096", SKIP), ("9000", FAIL), ("", UNKNOWN)])
def test_open_files_of_a_simulated_node(first: str, result: str) -> None:
    described, tree = node()
    tree.file(SANDBOX_MARK, json.dumps({"what": "everything", "hardware": True}))
    tree.file("/run/.containerenv", "")
    if first:
        tree.file("/proc/1/limits", NOFILE.replace("1048576", first) + "\n" + MIB8 + "\n")
    say(tree, NOFILE, NOFILE.replace("1048576", "4096"))
    found = of(judge(tree, described), "container.limit.nofile")
    assert {one.result for one in found.values()} == {result}


def test_ctrs_own_limit_is_nobodys_fault() -> None:
    described, tree = node()
    say(tree, "docker\t28.5.1\t/usr/bin/docker", "containerd\t1.7.24\t/usr/bin/ctr")
    say(tree, NOFILE, NOFILE.replace("1048576", "1024"))
    found = of(judge(tree, described), "container.limit.nofile")
    assert {one.result for one in found.values()} == {SKIP}
    say(tree, "/usr/bin/ctr", "/usr/bin/nerdctl")
    found = of(judge(tree, described), "container.limit.nofile")
    assert {one.result for one in found.values()} == {FAIL}
    assert "LimitNOFILE" in found["root"].remedy


@pytest.mark.parametrize(
    ("os", "says"),
    [
        ("ID=ubuntu", "RUN apt-get install -y libibverbs1 ibverbs-providers librdmacm1"),
        ('ID="rocky"', "RUN dnf install -y libibverbs librdmacm"),
        ("ID=alpine", "RUN apk add libibverbs"),
        ("ID=opensuse-leap", "RUN zypper install -y"),
        ("ID=wolfi", "install libibverbs, its providers and librdmacm in the image"),
    ],
)
def test_an_image_is_told_what_to_add(os: str, says: str) -> None:
    described, tree = node(drop=["library|", "driver|", "os|ID_LIKE"])
    say(tree, "os\tID=ubuntu", f"os\t{os}")
    if "suse" in os:
        say(tree, f"os\t{os}", "os\tID=suse")
    assert says in one_of(judge(tree, described), "container.verbs.library").remedy


def test_what_the_host_itself_lacks_is_the_hosts_to_install() -> None:
    described, tree = node(drop=["library|", "driver|"], image="built")
    found = one_of(judge(tree, described), "container.verbs.library")
    assert "on the host (role rdma)" in found.remedy
    assert one_of(judge(tree, described), "container.nccl.library").result == SKIP


def test_devices_that_the_site_names_are_all_that_is_expected() -> None:
    described, tree = node(drop=[f"device|uverbs{at}" for at in range(2, 10)])
    two = ["/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1:/dev/infiniband/uverbs1"]
    found = one_of(judge(tree, described, devices=two), "container.device.uverbs")
    assert (found.result, found.expected_from) == (PASS, "inventory")
    found = one_of(judge(tree, described, devices=["a.b/rdma=all"]), "container.device.uverbs")
    assert (found.result, found.observed[:7]) == (FAIL, "2 of 10")


def test_a_host_without_device_files_is_not_the_containers_fault() -> None:
    described, tree = node()
    tree.remove("/dev/infiniband")
    checks = judge(tree, described)
    # Nor is it proved that a container gets any.
    for check_id in ("container.device.uverbs", "container.device.opens"):
        assert one_of(checks, check_id).result == UNKNOWN
        assert "host.rdma.devices" in one_of(checks, check_id).cause
    assert verdict(checks) == "unknown"


def test_a_host_with_the_folder_and_without_devices_proves_nothing() -> None:
    described, tree = node(drop=["device|"])
    for name in tree.list("/dev/infiniband"):
        if name.startswith("uverbs"):
            tree.remove(f"/dev/infiniband/{name}")
    assert one_of(judge(tree, described), "container.device.uverbs").result == UNKNOWN


def test_hcas_that_nobody_can_tell_pass_nothing_that_depends_on_them() -> None:
    described, tree = node()
    tree.broken["/sys/bus/pci/devices"] = "permission denied"
    checks = judge(tree, described)
    for check_id in ("container.verbs.provider", "container.rdma.version"):
        assert one_of(checks, check_id).result == UNKNOWN
        assert "permission denied" in one_of(checks, check_id).cause


@pytest.mark.parametrize(
    ("drop", "checks"),
    [
        ("user|device|", {"container.device.opens", "container.verbs.opens"}),
        ("user|library|", {"container.verbs.opens"}),
    ],
)
def test_what_root_sees_and_the_user_does_not_is_not_skipped(drop: str, checks: set[str]) -> None:
    described, tree = node(drop=[drop])
    judged = judge(tree, described)
    assert {one.id for one in judged if one.result == FAIL} == checks
    assert {one.subject for one in judged if one.result == FAIL} == {"user 65534"}


RECORDED = {
    "engine": "docker",
    "image": "registry.example.com/train:25.10",
    "network": "rdma-net",
    "devices": ["/dev/infiniband/uverbs0"],
    "options": ["--env=TOKEN=secret"],
    "user": 7,
}


def recorded() -> tuple[Node, Tree]:
    described, tree = node()
    kept = read(RECORDED).kept().to_text()
    assert "secret" not in kept
    say(tree, "host\twish\t{}", f"host\twish\t{kept}")
    tree.recorded = True
    return described, tree


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("engine", "podman"),
        ("image", "registry.example.com/train:25.12"),
        ("network", "host"),
        ("devices", []),
        ("options", []),
        ("options", ["--env=TOKEN=other"]),
        ("user", 2001),
    ],
)
def test_a_bundle_of_another_container_proves_nothing_of_the_sites(key: str, value: Any) -> None:
    described, tree = recorded()
    checks = judge(tree, described, **{**RECORDED, key: value})
    assert {one.result for one in checks} == {UNKNOWN}
    assert f"asks for ({key}): collect again" in checks[0].cause


def test_a_bundle_is_judged_by_what_was_asked_for_when_it_was_made() -> None:
    described, tree = recorded()
    for desired in (RECORDED, {**RECORDED, "pull": True}, {}):
        judged = judge(tree, described, **desired)
        assert one_of(judged, "container.network.path").expected == ("network rdma-net with an interface")
    # Found, and asked for by name now: the same engine.
    say(tree, '"engine": "docker"', '"engine": ""')
    assert one_of(judge(tree, described, **RECORDED), "container.engine.usable").result == PASS


def test_a_bundle_without_the_named_engine_is_not_one_without_any() -> None:
    described, tree = node()
    reported = "host\tformat\t1\nhost\twish\t{}\nhost\tno_engine\tnone\nhost\tend\t3\n"
    tree.command("container_probe", reported.replace("{}", '{"engine": "podman"}'))
    tree.recorded = True
    assert {one.result for one in judge(tree, described)} == {FAIL, UNKNOWN}
    checks = judge(tree, described, engine="docker")
    assert {one.result for one in checks} == {UNKNOWN}


def test_nothing_to_ask_libibverbs_with_is_unknown_and_says_what_to_add() -> None:
    described, tree = node(drop=["opens"], add=["root|opens.by|nothing", "user|opens.by|nothing"])
    found = of(judge(tree, described), "container.verbs.opens")
    assert {one.result for one in found.values()} == {UNKNOWN}
    assert "ibverbs-utils" in found["root"].remedy


def test_another_network_needs_an_rdma_interface_for_roce_alone() -> None:
    plain = {"drop": ["net|"], "add": ["root|net|lo|plain", "root|net|net1|plain"]}
    described, tree = node(**plain)
    assert one_of(judge(tree, described, network="ib-net"), "container.network.path").result == PASS
    described, tree = node("hgx-h200-8-roce", **plain)
    found = one_of(judge(tree, described, network="roce-net"), "container.network.path")
    assert (found.result, found.expected_from) == (FAIL, "inventory")
    say(tree, "net\tnet1\tplain", "net\tnet1\trdma")
    checks = judge(tree, described, network="roce-net")
    assert one_of(checks, "container.network.path").result == PASS


@pytest.mark.parametrize(
    ("version", "result"), [("50.0-2ubuntu0.2", FAIL), ("39.0-1", FAIL), ("51.0-1", PASS), ("2510.0.11-1", PASS)]
)
def test_only_releases_that_were_seen_to_fail_are_held_against_an_image(version: str, result: str) -> None:
    described, tree = node("hgx-b300-8")
    say(tree, "libibverbs1\t56.0-1", f"libibverbs1\t{version}")
    assert one_of(judge(tree, described), "container.rdma.version").result == result
    described, tree = node()
    say(tree, "libibverbs1\t56.0-1", f"libibverbs1\t{version}")
    assert one_of(judge(tree, described), "container.rdma.version").result == PASS


def test_a_release_that_nothing_tells_is_unknown_where_it_matters() -> None:
    gone = ["package", "library|/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14"]
    described, tree = node("hgx-b300-8", drop=gone)
    assert one_of(judge(tree, described), "container.rdma.version").result == UNKNOWN


def test_harmless_settings_of_an_image_pass_and_are_named() -> None:
    described, tree = node(add=["root|env|NCCL_DEBUG=INFO"])
    found = one_of(judge(tree, described), "container.nccl.env")
    assert found.result == PASS
    assert "NCCL_DEBUG" in found.observed


def test_comments_make_no_other_nccl_conf() -> None:
    described, tree = node(add=["root|conf.line|", "root|conf.line|# a note"])
    found = of(judge(tree, described), "container.nccl.conf")
    assert {one.result for one in found.values()} == {PASS}


def test_soft_roce_that_the_site_asks_for_is_judged_without_an_hca() -> None:
    described, tree = node()
    for path in [path for path in tree.links if path.startswith("/sys/bus/pci/devices/")]:
        if tree.read(f"{path}/vendor").strip() == "0x15b3":
            del tree.links[path]
    ids = ("container.device.uverbs", "container.verbs.provider", "container.limit.memlock")
    checks = judge(tree, described)
    assert {one.result for one in checks if one.id in ids} == {SKIP}
    described.expect["soft_roce"] = {"rxe0": "eth1"}
    checks = judge(tree, described)
    assert SKIP not in {one.result for one in checks if one.id in ids}
    found = one_of(checks, "container.verbs.provider")
    assert (found.result, found.expected) == (FAIL, "rxe for this host's RDMA devices")
