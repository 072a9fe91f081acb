# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import observe as stack
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import Dkms, Driver
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import Package
from tests.gauntlet.tree import Tree

KERNEL = "6.8.0-88-generic"
MACHINE = Machine(kernel=Reading(KERNEL))
DPKG = """Package: dpkg
Status: install ok installed
Architecture: amd64
Version: 1.22

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.39

Package: libnccl2
Status: install ok installed
Architecture: amd64
Version: 2.28.7-1

Package: vim
Status: install ok installed
Architecture: amd64
Version: 9

Package: zlib1g
Status: install ok installed
Architecture: amd64
Version: 1.3

"""
RPM = "bash 5-1 x86_64\nglibc 2-1 x86_64\nlibnccl 2.28.3-1 x86_64\nrpm 4-1 x86_64\n"
NVRM = "NVRM version: NVIDIA UNIX {}  Release Build\nGCC version: 13"
OPEN = NVRM.format("Open Kernel Module for x86_64  580.105.08")
CLOSED = NVRM.format("x86_64 Kernel Module  535.183.06")


def host(**files: str) -> Tree:
    tree = Tree()
    tree.file("/etc/os-release", "ID=ubuntu\nID_LIKE=debian\n")
    tree.file("/var/lib/dpkg/status", DPKG)
    for path, text in files.items():
        tree.file(path, text)
    return tree


def test_an_empty_host_says_what_is_missing_and_what_could_not_be_looked_at() -> None:
    facts = stack.observe(Tree(), MACHINE)
    assert facts.devices.missing
    assert facts.mlx5.missing
    assert facts.driver.missing
    assert facts.files.missing
    assert facts.dkms.value == ()
    assert facts.peer.modules.value == ()
    assert facts.peer.clients.value == ()
    assert facts.peer.symbol.value is False
    assert not facts.ofed.known
    assert not facts.packages.known
    assert "dpkg" in facts.packages.why
    assert "rpm" in facts.packages.why


def test_only_packages_that_some_check_asks_for_are_kept() -> None:
    facts = stack.observe(host(), MACHINE)
    assert facts.packages.value == (Package("libnccl2", "2.28.7-1", "amd64"),)
    assert facts.database == "dpkg"


@pytest.mark.parametrize(
    ("told", "database"),
    [
        ("ID=ubuntu\nID_LIKE=debian\n", "dpkg"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "rpm"),
        ("ID='sles'\n", "rpm"),
        ("ID=azurelinux\r\n", "rpm"),
        ("ID=flatcar\n", "dpkg"),
    ],
)
def test_the_system_says_which_database_counts(told: str, database: str) -> None:
    tree = host()
    tree.file("/etc/os-release", told)
    tree.command("rpm_qa", RPM)
    tree.command("rpm_names", "bash\nglibc\nlibnccl\nrpm\n")
    facts = stack.observe(tree, MACHINE)
    assert facts.database == database
    assert len(facts.packages.value or ()) == 1


def test_the_database_of_a_system_is_not_replaced_by_another() -> None:
    tree = host()
    tree.broken["/var/lib/dpkg/status"] = "permission denied"
    tree.command("rpm_qa", RPM)
    tree.command("rpm_names", "bash\nglibc\nlibnccl\nrpm\n")
    facts = stack.observe(tree, MACHINE)
    assert (facts.packages.known, facts.packages.why) == (
        False,
        "/var/lib/dpkg/status: permission denied",
    )


@pytest.mark.parametrize(
    ("cached", "on_disk", "found"),
    [
        ((), "/usr/lib64/libnccl.so.2", ("/usr/lib64/libnccl.so.2",)),
        (("/lib/libnccl.so.2",), "/lib/libnccl.so.2", ("/lib/libnccl.so.2",)),
        (("/lib/libnccl.so.2",), "/elsewhere", ()),  # the cache is older than the disk
        ((), "/usr/local/lib/libnccl.so.2", ()),
        (("/opt/nccl/lib/libnccl.so.2",), "/opt/nccl/lib/libnccl.so.2", ()),
    ],
)
def test_nccl_is_looked_for_where_packages_put_it(
    cached: tuple[str, ...], on_disk: str, found: tuple[str, ...]
) -> None:
    tree = host()
    listed = "".join(f"\tlibnccl.so.2 (libc6,x86-64) => {path}\n" for path in cached)
    tree.command("ldconfig", f"{len(cached)} libs found in cache `/etc/ld.so.cache'\n{listed}")
    tree.file(on_disk, "")
    assert stack.observe(tree, MACHINE).nccl.value == found


def test_a_database_that_was_cut_tells_nothing() -> None:
    tree = host()
    tree.file("/var/lib/dpkg/status", DPKG[:-1])
    assert not stack.observe(tree, MACHINE).packages.known


@pytest.mark.parametrize(
    ("stdout", "rc", "release", "why"),
    [
        ("MLNX_OFED_LINUX-24.10-1.1.4.0:\n", 0, "24.10-1.1.4.0", ""),
        ("bash: ofed_info: command not found\n", 127, None, "command not found"),
        ("", 127, None, "exit status 127"),
        ("MLNX_OFED_LINUX-24.10-1.1.4.0:\n", 1, None, "status 1"),
    ],
)
def test_ofed_info_is_believed_only_if_it_worked(stdout: str, rc: int, release: str | None, why: str) -> None:
    tree = host()
    tree.command("ofed_info", stdout, rc)
    ofed = stack.observe(tree, MACHINE).ofed
    assert (ofed.value.release if ofed.value else None) == release
    assert why in ofed.why


def test_a_loaded_module_without_a_version_is_no_missing_module() -> None:
    tree = host()
    tree.folder("/sys/module/mlx5_core")
    assert stack.observe(tree, MACHINE).mlx5.value == ""
    tree.file("/sys/module/mlx5_core/version", "25.10-1.2.8")
    assert stack.observe(tree, MACHINE).mlx5.value == "25.10-1.2.8"
    tree.broken["/sys/module/mlx5_core/version"] = "permission denied"
    assert not stack.observe(tree, MACHINE).mlx5.known


def test_dkms_tells_every_version_and_the_kernels_it_was_built_for() -> None:
    tree = host()
    base = "/var/lib/dkms/nvidia"
    tree.file(f"{base}/580.105.08/{KERNEL}/x86_64/module/nvidia.ko", "")
    tree.folder(f"{base}/580.105.08/build")
    tree.symlink(f"{base}/580.105.08/source", "/usr/src/nvidia-580.105.08")
    tree.symlink(f"{base}/kernel-{KERNEL}-x86_64", f"580.105.08/{KERNEL}/x86_64")
    tree.folder(f"{base}/570.1/source")
    tree.folder("/var/lib/dkms/zfs/2.2")
    assert stack.observe(tree, MACHINE).dkms.value == (
        Dkms("nvidia", "570.1", ()),
        Dkms("nvidia", "580.105.08", (KERNEL,)),
    )
    tree.broken[f"{base}/570.1"] = "permission denied"
    assert not stack.observe(tree, MACHINE).dkms.known


def make_log(kernel: str) -> str:
    return f"DKMS (dkms-3.2.2) make.log for nvidia/570.1 for kernel {kernel} (x86_64)\n\nas: No space left on device\n"


@pytest.mark.parametrize(
    ("built", "log", "why"),
    [
        ((), make_log(KERNEL), "the disk is full"),
        ((), make_log("6.1.0-1"), ""),
        ((), make_log(f"{KERNEL}-rt"), ""),
        ((), None, ""),
        ((), "", "its log is empty, as where the disk is full"),
        ((KERNEL,), make_log(KERNEL), ""),
    ],
)
def test_the_log_of_a_build_counts_for_its_own_kernel(built: tuple[str, ...], log: str | None, why: str) -> None:
    tree = host()
    home = "/var/lib/dkms/nvidia/570.1"
    tree.folder(f"{home}/build")
    for kernel in built:
        tree.file(f"{home}/{kernel}/x86_64/module/nvidia.ko", "")
    if log is not None:
        tree.file(f"{home}/build/make.log", log)
    (found,) = stack.observe(tree, MACHINE).dkms.value or ()
    assert (found.kernels, found.why, bool(found.failed)) == (built, why, bool(why and log))


def test_headers_are_there_where_a_build_finds_its_makefile() -> None:
    tree = host()
    assert stack.observe(tree, MACHINE).headers.value is False
    tree.file(f"/lib/modules/{KERNEL}/build/Makefile", "")
    assert stack.observe(tree, MACHINE).headers.value is True


def test_depmods_list_is_read_for_the_running_kernel() -> None:
    tree = host()
    path = f"/lib/modules/{KERNEL}/modules.dep"
    tree.file(path, "updates/dkms/nvidia.ko.zst:\nkernel/fs/ext4/ext4.ko.zst:\n")
    assert stack.observe(tree, MACHINE).files.value == {"nvidia": "updates/dkms/nvidia.ko.zst"}
    tree.files[path] = b"updates/dkms/nvid"
    assert "cut off" in stack.observe(tree, MACHINE).files.why
    assert not stack.observe(tree, Machine()).files.known


@pytest.mark.parametrize(
    ("text", "driver"),
    [(OPEN, Driver("580.105.08", True)), (CLOSED, Driver("535.183.06", False)), ("NVRM", None)],
)
def test_the_loaded_driver_says_version_and_kind(text: str, driver: Driver | None) -> None:
    tree = host()
    tree.file("/proc/driver/nvidia/version", text)
    assert stack.observe(tree, MACHINE).driver.value == driver


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"cuda": {"version": 13}}', "{" * 5000])
def test_a_cuda_file_of_another_shape_tells_nothing(text: str) -> None:
    tree = host()
    tree.file("/usr/local/cuda/version.json", text)
    cuda = stack.observe(tree, MACHINE).cuda
    assert (cuda.known, cuda.missing) == (False, False)


def test_cuda_says_its_version() -> None:
    tree = host()
    tree.file("/usr/local/cuda/version.json", '{"cuda": {"version": "13.0.1"}}')
    assert stack.observe(tree, MACHINE).cuda.value == "13.0.1"


def test_peer_memory_is_looked_for_on_both_sides() -> None:
    tree = host()
    tree.folder("/sys/module/nvidia_peermem")
    tree.file("/usr/src/ofa_kernel/default/Module.symvers", "0x1 ib_register_peer_memory_client x")
    peer = stack.observe(tree, MACHINE).peer
    assert (peer.modules.value, peer.clients.value, peer.symbol.value) == (
        ("nvidia_peermem",),
        (),
        True,
    )
    tree.file("/sys/kernel/mm/memory_peers/nv_mem/version", "1")
    peer = stack.observe(tree, MACHINE).peer
    assert (peer.clients.value, peer.symbol.known) == (("nv_mem",), False)
    tree.broken["/sys/module/nvidia_peermem"] = "permission denied"
    assert not stack.observe(tree, MACHINE).peer.modules.known


def test_every_place_of_a_libibverbs_is_listed() -> None:
    tree = host()
    tree.file("/usr/lib64/libibverbs.so.1", "ELF")
    assert stack.observe(tree, MACHINE).verbs.value == ("/usr/lib64/libibverbs.so.1",)
    tree.broken["/usr/local/lib/libibverbs.so.1"] = "permission denied"
    assert not stack.observe(tree, MACHINE).verbs.known


def test_an_infiniband_port_makes_a_fabric() -> None:
    tree = host()
    tree.file("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet")
    assert stack.observe(tree, MACHINE).fabric.value is False
    tree.broken["/sys/class/infiniband/mlx5_0/ports/1/link_layer"] = "permission denied"
    assert not stack.observe(tree, MACHINE).fabric.known
    tree.file("/sys/class/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand")
    assert stack.observe(tree, MACHINE).fabric.value is True
