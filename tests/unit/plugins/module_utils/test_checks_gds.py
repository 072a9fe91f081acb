# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect Storage: from the evidence of a simulated node, bent at the edges of each judgement."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.observe import SANDBOX_MARK
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import (
    check_gds,
    check_gds_mounts,
    observe as stack,
)
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.gds_facts import GdsMount
from ansible_collections.ibready.cluster.plugins.module_utils._data import gds
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import (
    COMMANDS,
    Bundle,
    Evidence,
    Live,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    ExpectationError,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import gdscheck
from ansible_collections.ibready.cluster.plugins.module_utils._parse.gdscheck import Driver, Gdscheck
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mounts import Mount
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.nodes.pci import place
from tests.gauntlet.tree import Tree
from tests.unit.parsers import SAMPLES

BOARD = "dgx-h100-8"
BEEGFS = "/etc/beegfs/beegfs-client.conf"
ROUTES = {route.labels[0]: route for route in gds.ROUTES}


def tool(compat: bool = True, force: bool = False, p2pdma: bool = False, **drivers: str) -> Gdscheck:
    said = tuple(Driver(name.replace("_", " "), tuple(modes.lower().split(", "))) for name, modes in drivers.items())
    return Gdscheck("1.16.0.0", "2.12", said, compat, force, p2pdma, 8, (), "")


@pytest.mark.parametrize(
    ("route", "told", "ways"),
    [
        ("NVMe", tool(NVMe="nvfs, compat"), ("nvidia-fs", "compat")),
        ("NVMe", tool(NVMe="c2c, nvfs, compat"), ("p2pdma", "nvidia-fs", "compat")),
        ("NVMe", tool(NVMe="compat"), ("compat",)),
        ("NVMe", tool(NVMe="Unsupported"), ("compat",)),
        ("NVMe", tool(NVMe="Unsupported", compat=False), ()),
        ("NVMe", tool(NVMe="Supported", compat=False), ("nvidia-fs",)),
        ("NVMe", tool(NVMe="nvfs, compat", force=True), ("compat",)),
        ("NVMe", tool(NVMe_P2PDMA="Supported", NVMe="Unsupported", p2pdma=True), ("p2pdma", "compat")),
        # Up to 1.15 the line tells what the platform can, and the switch what is done.
        ("NVMe", tool(NVMe_P2PDMA="Supported", NVMe="Supported"), ("nvidia-fs", "compat")),
        ("DDN EXAScaler", tool(FSx_Lustre="Supported", DDN_EXAScaler="compat"), ("compat", "nvidia-fs")),
        ("DDN EXAScaler", tool(LUSTRE="Supported"), ("nvidia-fs", "compat")),
        # gdscheck tells so wherever the global switch is on.
        ("IBM Spectrum Scale", tool(IBM_Spectrum_Scale="p2pdma, compat", p2pdma=True), ("compat",)),
        ("WekaFS", tool(WekaFS="dmabuf, compat"), ("RDMA", "compat")),
        ("BeeGFS", tool(NVMe="nvfs"), ()),
    ],
)
def test_the_way_that_is_taken_first(route: str, told: Gdscheck, ways: tuple[str, ...]) -> None:
    assert check_gds.ways(told, ROUTES[route]) == ways


def test_every_word_of_gdscheck_is_a_way() -> None:
    assert set(gds.MODES.values()) == {gds.NVIDIA_FS, gds.P2PDMA, gds.RDMA, gds.COMPAT}
    assert {way for route in gds.ROUTES for way in route.ways} <= set(gds.MODES.values())


def judged(
    *, expect: dict[str, Any] | None = None, more: dict[str, Any] | None = None, broken: dict[str, str] | None = None
) -> dict[str, Check]:
    """stack.gds.* of the board, by id and subject; its own expectations where there are none."""
    node = render.node(BOARD)
    if expect is not None:
        gone = {key: value for key, value in node.expect.items() if not key.startswith("gds")}
        node.expect = {**gone, **expect}
    node.more = {**node.more, **(more or {})}
    tree = render.render(node)
    tree.broken.update(broken or {})
    return judge(node, tree)


def judge(node: Node, tree: Evidence) -> dict[str, Check]:
    """As the area does it, without the others."""
    expect = from_inventory(node.expect)
    host = machine.observe(tree)
    checks = check_gds.judge(stack.observe(tree, host, expect), host, expect)
    return {
        f"{check.id[len('stack.gds.') :]} {check.subject}": check
        for check in checks
        if check.id.startswith("stack.gds")
    }


def results(checks: dict[str, Check]) -> dict[str, str]:
    return {name: check.result for name, check in checks.items()}


def test_where_nobody_speaks_of_it_nothing_is_asked() -> None:
    node = render.node("hgx-h100-8")
    tree = render.render(node)
    asked: list[str] = []
    tree.run = lambda name, *args: asked.append(name) or Tree.run(tree, name, *args)  # type: ignore[method-assign,func-returns-value]
    checks = judge(node, tree)
    assert set(results(checks).values()) == {"skip"}
    assert "gdscheck" not in asked


@pytest.mark.parametrize(
    ("why", "result"), [("permission denied", "unknown"), ("gave no complete answer within 90 s", "unknown")]
)
def test_a_tool_that_could_not_be_asked_passes_nothing(why: str, result: str) -> None:
    found = results(judged(broken={"gdscheck": why}))
    assert {found[name] for name in ("mode /data", "mode /raid", "mode /lustre", "platform gds")} == {result}
    assert found["mount /data"] == "pass"


def test_disks_of_every_mount_are_asked_for_whatever_else_is_mounted() -> None:
    node = render.node("hgx-h100-8")
    node.more = {**node.more, "modules": [*node.more.get("modules", ()), "nvidia_fs"]}
    tree = render.render(node)
    # A node of Kubernetes: volumes of containers by the hundred, and the disk below them once and again.
    crowd = [f"overlay /run/c{number} overlay rw 0 0\n/dev/md7 /v{number} xfs rw 0 0" for number in range(200)]
    tree.file("/proc/self/mounts", "\n".join([*crowd, "/dev/md8 /data xfs rw 0 0"]))
    asked: list[str] = []
    tree.list = lambda path: asked.append(path) or Tree.list(tree, path)  # type: ignore[method-assign,func-returns-value]
    judge(node, tree)
    assert [asked.count(f"/sys/class/block/{name}/slaves") for name in ("md7", "md8")] == [1, 1]


def in_bundle(tree: Tree, node: Node, place: Path) -> Bundle:
    """What is collected of the host where the site says nothing of GPUDirect Storage."""
    unsaid = {key: value for key, value in node.expect.items() if not key.startswith("gds")}
    collect.collect(tree, str(place), "host", "2026-01-01T00:00:00Z", unsaid)
    return Bundle(place / "host")


def test_a_bundle_of_a_host_that_speaks_of_it_is_judged_by_mount_points_that_were_named_later(tmp_path: Path) -> None:
    node = render.node(BOARD)
    more = ["/dev/mapper/vg /vg xfs rw 0 0", f"beegfs_nodev /bee beegfs rw,cfgFile={BEEGFS} 0 0"]
    node.more["gds"] = {**node.more["gds"], "mounts": [*node.more["gds"]["mounts"], *more]}
    node.expect = {**node.expect, "gds_mounts": [*node.expect["gds_mounts"], "/vg", "/bee", "/gone"]}
    tree = render.render(node)
    tree.symlink("/dev/mapper/vg", "../dm-0")
    tree.folder("/sys/devices/virtual/block/dm-0/slaves/md0")
    tree.symlink("/sys/class/block/dm-0", "../../devices/virtual/block/dm-0")
    live = judge(node, tree)
    assert {live[f"mount {point}"].result for point in ("/data", "/raid", "/lustre", "/vg")} == {"pass"}
    later = judge(node, in_bundle(tree, node, tmp_path))
    assert {name: (check.result, check.observed) for name, check in later.items()} == {
        name: (check.result, check.observed) for name, check in live.items()
    }


def test_a_bundle_of_a_host_that_was_not_looked_at_is_unknown(tmp_path: Path) -> None:
    node = render.node("hgx-h100-8")
    bundle = in_bundle(render.render(node), node, tmp_path)
    node.expect = {**node.expect, "gds": "compat", "gds_mounts": ["/data"]}
    found = results(judge(node, bundle))
    assert (found["mode /data"], found["platform gds"]) == ("unknown", "unknown")


def test_a_tool_that_is_not_installed_is_unknown_where_gds_is_wanted() -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    del tree.commands["gdscheck"]
    found = results(judge(node, tree))
    assert (found["mode /data"], found["platform gds"]) == ("unknown", "unknown")
    node.expect = {"link_layer": "InfiniBand", "ignore": ["mlx5_8", "mlx5_9"]}
    found = results(judge(node, tree))
    assert (found["mode gds"], found["platform gds"], found["module nvidia_fs"]) == ("skip", "skip", "pass")


def test_a_tool_that_says_what_is_not_installed_is_itself_installed() -> None:
    node = render.node("hgx-h100-8")
    node.more = {**node.more, "modules": [*node.more.get("modules", ()), "nvidia_fs"]}
    tree = render.render(node)
    tree.command("gdscheck", "", 1, "gdscheck: libcufile.so.0: the package libcufile is not installed")
    check = judge(node, tree)["platform gds"]
    assert (check.result, "libcufile is not installed" in check.cause) == ("unknown", True)


@pytest.mark.parametrize(
    "place",
    [
        "/etc/cufile.json",
        "/proc/self/mounts",
        "/proc/driver/nvidia-fs/version",
        "ip_addr",
        "/sys/class/infiniband/mlx5_8/device/net",
    ],
)
def test_what_could_not_be_read_is_unknown(place: str) -> None:
    checks = judged(broken={place: "permission denied"})
    assert "fail" not in results(checks).values()
    assert any("permission denied" in check.cause for check in checks.values() if check.result == "unknown")


@pytest.mark.parametrize(
    ("expect", "result", "observed"),
    [
        ({"gds": "nvidia-fs"}, "pass", "NVMe by nvidia-fs, NFS by nvidia-fs, DDN EXAScaler by nvidia-fs"),
        ({"gds": "p2pdma"}, "fail", "NVMe by nvidia-fs, NFS by nvidia-fs, DDN EXAScaler by nvidia-fs"),
        ({"gds": "compat"}, "fail", "NVMe by nvidia-fs, NFS by nvidia-fs, DDN EXAScaler by nvidia-fs"),
    ],
)
def test_without_mount_points_any_file_system_shows_the_way(expect: dict[str, Any], result: str, observed: str) -> None:
    check = judged(expect=expect)["mode gds"]
    assert (check.result, check.observed) == (result, observed)


def test_compat_is_what_a_site_may_want() -> None:
    more = {"gds": {**render.node(BOARD).more["gds"], "drivers": {}}}
    check = judged(expect={"gds": "compat"}, more=more)["mode gds"]
    assert (check.result, check.observed) == ("pass", "compat for every file system")
    check = judged(expect={"gds": "compat", "gds_mounts": ["/data"]}, more=more)["mode /data"]
    assert (check.result, check.observed) == ("pass", "NFS by compat")


@pytest.mark.parametrize("way", ["nvidia-fs", "compat"])
def test_what_another_way_does_proves_no_wanted_way(way: str) -> None:
    # With addresses in cufile.json gdscheck has RDMA to Weka and Spectrum Scale, mounted or not.
    more = {"gds": {**render.node(BOARD).more["gds"], "drivers": {"WekaFS": "dmabuf, compat"}}}
    check = judged(expect={"gds": way}, more=more)["mode gds"]
    assert (check.result, check.observed) == ("fail", "WekaFS by RDMA")


def test_no_way_at_all_is_not_compat() -> None:
    node = render.node("hgx-a100-8")
    node.expect = {"gds": "compat"}
    node.more["gds"] = {**node.more["gds"], "drivers": {}}
    tree = render.render(node)
    said = tree.commands["gdscheck"].stdout
    tree.command("gdscheck", said.replace("use_compat_mode : true", "use_compat_mode : false"))
    check = judge(node, tree)["mode gds"]
    assert (check.result, check.observed) == ("fail", "no way to any file system")


def test_mount_points_alone_want_any_direct_way() -> None:
    found = judged(expect={"gds_mounts": ["/data/"]})
    assert (found["mode /data"].result, found["mode /data"].expected) == ("pass", "nvidia-fs or p2pdma")
    assert results(found)["module nvidia_fs"] == "pass"


def test_where_any_direct_way_will_do_the_usual_one_is_looked_into() -> None:
    more = {"gds": {**render.node(BOARD).more["gds"], "drivers": {}, "hooked": ["nvme"]}}
    check = judged(expect={"gds_mounts": ["/data"]}, more=more)["mode /data"]
    assert (check.result, check.expected) == ("fail", "nvidia-fs or p2pdma")
    assert "did not hook into rpcrdma" in check.cause


def test_a_file_system_that_has_only_one_way_is_held_to_that() -> None:
    more = {"gds": {**render.node(BOARD).more["gds"], "p2pdma": True}}
    check = judged(expect={"gds": "p2pdma", "gds_mounts": ["/lustre"]}, more=more)["mode /lustre"]
    assert (check.result, check.observed, check.expected) == ("pass", "DDN EXAScaler by nvidia-fs", "nvidia-fs")


@pytest.mark.parametrize(
    ("dkms", "result"), [("2.27.3", "pass"), ("2.27.9", "pass"), ("2.28.0", "fail"), ("2.26.6", "fail")]
)
def test_the_loaded_module_is_the_installed_one(dkms: str, result: str) -> None:
    more = {"gds": {**render.node(BOARD).more["gds"], "dkms": dkms}}
    assert judged(more=more)["module nvidia_fs"].result == result


def test_a_module_that_was_held_against_nothing_does_not_pass() -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    tree.remove("/var/lib/dkms/nvidia-fs")
    # Built by other means than DKMS, it is new enough for cuFile.
    check = judge(node, tree)["module nvidia_fs"]
    assert (check.result, check.expected) == ("pass", "2.12 or newer")
    del tree.commands["gdscheck"]
    check = judge(node, tree)["module nvidia_fs"]
    assert (check.result, check.observed) == ("unknown", "2.27")
    node.expect = {key: value for key, value in node.expect.items() if not key.startswith("gds")}
    assert judge(node, tree)["module nvidia_fs"].result == "skip"
    tree.broken["gdscheck"] = "gave no complete answer within 90 s"
    assert judge(node, tree)["module nvidia_fs"].result == "unknown"


def test_what_dkms_has_for_another_kernel_is_not_the_installed_one() -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    tree.folder(f"/var/lib/dkms/nvidia-fs/2.26.6/{node.kernel}/x86_64")
    tree.file("/proc/driver/nvidia-fs/version", "version: 2.26")
    assert judge(node, tree)["module nvidia_fs"].result == "pass"
    tree.remove(f"/var/lib/dkms/nvidia-fs/2.26.6/{node.kernel}")
    tree.folder("/var/lib/dkms/nvidia-fs/2.26.6/5.4.0-1-generic/x86_64")
    check = judge(node, tree)["module nvidia_fs"]
    assert (check.result, check.observed) == ("fail", "2.26 is loaded, and DKMS has 2.27.3")


def test_proprietary_modules_keep_a_new_nvidia_fs_out() -> None:
    node = render.node(BOARD)
    node.modules, node.more["modules"] = "proprietary", ["rpcrdma", "lnet"]
    check = judge(node, render.render(node))["module nvidia_fs"]
    assert "takes NVIDIA's open kernel modules only" in check.cause
    node.more["gds"] = {**node.more["gds"], "nvidia_fs": "2.17.4"}
    check = judge(node, render.render(node))["module nvidia_fs"]
    assert (check.result, "open kernel modules" in check.cause) == ("fail", False)


def test_a_host_without_gpus_and_a_node_without_hardware_are_skipped() -> None:
    node = render.node("ib-login")
    node.expect = {**node.expect, "gds": "nvidia-fs"}
    assert set(results(judge(node, render.render(node))).values()) == {"skip"}
    node = render.node(BOARD)
    tree = render.render(node)
    tree.file(SANDBOX_MARK, '{"what": "everything", "hardware": false}')
    tree.file("/run/.containerenv", "")
    checks = judge(node, tree)
    assert set(results(checks).values()) == {"skip"}
    assert "everything" in checks["mode gds"].cause


def mount(kind: str, device: str = "x:/y", *options: str, disks: dict[str, str] | None = None) -> GdsMount:
    held = Reading(disks) if disks is not None else Reading[dict[str, str]]()
    return GdsMount("/data", Reading(Mount(device, "/data", kind, options)), held)


@pytest.mark.parametrize(
    ("found", "label"),
    [
        (mount("nfs"), "NFS"),
        (mount("wekafs"), "WekaFS"),
        (mount("gpfs"), "IBM Spectrum Scale"),
        (mount("virtiofs"), "VIRTIOFS"),
        (mount("xfs", disks={"nvme0n1p1": "pcie", "nvme1n1": "pcie"}), "NVMe"),
        (mount("xfs", disks={"nvme0n1": "rdma"}), "NVMeOF"),
        (mount("xfs", disks={"nvme0n1": "pcie", "sda": ""}), "not on NVMe"),
        (mount("xfs"), ""),
        (mount("btrfs"), "no way to btrfs"),
    ],
)
def test_how_gds_reaches_what_is_mounted(found: GdsMount, label: str) -> None:
    route = check_gds_mounts.route_of(found)
    assert label == route.value.labels[0] if route.value else label in route.why


@pytest.mark.parametrize(
    ("line", "result", "says"),
    [
        ("a:/d /data nfs rw,proto=rdma 0 0", "pass", "nfs by rdma"),
        ("a:/d /data nfs rw,proto=rdma6 0 0", "pass", "nfs by rdma6"),
        ("a:/d /data nfs rw,proto=tcp6 0 0", "fail", "nfs by tcp6"),
        ("a:/d /data nfs rw 0 0", "unknown", "nfs"),
        ("weka/fs /data wekafs rw 0 0", "pass", "wekafs"),
        ("x /data fuse.sshfs rw 0 0", "fail", "fuse.sshfs"),
        ("192.0.2.1@o2ib1,192.0.2.2@o2ib1:/fs /data lustre rw 0 0", "pass", "lustre over o2ib1"),
        ("192.0.2.1@o2ib,198.51.100.1@tcp:/fs /data lustre rw 0 0", "fail", "lustre over o2ib, tcp"),
        ("mgs:/fs /data lustre rw 0 0", "unknown", "lustre"),
        ("/dev/nvme0n1 /data ext4 rw,data=ordered 0 0", "pass", "ext4 on nvme0n1 (pcie)"),
        ("/dev/nvme0n1 /data ext4 rw,data=writeback 0 0", "fail", "ext4 on nvme0n1 (pcie)"),
        ("/dev/nvme0n1p2 /data xfs rw 0 0", "pass", "xfs on nvme0n1p2 (pcie)"),
        ("/dev/sda1 /data xfs rw 0 0", "fail", "xfs on sda"),
        ("/dev/nvme9n1 /data xfs rw 0 0", "unknown", ""),
        # A volume on a partition of a RAID, and an encrypted, a thin volume's upon it.
        ("/dev/mapper/vg-data /data xfs rw 0 0", "pass", "xfs on nvme2n1 (pcie), nvme3n1 (pcie)"),
        ("/dev/mapper/thin /data xfs rw 0 0", "pass", "xfs on nvme2n1 (pcie), nvme3n1 (pcie)"),
        # A name that the kernel has no device of: nobody knows what lies below.
        ("/dev/root /data ext4 rw,data=ordered 0 0", "unknown", ""),
        ("/dev/mapper/gone /data xfs rw 0 0", "unknown", ""),
    ],
)
def test_a_mount_is_judged_by_kind_and_network(line: str, result: str, says: str) -> None:
    node = render.node(BOARD)
    node.expect = {**node.expect, "gds_mounts": ["/data"]}
    node.more["gds"] = {**node.more["gds"], "mounts": [line]}
    tree = render.render(node)
    tree.symlink("/dev/mapper/vg-data", "../dm-0")
    tree.symlink("/dev/mapper/thin", "../dm-3")
    for upper, lower in (("dm-3", "dm-2"), ("dm-2", "dm-1"), ("dm-1", "dm-0"), ("dm-0", "md0p1")):
        tree.folder(f"/sys/devices/virtual/block/{upper}/slaves/{lower}")
        tree.symlink(f"/sys/class/block/{upper}", f"../../devices/virtual/block/{upper}")
    tree.symlink("/sys/class/block/sda1", "../../devices/pci0000:00/0000:00:17.0/block/sda/sda1")
    tree.symlink("/sys/class/block/sda", "../../devices/pci0000:00/0000:00:17.0/block/sda")
    tree.folder("/sys/devices/virtual/block/md0/md0p1")
    tree.symlink("/sys/class/block/md0p1", "../../devices/virtual/block/md0/md0p1")
    check = judge(node, tree)["mount /data"]
    assert (check.result, check.observed) == (result, says)


@pytest.mark.parametrize(
    ("seen", "conf", "mine", "result", "says"),
    [
        (True, "connUseRDMA = true", BEEGFS, "pass", ""),
        (True, "", BEEGFS, "pass", ""),
        # stack.beegfs.transport skips such a client, for TCP is what the site wants of it.
        (True, "connUseRDMA = false", BEEGFS, "fail", "connUseRDMA is false"),
        (True, "connUseRDMA = false", "/etc/beegfs/other.conf", "unknown", "reads another file"),
        (False, "connUseRDMA = true", BEEGFS, "unknown", "/proc/fs/beegfs"),
    ],
)
def test_beegfs_is_left_to_its_own_check_where_that_judges_it(
    seen: bool, conf: str, mine: str, result: str, says: str
) -> None:
    node = render.node(BOARD)
    node.expect = {**node.expect, "gds_mounts": ["/data"]}
    node.more["gds"] = {**node.more["gds"], "mounts": [f"beegfs_nodev /data beegfs rw,cfgFile={mine} 0 0"]}
    tree = render.render(node)
    if seen:
        for role in ("meta_nodes", "storage_nodes"):
            tree.file(f"/proc/fs/beegfs/1-A/{role}", "s1 [ID: 1]\n   Connections: RDMA: 1 (192.0.2.9:8003);")
    tree.file(BEEGFS, conf)
    check = judge(node, tree)["mount /data"]
    assert (check.result, says in check.cause) == (result, True)


def test_where_compat_is_wanted_any_mount_will_do() -> None:
    node = render.node(BOARD)
    node.expect = {**node.expect, "gds": "compat", "gds_mounts": ["/data", "/gone"]}
    node.more["gds"] = {**node.more["gds"], "mounts": ["a:/d /data nfs rw,proto=tcp 0 0"]}
    found = results(judge(node, render.render(node)))
    assert (found["mount /data"], found["mount /gone"]) == ("pass", "fail")


def test_what_is_built_too_deep_or_cannot_be_seen_is_unknown() -> None:
    node = render.node(BOARD)
    node.expect = {**node.expect, "gds_mounts": ["/data"]}
    node.more["gds"] = {**node.more["gds"], "mounts": ["/dev/dm-40 /data xfs rw 0 0"]}
    tree = render.render(node)
    for number in range(41):
        lower = f"dm-{number - 1}" if number else "nvme1n1"
        tree.folder(f"/sys/devices/virtual/block/dm-{number}/slaves/{lower}")
        tree.symlink(f"/sys/class/block/dm-{number}", f"../../devices/virtual/block/dm-{number}")
    check = judge(node, tree)["mount /data"]
    assert (check.result, "dm-40" in check.cause) == ("unknown", True)
    node.more["gds"]["mounts"] = ["/dev/sda1 /data xfs rw 0 0"]
    tree = render.render(node)
    tree.broken["/sys/class/block/sda1"] = "permission denied"
    check = judge(node, tree)["mount /data"]
    assert (check.result, "permission denied" in check.cause) == ("unknown", True)


def test_nvme_by_tcp_is_no_direct_way() -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    tree.file("/sys/class/nvme/nvme1/transport", "tcp")
    assert judge(node, tree)["mount /raid"].result == "fail"
    tree.file("/sys/class/nvme/nvme1/transport", "rdma")
    found = judge(node, tree)
    assert found["mount /raid"].result == "pass"
    # Its way is that of NVMe over fabrics.
    assert found["mode /raid"].observed == "NVMeOF by compat"


@pytest.mark.parametrize(
    ("addresses", "result"),
    [
        ('["mlx5_0", "ib8"]', "pass"),
        ('["192.0.2.130"]', "pass"),
        ('["fe80::1%mlx5_0"]', "fail"),
        ('["storage7"]', "fail"),
        ("[]", "pass"),
        ('["127.0.0.1"]', "fail"),
    ],
)
def test_addresses_are_the_hosts_and_have_rdma(addresses: str, result: str) -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    text = tree.files["/etc/cufile.json"].decode()
    tree.file("/etc/cufile.json", text.replace('["192.0.2.130"]', addresses))
    assert judge(node, tree)["conf /etc/cufile.json"].result == result


def test_an_address_upon_a_vlan_or_a_bond_counts_by_its_gid() -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    text = tree.commands["ip_addr"].stdout.replace('"ib8"', '"bond0.20"')
    tree.command("ip_addr", text)
    assert judge(node, tree)["conf /etc/cufile.json"].result == "fail"
    tree.file(f"{place(node.hca('mlx5_8').path)}/infiniband/mlx5_8/ports/1/gid_attrs/ndevs/4", "bond0.20")
    assert judge(node, tree)["conf /etc/cufile.json"].result == "pass"


@pytest.mark.parametrize("place", ["ports", "ports/1/gid_attrs/ndevs"])
def test_gids_that_could_not_be_listed_make_no_address_strange(place: str) -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    tree.command("ip_addr", tree.commands["ip_addr"].stdout.replace('"ib8"', '"bond0.20"'))
    tree.broken[f"/sys/class/infiniband/mlx5_8/{place}"] = "permission denied"
    check = judge(node, tree)["conf /etc/cufile.json"]
    assert (check.result, "permission denied" in check.cause) == ("unknown", True)


def test_without_a_file_cufiles_defaults_count() -> None:
    node = render.node(BOARD)
    tree = render.render(node)
    tree.remove("/etc/cufile.json")
    assert judge(node, tree)["conf /etc/cufile.json"].result == "skip"


def test_a_changed_file_is_a_sign_and_the_packages_own_is_none() -> None:
    node = render.node("hgx-h100-8")
    tree = render.render(node)
    tree.file("/etc/cufile.json", '{"properties": {"allow_compat_mode": true}} // as packaged')
    assert set(results(judge(node, tree)).values()) == {"skip"}
    tree.file("/etc/cufile.json", '{"properties": {"rdma_dev_addr_list": ["192.0.2.99"]}}')
    assert results(judge(node, tree))["conf /etc/cufile.json"] == "fail"
    tree.file("/etc/cufile.json", '{"properties": {')
    assert results(judge(node, tree))["conf /etc/cufile.json"] == "fail"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"gds": "fast"}, "expect.gds must be one of nvidia-fs, p2pdma, compat"),
        ({"gds_mounts": "/data"}, "expect.gds_mounts must be a list"),
        ({"gds_mounts": ["data"]}, "expect.gds_mounts must name mount points"),
    ],
)
def test_what_nobody_can_expect_is_refused(raw: dict[str, Any], why: str) -> None:
    with pytest.raises(ExpectationError, match=why):
        from_inventory(raw)


def test_a_group_without_mount_points_wants_nothing_of_it() -> None:
    # A group of hosts takes back what all others have.
    assert from_inventory({"gds_mounts": []}).get("gds_mounts") is None


def test_a_place_is_named_once() -> None:
    found = from_inventory({"gds_mounts": ["/data/", "/data", "/"]}).get("gds_mounts")
    assert found is not None
    assert found.value == ("/data", "/")


def test_the_sample_is_read_to_its_end() -> None:
    found = gdscheck.parse((SAMPLES / "gdscheck.txt").read_text())
    assert check_gds.ways(found, ROUTES["NVMe"]) == ("p2pdma", "nvidia-fs", "compat")


def test_gdscheck_is_asked_where_it_lies_and_can_leave_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "gdscheck.py"
    program.write_text('#!/bin/sh\npwd\n(echo x > cufile.log) 2>&- || echo "no log"\necho "$@"\n')
    program.chmod(0o755)
    known = COMMANDS["gdscheck"]
    first, second = known.argv[0], known.or_at[0]
    assert second == f"{first}.py"
    places = {"argv": (f"{tmp_path}/gdscheck", "-p"), "or_at": (str(program),)}
    monkeypatch.setitem(COMMANDS, "gdscheck", known._replace(**places))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    output = Live().run("gdscheck")
    assert output.stdout == "/proc\nno log\n-p\n"
    assert not list(tmp_path.glob("*.log"))
    # What is there, and may not be run, is not absent.
    program.chmod(0o644)
    with pytest.raises(Unavailable, match=r"gdscheck\.py may not be executed"):
        Live().run("gdscheck")
    program.unlink()
    with pytest.raises(Unavailable, match="not installed"):
        Live().run("gdscheck")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to care")
def test_root_runs_no_program_of_a_place_where_others_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gdscheck"
    program.write_text("#!/bin/sh\necho run\n")
    program.chmod(0o755)
    monkeypatch.setitem(COMMANDS, "gdscheck", COMMANDS["gdscheck"]._replace(argv=(str(program),), or_at=("gdscheck",)))
    # Below /tmp, as CUDA on a share that the keeper of software may write to.
    with pytest.raises(Unavailable, match="is not root's alone") as refused:
        Live().run("gdscheck")
    assert "not installed" not in refused.value.reason
    # PATH is root's own word.
    monkeypatch.setitem(COMMANDS, "gdscheck", COMMANDS["gdscheck"]._replace(argv=("gdscheck",)))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Live().run("gdscheck").stdout == "run\n"
