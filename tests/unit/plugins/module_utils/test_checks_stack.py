# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import area as stack, check_installed
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import (
    Beegfs,
    Dkms,
    Driver,
    Linker,
    Loaded,
    PeerMemory,
    StackFacts,
    Verbs,
)
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.gds_facts import Gds
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.kmods_facts import KernelTree, KmodFacts
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.profiles import gpu_model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ofed_info import OfedInfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import Package

KERNEL = "6.8.0-88-generic"
ABSENT: Reading[Any] = Reading(None, "no such file", missing=True)
DENIED: Reading[Any] = Reading(None, "permission denied")

HCA = PciFunction("0000:18:00.0", "020700", "15b3", "1021", driver="mlx5_core")
CARD = PciFunction("0000:1b:00.0", "030200", "10de", "2330", driver="nvidia")
NIC = PciFunction("0000:01:00.0", "020000", "8086", "1572", driver="i40e")

VENDOR = {
    "doca-ofed": "3.2.0-125000",
    "mlnx-ofed-kernel-dkms": "25.10.OFED.25.10.1.2.8.1-1",
    "libibverbs1": "2510.0.11-1",
    "ibverbs-providers": "2510.0.11-1",
    "rdma-core": "2510.0.11-1",
    "nvidia-dkms-580": "580.105.08-1",
    "libnccl2": "2.28.7-1+cuda13.0",
}
INBOX = {"libibverbs1": "50.0-2", "rdma-core": "50.0-2", "libnccl2": "2.28.7-1+cuda13.0"}


WHOLE = Verbs(
    Reading(("/usr/lib/x86_64-linux-gnu/librdmacm.so.1",)),
    Reading({"mlx5": "/etc/libibverbs.d/mlx5.driver"}),
    Reading(("mlx5",)),
    Reading({"mlx5_0": "mlx5_core"}),
    Reading(False),
    Reading(""),
)


def packages(known: dict[str, str], *broken: str) -> Reading[tuple[Package, ...]]:
    return Reading(tuple(Package(name, known[name], "amd64", name not in broken) for name in known))


def facts(**bent: Any) -> StackFacts:
    """A host with DOCA-OFED, the open NVIDIA modules and nvidia_peermem."""
    healthy = StackFacts(
        ofed=Reading(OfedInfo("OFED-internal", "25.10-1.2.8.0")),
        packages=packages(VENDOR),
        database="dpkg",
        held=Reading(None, "none", True),
        brought=Reading(None, "none", True),
        lacks=Reading(()),
        files_of_ours=Reading(None, "none", True),
        repositories=Reading(None, "none", True),
        devices=Reading(("mlx5_0",)),
        fabric=Reading(True),
        mlx5=Reading("25.10-1.2.8"),
        files=Reading({"mlx5_core": "updates/dkms/mlx5_core.ko.zst", "nvidia": "updates/dkms/nvidia.ko.zst"}),
        dkms=Reading(
            (Dkms("nvidia", "580.105.08", (KERNEL,)), Dkms("mlnx-ofed-kernel", "25.10.OFED.25.10.1.2.8.1", (KERNEL,)))
        ),
        verbs=Reading(("/usr/lib/x86_64-linux-gnu/libibverbs.so.1",)),
        userspace=WHOLE,
        nccl=Reading(()),
        driver=Reading(Driver("580.105.08", True)),
        linker=Linker(Reading((Loaded("libcuda.so.1", "/usr/lib/libcuda.so.1", "580.105.08"),)), ABSENT),
        peer=PeerMemory(Reading(("nvidia_peermem",)), Reading(("nv_mem",))),
        cuda=Reading("13.0.1"),
        ompi=ABSENT,
        ucx=ABSENT,
        next=KmodFacts(KERNEL, Reading(())),
        beegfs=Beegfs(ABSENT, ABSENT),
        gds=Gds(ABSENT),
    )
    return replace(healthy, **bent)


def inbox(**bent: Any) -> StackFacts:
    """The same host with the distribution's stack: no ofed_info, no version, DMA-BUF only."""
    return facts(
        **{
            "ofed": Reading(None, "ofed_info: not installed"),
            "packages": packages(INBOX),
            "mlx5": Reading(""),
            "dkms": Reading((Dkms("nvidia", "580.105.08", (KERNEL,)),)),
            "files": Reading({"mlx5_core": "kernel/mlx5_core.ko", "nvidia": "updates/nvidia.ko"}),
            "peer": PeerMemory(Reading(()), Reading(()), Reading(False)),
            **bent,
        }
    )


def machine(**bent: Any) -> Machine:
    healthy = Machine(pci=Reading((CARD, HCA)), gpus=Reading((gpu_model("H100 SXM5"),)), kernel=Reading(KERNEL))
    return replace(healthy, **bent)


def judge(seen: StackFacts, host: Machine | None = None, expect: dict[str, Any] | None = None) -> list[Check]:
    return stack.judge(seen, host or machine(), from_inventory(expect))


def results(seen: StackFacts, host: Machine | None = None, expect: dict[str, Any] | None = None) -> dict[str, str]:
    return {f"{one.id} {one.subject}": one.result for one in judge(seen, host, expect)}


def bad(seen: StackFacts, host: Machine | None = None, expect: dict[str, Any] | None = None) -> dict[str, str]:
    return {k: v for k, v in results(seen, host, expect).items() if v in ("fail", "unknown")}


def cause(seen: StackFacts, check_id: str, host: Machine | None = None, expect: dict[str, Any] | None = None) -> str:
    return next(one.cause for one in judge(seen, host, expect) if one.id == check_id and one.cause)


@pytest.mark.parametrize("seen", [facts(), inbox()])
def test_a_healthy_host_has_no_findings(seen: StackFacts) -> None:
    assert bad(seen) == {}
    passed = [name for name, result in results(seen).items() if result == "pass"]
    assert len(passed) >= 8


FAULTS = [
    pytest.param({"mlx5": Reading("")}, {"stack.rdma.loaded mlx5_core": "fail"}, id="the kernel's own driver"),
    pytest.param(
        {"mlx5": Reading("24.10-1.1.4")},
        {"stack.rdma.loaded mlx5_core": "fail"},
        id="the release before is still loaded",
    ),
    pytest.param({"mlx5": ABSENT}, {"stack.rdma.loaded mlx5_core": "fail"}, id="the driver is not loaded"),
    pytest.param({"mlx5": DENIED}, {"stack.rdma.loaded mlx5_core": "unknown"}, id="nobody may look at it"),
    pytest.param(
        {"packages": packages({**VENDOR, "mlnx-ofed-all": "24.10-1.1.4.0"})},
        {"stack.rdma.single host": "fail"},
        id="two vendors' stacks",
    ),
    pytest.param(
        {"packages": packages({**VENDOR, "rdma-core": "61.0-1"})},
        {"stack.rdma.single host": "fail"},
        id="libraries of two builds",
    ),
    pytest.param(
        {"packages": packages({**VENDOR, "mlnx-ofed-kernel-dkms": "24.10.OFED.24.10.1.1.4.1-1"})},
        {"stack.rdma.single host": "fail", "stack.rdma.userspace libibverbs": "fail"},
        id="kernel modules of another release",
    ),
    pytest.param(
        {"verbs": Reading(("/usr/lib64/libibverbs.so.1", "/usr/local/lib/libibverbs.so.1"))},
        {"stack.rdma.single host": "fail"},
        id="two libibverbs",
    ),
    pytest.param(
        {"verbs": DENIED},
        {"stack.rdma.single host": "unknown", "stack.rdma.verbs libibverbs": "unknown"},
        id="libraries cannot be listed",
    ),
    pytest.param(
        {
            "packages": packages(
                {
                    name: "50.0-2" if name in INBOX and name != "libnccl2" else version
                    for name, version in VENDOR.items()
                    if name != "ibverbs-providers"
                }
            )
        },
        {"stack.rdma.userspace libibverbs": "fail"},
        id="the distribution's user space",
    ),
    pytest.param(
        {"packages": packages(VENDOR, "nvidia-dkms-580")},
        {"stack.packages.whole host": "fail"},
        id="a half configured package",
    ),
    pytest.param(
        {"files": Reading({"mlx5_core": "updates/mlx5_core.ko"})},
        {"stack.kmod.built nvidia": "fail"},
        id="no NVIDIA module for this kernel",
    ),
    pytest.param(
        {"files": Reading({"mlx5_core": "kernel/mlx5_core.ko", "nvidia": "extra/nvidia.ko"})},
        {"stack.kmod.built mlx5_core": "fail"},
        id="no vendor's HCA module for this kernel",
    ),
    pytest.param(
        {"files": DENIED},
        {"stack.kmod.built nvidia": "unknown", "stack.kmod.built mlx5_core": "unknown"},
        id="modules.dep cannot be read",
    ),
    pytest.param(
        {"files": ABSENT},
        {"stack.kmod.built nvidia": "unknown", "stack.kmod.built mlx5_core": "unknown"},
        id="no modules.dep, though packages say that there should be one",
    ),
    pytest.param(
        {"packages": DENIED},
        {
            "stack.rdma.single host": "unknown",
            "stack.rdma.userspace libibverbs": "unknown",
            "stack.packages.whole host": "unknown",
            "stack.gpudirect.nccl host": "unknown",
        },
        id="no package database",
    ),
    pytest.param(
        {"devices": DENIED, "fabric": Reading(False)},
        {"stack.gpudirect.path host": "unknown", "stack.gpudirect.nccl host": "unknown"},
        id="RDMA devices cannot be listed",
    ),
]


@pytest.mark.parametrize(("bent", "expected"), FAULTS)
def test_a_fault_is_found_and_nothing_else(bent: dict[str, Any], expected: dict[str, str]) -> None:
    assert bad(facts(**bent)) == expected


def test_ofed_info_without_anything_else_is_known_and_its_absence_is_not_passed() -> None:
    alone = StackFacts(ofed=Reading(OfedInfo("MLNX_OFED_LINUX", "24.10-1.1.4.0")))
    assert results(alone, Machine())["stack.rdma.version host"] == "pass"
    absent = StackFacts(ofed=Reading(None, "ofed_info: command not found"))
    check = next(one for one in judge(absent, Machine()) if one.id == "stack.rdma.version")
    assert (check.result, check.severity) == ("unknown", "warning")


def test_the_distributions_stack_is_a_stack_wherever_it_is_told() -> None:
    assert results(inbox())["stack.rdma.version host"] == "pass"
    by_module = inbox(packages=DENIED)
    assert results(by_module)["stack.rdma.version host"] == "pass"
    nothing = inbox(packages=packages({}), mlx5=ABSENT)
    assert results(nothing)["stack.rdma.version host"] == "fail"


def test_the_cause_of_a_wrong_driver_tells_why_the_other_was_loaded() -> None:
    assert "initramfs" in cause(facts(mlx5=Reading("")), "stack.rdma.loaded")
    not_built = facts(mlx5=Reading("5.0-0"), files=Reading({"mlx5_core": "kernel/mlx5_core.ko"}))
    assert "not built" in cause(not_built, "stack.rdma.loaded")


def test_a_driver_container_above_the_distributions_user_space_is_no_fault() -> None:
    seen = inbox(mlx5=Reading("25.10-1.2.8"), files=ABSENT, dkms=Reading(()))
    assert bad(seen) == {}
    assert results(seen)["stack.kmod.built nvidia"] == "pass"


def test_a_vendors_user_space_without_its_modules_is_judged_by_the_kernels_own() -> None:
    userspace = {"doca-ofed-userspace": "3.2.0-1", "libibverbs1": "2510.0.11-1"}
    seen = inbox(packages=packages(userspace))
    assert bad(seen) == {"stack.rdma.userspace libibverbs": "fail"}


def test_a_library_that_counts_otherwise_is_not_compared() -> None:
    old = {
        "mlnx-ofed-all": "4.9-4.1.7.0",
        "mlnx-ofed-kernel-dkms": "4.9-OFED.4.9.4.1.7.1",
        "libibverbs1": "41mlnx1-OFED.4.9.3.0.0.49417",
    }
    seen = facts(
        ofed=Reading(OfedInfo("MLNX_OFED_LINUX", "4.9-4.1.7.0")), packages=packages(old), mlx5=Reading("4.9-4.1.7")
    )
    assert bad(seen) == {}


def test_libraries_of_a_foreign_architecture_are_left_alone() -> None:
    foreign = (*(packages(VENDOR).value or ()), Package("libibverbs1", "50.0-2", "i386"))
    assert bad(facts(packages=Reading(foreign))) == {}


DKMS = "25.10.OFED.25.10.1.2.8.1"
BUILT = [
    pytest.param((), "no module is installed for this kernel", id="nothing in DKMS"),
    pytest.param((Dkms("mlnx-ofed-kernel", DKMS, (KERNEL,)),), "did not install it", id="built"),
    pytest.param((Dkms("mlnx-ofed-kernel", DKMS, ("5.15.0-1",)),), "did not build", id="not built"),
    pytest.param((Dkms("mlnx-ofed-kernel", DKMS, ()),), "did not build", id="never built"),
]


@pytest.mark.parametrize(("dkms", "told"), BUILT)
def test_the_cause_of_a_missing_module_is_what_dkms_knows(dkms: tuple[Dkms, ...], told: str) -> None:
    seen = facts(files=Reading({"nvidia": "extra/nvidia.ko"}), dkms=Reading(dkms))
    assert bad(seen) == {"stack.kmod.built mlx5_core": "fail"}
    assert told in cause(seen, "stack.kmod.built")


FULL = Dkms("mlnx-ofed-kernel", DKMS, (), ("a.c:1:1: fatal error: x.h: No space left on device",), "the disk is full")
STRANGE = Dkms("mlnx-ofed-kernel", DKMS, (), ("b.c:2:2: error: of a kind that nobody knows",))


@pytest.mark.parametrize(
    ("dkms", "headers", "told"),
    [
        pytest.param(FULL, Reading(True), "the disk is full; make.log says a.c:1:1", id="known"),
        pytest.param(STRANGE, Reading(True), "this kernel; make.log says b.c:2:2", id="unknown"),
        pytest.param(replace(FULL, failed=()), Reading(True), "this kernel: the disk is full", id="no word"),
        pytest.param(FULL, Reading(False), "its headers are not installed", id="an older log, and headers are gone"),
        pytest.param(STRANGE, DENIED, "make.log says b.c:2:2", id="headers cannot be looked for"),
        pytest.param(Dkms("mlnx-ofed-kernel", DKMS, ()), Reading(True), "or it failed", id="no log"),
    ],
)
def test_why_dkms_did_not_build_is_told_by_the_host(dkms: Dkms, headers: Reading[bool], told: str) -> None:
    seen = facts(files=Reading({"nvidia": "extra/nvidia.ko"}), dkms=Reading((dkms,)), headers=headers)
    assert told in cause(seen, "stack.kmod.built")


def test_a_missing_module_is_unknown_where_dkms_cannot_be_read() -> None:
    seen = facts(files=Reading({"mlx5_core": "extra/mlx5_core.ko"}), dkms=DENIED)
    assert bad(seen) == {"stack.kmod.built nvidia": "unknown"}


NONE: Reading[Any] = Reading(())
NO_SYMBOL: Reading[Any] = Reading(False)


def peer(modules: Any = NONE, clients: Any = NONE, symbol: Reading[bool] = NO_SYMBOL) -> PeerMemory:
    return PeerMemory(modules, clients, symbol)


CLOSED = Reading(Driver("535.183.06", False))
PATHS = [
    pytest.param(CLOSED, KERNEL, peer(), "cannot be: no vendor's", id="nothing at all"),
    pytest.param(CLOSED, KERNEL, peer(symbol=Reading(True)), "load it", id="peermem not loaded"),
    pytest.param(CLOSED, KERNEL, peer(symbol=DENIED), "cannot be told", id="no list of symbols"),
    pytest.param(
        CLOSED,
        KERNEL,
        peer(Reading(("nvidia_peermem",))),
        "built without the RDMA stack's peer memory",
        id="peermem loaded, not registered",
    ),
    pytest.param(Reading(Driver("580.105.08", True)), "5.4.0-216-generic", peer(), "too old", id="old kernel"),
    pytest.param(Reading(Driver("510.47.03", True)), KERNEL, peer(), "driver 510.47.03", id="old driver"),
]


@pytest.mark.parametrize(("driver", "kernel", "peers", "told"), PATHS)
def test_without_a_way_to_gpu_memory_the_cause_says_what_is_missing(
    driver: Reading[Driver], kernel: str, peers: PeerMemory, told: str
) -> None:
    seen = facts(driver=driver, peer=peers)
    host = machine(kernel=Reading(kernel))
    assert results(seen, host)["stack.gpudirect.path host"] == "fail"
    assert told in cause(seen, "stack.gpudirect.path", host)
    assert results(seen, host)["stack.gpudirect.nccl host"] == "skip"


@pytest.mark.parametrize(
    "bent",
    [
        pytest.param({"driver": DENIED}, id="the driver's version"),
        pytest.param({"driver": ABSENT}, id="no driver is loaded"),
        pytest.param({"driver": CLOSED, "peer": peer(clients=DENIED)}, id="the clients"),
        pytest.param({"driver": CLOSED, "peer": peer(modules=DENIED)}, id="the modules"),
    ],
)
def test_a_way_that_cannot_be_looked_at_is_unknown(bent: dict[str, Any]) -> None:
    seen = facts(**{"peer": peer(), **bent})
    assert results(seen)["stack.gpudirect.path host"] == "unknown"


def test_one_way_that_works_is_enough() -> None:
    assert bad(facts(peer=peer(clients=DENIED))) == {}
    # The libraries are of another driver then.
    assert bad(facts(driver=CLOSED)) == {"stack.linker.driver host": "fail"}
    assert bad(facts(driver=DENIED)) == {"stack.linker.driver host": "unknown"}


@pytest.mark.parametrize(
    ("nccl", "clients", "driver", "result"),
    [
        ("2.12.12-1", (), Driver("580.105.08", True), "fail"),
        ("2.13.4-1", (), Driver("580.105.08", True), "pass"),
        ("2.10.3-1", ("nv_mem",), Driver("535.1.1", False), "pass"),
        ("2.21.5-1", ("nv_mem_nc",), Driver("535.1.1", False), "fail"),
        ("2.22.3-1", ("nv_mem_nc",), Driver("535.1.1", False), "pass"),
        ("2.22.3-1", ("nvidia-peermem",), Driver("535.1.1", False), "fail"),
        ("2.21.5-1", ("nvidia-peermem",), Driver("535.1.1", False), "pass"),
        ("2.23.4-1", ("nvidia-peermem",), Driver("535.1.1", False), "pass"),
    ],
)
def test_nccl_looks_for_other_signs_in_every_release(
    nccl: str, clients: tuple[str, ...], driver: Driver, result: str
) -> None:
    seen = facts(
        packages=packages({**VENDOR, "libnccl2": nccl}),
        driver=Reading(driver),
        peer=peer(Reading(("nvidia_peermem",) if clients else ()), Reading(clients)),
    )
    assert results(seen)["stack.gpudirect.nccl host"] == result


def test_a_host_without_nccl_is_not_judged_for_it() -> None:
    seen = facts(packages=packages({k: v for k, v in VENDOR.items() if k != "libnccl2"}))
    assert results(seen)["stack.gpudirect.nccl host"] == "skip"


FOUND = "/usr/lib64/libnccl.so.2"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            Reading((FOUND,)),
            f"no package brought {FOUND}, or the list of packages is not whole: ask `dpkg -S`, `dpkg --audit`",
        ),
        (Reading(None, "ldconfig: gave no complete answer"), "ldconfig: gave no complete answer"),
    ],
)
def test_a_library_on_the_disk_that_no_list_has_is_unknown(files: Reading[tuple[str, ...]], told: str) -> None:
    seen = facts(packages=packages({k: v for k, v in VENDOR.items() if k != "libnccl2"}), nccl=files)
    assert results(seen)["stack.gpudirect.nccl host"] == "unknown"
    assert cause(seen, "stack.gpudirect.nccl") == told


SKIPPED = [
    pytest.param(machine(simulated="HCAs"), facts(), "simulated node: HCAs", id="sandbox"),
    pytest.param(machine(gpus=Reading(()), pci=Reading((HCA,))), facts(), "no NVIDIA GPU", id="no GPU"),
    pytest.param(
        machine(pci=Reading((CARD, NIC))),
        facts(devices=ABSENT, fabric=Reading(False), mlx5=ABSENT),
        "no HCA",
        id="no HCA",
    ),
    pytest.param(machine(), facts(devices=ABSENT), "no RDMA device", id="no RDMA device"),
    pytest.param(machine(), facts(fabric=Reading(False)), "only Ethernet", id="only a management port"),
]


@pytest.mark.parametrize(("host", "seen", "told"), SKIPPED)
def test_where_gpudirect_does_not_apply_it_is_skipped(host: Machine, seen: StackFacts, told: str) -> None:
    seen = replace(seen, driver=ABSENT, peer=peer())
    check = next(one for one in judge(seen, host) if one.id == "stack.gpudirect.path")
    assert (check.result, told in check.cause) == ("skip", True)


def test_nobody_knows_whether_the_ports_are_infiniband() -> None:
    seen = facts(fabric=DENIED, driver=CLOSED, peer=peer())
    reported = results(seen)
    assert reported["stack.gpudirect.path host"] == "unknown"


def test_roce_rails_need_gpudirect_too() -> None:
    seen = facts(fabric=Reading(False), driver=CLOSED, peer=peer())
    expect = {"link_layer": "Ethernet"}
    assert results(seen, None, expect)["stack.gpudirect.path host"] == "fail"


def test_a_host_without_hca_and_device_has_no_rdma_stack_to_judge() -> None:
    host = machine(pci=Reading((CARD, NIC)))
    seen = inbox(devices=ABSENT, packages=packages({}), mlx5=ABSENT, fabric=Reading(False))
    reported = {k: v for k, v in results(seen, host).items() if k.startswith("stack.rdma")}
    assert set(reported.values()) == {"skip"}


def test_nobody_can_tell_whether_there_are_hcas() -> None:
    host = machine(pci=DENIED)
    seen = inbox(devices=DENIED, packages=DENIED, mlx5=DENIED, fabric=Reading(False))
    assert bad(seen, host)["stack.rdma.version host"] == "unknown"
    assert bad(seen, host)["stack.gpudirect.path host"] == "unknown"


def test_a_sandbox_node_with_the_distributions_packages_is_clean() -> None:
    host = Machine(pci=Reading((NIC,)), gpus=Reading(()), simulated="InfiniBand fabric")
    seen = inbox(devices=ABSENT, fabric=Reading(False), mlx5=ABSENT, files=ABSENT, driver=ABSENT, dkms=Reading(()))
    assert bad(seen, host) == {}


@pytest.mark.parametrize(
    "hca",
    [
        pytest.param(replace(HCA, driver="mlx4_core", device="1003"), id="ConnectX-3"),
        pytest.param(replace(HCA, driver="vfio-pci"), id="handed to a virtual machine"),
    ],
)
def test_an_hca_of_another_driver_needs_no_mlx5(hca: PciFunction) -> None:
    host = machine(pci=Reading((CARD, hca)))
    assert results(inbox(mlx5=ABSENT), host)["stack.rdma.loaded mlx5_core"] == "skip"


LOCK = {
    "rdma": {"flavour": "doca", "version": "3.2.0"},
    "driver": {"branch": "580", "version": "580.105.08", "modules": "open"},
    "fabric_manager": None,
    "cuda": "13.0",
    "nccl": {"version": "2.28.7"},
}


def locked(lock: dict[str, Any], seen: StackFacts | None = None) -> dict[str, str]:
    reported = results(seen or facts(), None, {"stack": lock})
    return {k.split()[1]: v for k, v in reported.items() if k.startswith("stack.lock.match")}


def test_a_driver_that_was_upgraded_by_hand_is_found_before_the_next_boot() -> None:
    newer = {**VENDOR, "nvidia-utils-580": "580.178.04-1ubuntu1"}
    lock = {"driver": {"version": "580.105.08"}}
    assert locked(lock, facts(packages=packages(newer))) == {"driver": "fail"}
    same = {**VENDOR, "nvidia-utils-580": "580.105.08-1ubuntu1"}
    assert locked(lock, facts(packages=packages(same))) == {"driver": "pass"}


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("580.105.08-1ubuntu1", "not loaded since it was installed"),
        ("580.178.04-1ubuntu1", "changed since the lock was written"),
        (None, "not installed"),
    ],
)
def test_a_driver_that_is_not_loaded_is_told_from_one_that_is_not_there(version: str | None, told: str) -> None:
    brought = {**VENDOR, **({"nvidia-utils-580": version} if version else {})}
    if version is None:
        brought = {name: each for name, each in VENDOR.items() if "nvidia" not in name}
    seen = facts(driver=ABSENT, packages=packages(brought))
    reported = results(seen, None, {"stack": {"driver": {"version": "580.105.08"}}})
    assert reported["stack.lock.match driver"] == "fail"
    assert told in cause(seen, "stack.lock.match", None, {"stack": {"driver": {"version": "580.105.08"}}})


def test_a_part_that_stays_is_held_to_what_was_found() -> None:
    there = check_installed.installed(facts()).value
    assert there is not None
    # The release of the matrix by whose kernel modules the plan knew it need not be a word of the host's.
    lock = {"rdma": {"flavour": there.flavour, "version": "9.9.9", "found": there.versions[0]}}
    assert locked(lock) == {"rdma": "pass"}
    seen = facts(packages=packages({**VENDOR, "libnccl2": "2.29.7-1+cuda13.0"}))
    lock = {"nccl": {"version": "2.28.7", "found": "2.28.7-1+cuda13.0"}}
    (check,) = [one for one in judge(seen, machine(), {"stack": lock}) if one.id == "stack.lock.match"]
    assert check.result == "fail"
    assert "stays as it was found, and was changed since" in check.cause
    assert "stack_relock=true" in check.remedy
    assert locked({"rdma": {"flavour": "inbox", "found": "48.0-1"}}, inbox()) == {"rdma": "fail"}
    mine = check_installed.installed(inbox()).value
    assert mine is not None
    assert locked({"rdma": {"flavour": "inbox", "found": mine.versions[0]}}, inbox()) == {"rdma": "pass"}


def of_lock(**bent: Any) -> dict[str, str]:
    lock = {"class": "h100", "matrix": "a" * 64, "current": "a" * 64, "stack": LOCK, **bent}
    reported = results(facts(), None, {"lock": lock})
    return {k.partition("stack.lock.")[2]: v for k, v in reported.items() if "stack.lock." in k}


def test_the_lock_beside_the_inventory_is_kept_to() -> None:
    assert of_lock()["match driver"] == "pass"
    assert of_lock()["matrix host"] == "pass"
    assert of_lock(stack={"driver": {"version": "580.1.1"}})["match driver"] == "fail"
    assert of_lock(current="b" * 64)["matrix host"] == "fail"
    assert of_lock(matrix="")["matrix host"] == "unknown"


def test_a_host_that_the_lock_does_not_know_is_not_passed_over() -> None:
    assert of_lock(stack={}, **{"class": ""})["match host"] == "unknown"


EMPTY = {
    "class": "bare",
    "matrix": "a",
    "current": "a",
    "stack": {},
    "nothing": "no HCA is there",
    "of": {"gpus": [], "hcas": []},
}


def of_empty(host: Machine, **bent: Any) -> Check:
    found = judge(facts(), host, {"lock": {**EMPTY, **bent}})
    return next(one for one in found if one.id == "stack.lock.match")


def test_a_plan_with_nothing_to_install_is_told_with_its_reason_and_asks_for_no_other() -> None:
    for host in (machine(pci=Reading(()), gpus=Reading(())), machine(pci=ABSENT, gpus=ABSENT)):
        found = of_empty(host)
        assert (found.result, found.remedy) == ("skip", "")
        assert found.cause == "the plan of class bare has nothing to install: no HCA is there"
    # The site wants it so.
    assert of_empty(machine(), of={"gpus": ["H100 SXM5"], "hcas": ["ConnectX-7"]}).result == "skip"


def test_an_empty_plan_is_of_the_past_where_the_host_has_hardware_by_now() -> None:
    found = of_empty(machine())
    assert (found.result, found.remedy) == ("unknown", "run playbooks/plan.yml")
    assert found.cause.startswith("the plan of class bare was made without an NVIDIA GPU and an HCA")


def test_nobody_believes_an_empty_plan_of_a_bus_that_cannot_be_read() -> None:
    assert of_empty(machine(pci=DENIED)).result == "unknown"


def test_the_inventory_s_own_stack_goes_before_the_lock() -> None:
    lock = {"class": "h100", "matrix": "a", "current": "a", "stack": LOCK}
    reported = results(facts(), None, {"lock": lock, "stack": {"driver": "590"}})
    assert reported["stack.lock.match driver"] == "fail"
    assert "stack.lock.match nccl" not in reported


def test_the_cuda_that_jobs_bring_is_not_missed_on_the_host() -> None:
    assert locked({"cuda": "13.0"}, facts(cuda=ABSENT)) == {"cuda": "skip"}


def test_what_is_installed_is_compared_with_the_lock() -> None:
    assert locked(LOCK) == {"rdma": "pass", "driver": "pass", "cuda": "pass", "nccl": "pass"}
    assert locked({}) == {"host": "skip"}
    assert results(facts())["stack.lock.match host"] == "skip"


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("rdma", {"flavour": "mlnx_ofed"}, "fail"),
        ("rdma", {"flavour": "doca", "version": "25.10-1.2.8.0"}, "pass"),
        ("rdma", {"flavour": "doca", "version": "3.2.1"}, "fail"),
        ("rdma", "3.2.0", "pass"),
        ("driver", {"version": "580.95.05"}, "fail"),
        ("driver", {"branch": "570"}, "fail"),
        ("driver", {"modules": "proprietary"}, "fail"),
        ("driver", "580.105.08", "pass"),
        ("cuda", 12.9, "fail"),
        ("nccl", "2.28.3", "fail"),
        ("dcgm", "4.6.0", "fail"),
        ("made_up", "1", "unknown"),
        ("nccl", {"channel": "x"}, "skip"),
    ],
)
def test_every_component_is_a_subject(name: str, value: Any, result: str) -> None:
    assert locked({name: value}) == {name: result}


def test_a_component_that_cannot_be_looked_at_is_unknown() -> None:
    assert locked({"nccl": "2.28.7"}, facts(packages=DENIED)) == {"nccl": "unknown"}
    assert locked({"driver": "580"}, facts(driver=DENIED)) == {"driver": "unknown"}
    assert locked({"driver": "580"}, facts(driver=ABSENT)) == {"driver": "fail"}
    blind = facts(packages=DENIED, ofed=DENIED)
    assert locked({"rdma": {"flavour": "doca"}}, blind) == {"rdma": "unknown"}


def test_every_failure_says_what_why_and_what_next() -> None:
    for param in FAULTS:
        for check in judge(facts(**param.values[0])):
            if check.result == "fail":
                assert all((check.observed, check.expected, check.expected_from)), check
            if check.result in ("fail", "unknown"):
                assert check.cause, check
                assert check.remedy, check


LATER = "6.8.0-90-generic"


def following(files: dict[str, str], because: str = "") -> KmodFacts:
    """A newer kernel, of which this is in modules.dep."""
    tree = KernelTree(LATER, Reading(False), Reading(files))
    foreign = Reading({"nvidia": "updates/dkms/nvidia.ko.zst"})
    names = Reading((LATER,))
    return KmodFacts(KERNEL, names, because, foreign, Reading(()), (), (tree,), ("ubuntu",))


def test_a_newer_kernel_that_lacks_a_module_is_a_warning() -> None:
    (check,) = [one for one in judge(facts(next=following({}))) if one.id == "stack.kmod.next"]
    assert (check.result, check.severity, check.subject) == ("fail", "warning", "nvidia")
    assert f"{LATER} has none" in check.observed
    chosen = judge(facts(next=following({}, "GRUB says 1>2")))
    assert "may boot next (GRUB says 1>2)" in next(one.expected for one in chosen if one.id == "stack.kmod.next")


def test_a_newer_kernel_that_has_them_all_passes() -> None:
    whole = facts(next=following({"nvidia": "updates/dkms/nvidia.ko.zst"}))
    (check,) = [one for one in judge(whole) if one.id == "stack.kmod.next"]
    assert (check.result, check.observed) == ("pass", f"{LATER} has them all")


def test_which_kernel_boots_next_is_not_guessed() -> None:
    dark = facts(next=KmodFacts(KERNEL, Reading(None, "/boot: permission denied")))
    assert results(dark)["stack.kmod.next host"] == "unknown"
    inside = machine(container="podman")
    assert results(dark, inside)["stack.kmod.next host"] == "skip"


@pytest.mark.parametrize(
    ("verbs", "result"),
    [(Reading(("/usr/lib64/libibverbs.so.1",)), "unknown"), (DENIED, "unknown"), (Reading(()), "skip")],
)
def test_a_libibverbs_without_a_package_is_not_skipped(verbs: Reading[tuple[str, ...]], result: str) -> None:
    seen = inbox(packages=packages({"libnccl2": "2.28.7-1+cuda13.0"}), verbs=verbs)
    assert results(seen)["stack.rdma.userspace libibverbs"] == result
