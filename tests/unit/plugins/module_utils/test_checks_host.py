# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import check_scope
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._data import host_units
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Unavailable, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import render
from tests.gauntlet.tree import Tree

OPTION = f"--property={host_units.PROPERTIES}"
UNITS = entry_name("systemctl_show", OPTION, *host_units.ALWAYS)
GROUPS = "/sys/kernel/iommu_groups"
CPUFREQ = "/sys/devices/system/cpu/cpufreq"
MINE = [name for name, one in CATALOG.items() if name.startswith("host.") and one.looks_at]
Bend = Callable[[Tree], None]


def judge(board: str = "hgx-h100-8", bend: Bend | None = None, **more: Any) -> list[Check]:
    node = render.node(board)
    node.more.update(more)
    tree = render.render(node)
    for name in more.get("missing", ()):
        drop(tree, f"/sys/module/{name}")  # other areas' renderers write there, too
    if bend is not None:
        bend(tree)
    return _verify.verify(tree, from_inventory(node.expect), ["host"]).checks


def drop(tree: Tree, path: str) -> None:
    with contextlib.suppress(KeyError):
        tree.remove(path)


def results(checks: list[Check], *which: str) -> dict[str, str]:
    return {one.id: one.result for one in checks if one.result in which}


def one(checks: list[Check], check_id: str) -> Check:
    found = [check for check in checks if check.id == check_id]
    assert len(found) == 1
    return found[0]


def removed(*paths: str) -> Bend:
    def bend(tree: Tree) -> None:
        for path in paths:
            tree.remove(path)

    return bend


def broken(*names: str) -> Bend:
    def bend(tree: Tree) -> None:
        for name in names:
            tree.broken[name] = "gave no complete answer within 30 s"

    return bend


def built_in(tree: Tree) -> None:
    """The kernel has all of RDMA in itself: no list of what was loaded, and no state of it."""
    tree.command("lsmod", "Module  Size  Used by\nnvidia  5 0\n")
    for path in [path for path in tree.files if path.endswith("/initstate")]:
        del tree.files[path]


def printed(name: str, stdout: str, rc: int = 0) -> Bend:
    return lambda tree: tree.command(name, stdout, rc)


def marked(what: str) -> Bend:
    def bend(tree: Tree) -> None:
        tree.file("/etc/ibready-sandbox.json", what)
        tree.file("/run/systemd/container", "podman")

    return bend


def container(tree: Tree) -> None:
    tree.file("/run/systemd/container", "docker")
    for name in ("dmesg", "timedatectl_show", *[n for n in tree.commands if "systemctl" in n]):
        del tree.commands[name]
    tree.remove("/dev/infiniband")
    for path in [path for path in tree.modes if path.startswith("/dev/infiniband")]:
        del tree.modes[path]


def test_every_check_of_the_catalog_is_made_once_on_a_healthy_node() -> None:
    checks = judge()
    assert sorted(check.id for check in checks) == sorted(MINE)
    assert results(checks, "fail", "unknown") == {}
    # Nothing but IPoIB and a manager of SHARP is not there to be judged.
    assert results(checks, "skip") == {"host.module.ipoib": "skip", "host.service.sharp_am": "skip"}


@pytest.mark.parametrize(
    ("bend", "more", "expected"),
    [
        pytest.param(
            None,
            {"domain": "DMA-FQ", "cmdline": "ro iommu=pt"},
            {"host.kernel.iommu": "fail"},
            id="the kernel did not follow its command line",
        ),
        pytest.param(
            None,
            {"domain": "identity", "cmdline": "ro intel_iommu=on"},
            {},
            id="what the devices have counts more than the command line",
        ),
        pytest.param(removed(GROUPS), {"domain": ""}, {}, id="a kernel that cannot use an IOMMU"),
        pytest.param(
            broken(GROUPS),
            {"cmdline": "ro intel_iommu=on"},
            {"host.kernel.iommu": "fail"},
            id="the command line, where the devices cannot be asked",
        ),
        pytest.param(broken(GROUPS), {"cmdline": "ro quiet"}, {"host.kernel.iommu": "unknown"}, id="nobody says"),
        pytest.param(
            broken(GROUPS),
            {"cmdline": "ro quiet", "log": ["iommu: Default domain type: Translated"]},
            {"host.kernel.iommu": "fail"},
            id="the kernel's log says translated",
        ),
        pytest.param(
            broken(GROUPS),
            {"cmdline": "ro", "log": ["iommu: Default domain type: Passthrough"]},
            {},
            id="the kernel's log says passthrough",
        ),
        pytest.param(
            broken(f"{CPUFREQ}/policy2/scaling_governor"),
            {},
            {"host.cpu.governor": "unknown", "host.floor.needed": "unknown"},
            id="one governor cannot be read",
        ),
        pytest.param(removed(CPUFREQ), {}, {}, id="no governor at all"),
        pytest.param(
            lambda tree: tree.file("/proc/sys/kernel/numa_balancing", "on"),
            {},
            {"host.memory.numa_balancing": "unknown"},
            id="a setting that is no number",
        ),
        pytest.param(
            removed("/proc/sys/kernel/numa_balancing", "/proc/sys/vm/zone_reclaim_mode"),
            {},
            {},
            id="a kernel without these settings",
        ),
        pytest.param(None, {"secure_boot": "on", "missing": ["nvidia"]}, {}, id="Secure Boot refused nothing"),
        pytest.param(
            printed("dmesg", "[  905.0000] x: y\n"),
            {"secure_boot": "on", "missing": ["nvidia"]},
            {"host.boot.secure_boot": "unknown"},
            id="whether Secure Boot refused it, the log no longer tells",
        ),
        pytest.param(
            broken("lsmod", "/sys/module"),
            {"secure_boot": "on"},
            {
                "host.boot.secure_boot": "unknown",
                "host.module.nouveau": "unknown",
                "host.module.rdma": "unknown",
                "host.module.rdma_user": "unknown",
                "host.boot.modules": "unknown",
            },
            id="no list of modules",
        ),
        pytest.param(broken("lsmod"), {}, {"host.boot.modules": "unknown"}, id="no lsmod, but /sys/module"),
        pytest.param(built_in, {}, {}, id="built-in modules are in /sys/module only"),
        pytest.param(None, {"modules": ["nova_core"]}, {"host.module.nouveau": "fail"}, id="another rival"),
        pytest.param(
            None,
            {"missing": ["ib_uverbs"]},
            {"host.module.rdma": "fail", "host.rdma.devices": "fail"},
            id="no verbs for user programs",
        ),
        pytest.param(
            removed("/sys/class/infiniband_verbs"),
            {},
            {"host.rdma.devices": "fail"},
            id="devices without one uverbs file",
        ),
        pytest.param(
            broken("/sys/class/infiniband_verbs"),
            {},
            {"host.rdma.devices": "unknown"},
            id="uverbs files cannot be listed",
        ),
        pytest.param(
            broken("/dev/infiniband/uverbs2"), {}, {"host.rdma.devices": "unknown"}, id="permissions cannot be read"
        ),
        pytest.param(
            broken("/etc/sysconfig/network-scripts"),
            {},
            {"host.module.ipoib": "unknown"},
            id="nobody can tell which interfaces are configured",
        ),
        pytest.param(
            broken("dmesg"),
            {},
            {
                "host.dmesg.mlx5": "unknown",
                "host.dmesg.mlx5_warnings": "unknown",
                "host.dmesg.peermem": "unknown",
                "host.dmesg.kernel": "unknown",
                "host.dmesg.kernel_warnings": "unknown",
                "host.dmesg.drivers": "unknown",
                "host.dmesg.drivers_warnings": "unknown",
            },
            id="no kernel log",
        ),
        pytest.param(
            printed("dmesg", "[    1.000000] mlx5_core 0000:15:00.0: Fatal error 1 detected"),
            {},
            {
                "host.dmesg.mlx5": "fail",
                "host.dmesg.mlx5_warnings": "unknown",
                "host.dmesg.peermem": "unknown",
                "host.dmesg.kernel": "unknown",
                "host.dmesg.kernel_warnings": "unknown",
                "host.dmesg.drivers": "unknown",
                "host.dmesg.drivers_warnings": "unknown",
            },
            id="a cut log tells by what it says, not by its silence",
        ),
        pytest.param(
            broken(UNITS),
            {},
            {
                "host.floor.needed": "unknown",
                "host.floor.usual": "unknown",
                "host.limit.memlock": "unknown",
                "host.limit.memlock_login": "unknown",
                "host.limit.nofile": "unknown",
                "host.service.openibd": "unknown",
                "host.service.ibacm": "unknown",
                "host.service.failed": "unknown",
                "host.boot.services": "unknown",
            },
            id="nobody can tell what runs",
        ),
        pytest.param(
            broken("systemctl_show"),
            {},
            {
                "host.floor.needed": "unknown",
                "host.floor.usual": "unknown",
                "host.limit.memlock": "unknown",
                "host.limit.memlock_login": "unknown",
                "host.limit.nofile": "unknown",
                "host.service.openibd": "unknown",
                "host.service.ibacm": "unknown",
                "host.service.failed": "unknown",
                "host.boot.services": "unknown",
            },
            id="no systemctl",
        ),
        pytest.param(
            removed("/proc/4242/limits"),
            {},
            {
                "host.limit.memlock": "unknown",
                "host.limit.nofile": "unknown",
                "host.floor.needed": "unknown",
                "host.floor.usual": "unknown",
            },
            id="the service's limits cannot be read",
        ),
        pytest.param(
            None,
            {"memlock": "8388608"},
            {},
            id="a small default harms nobody where the jobs' service has its own limit",
        ),
        pytest.param(None, {"units": {"openibd": "inactive"}}, {}, id="an openibd that is switched off"),
        pytest.param(
            lambda tree: tree.command(
                UNITS,
                tree.commands[UNITS].stdout.replace(
                    "ActiveState=active\nUnitFileState=enabled", "ActiveState=inactive\nUnitFileState=enabled"
                ),
            ),
            {},
            {"host.service.openibd": "fail"},
            id="an openibd that is enabled and did not run",
        ),
        pytest.param(None, {"synchronised": "no"}, {"host.clock.synchronised": "fail"}, id="chrony reaches nobody"),
        pytest.param(
            broken("timedatectl_show"),
            {},
            {"host.clock.synchronised": "unknown", "host.bmc.log": "unknown"},
            id="no timedatectl",
        ),
        pytest.param(broken("/etc/apt/apt.conf.d"), {}, {"host.updates.held": "unknown"}, id="no apt.conf.d"),
    ],
)
def test_a_fault_is_found_and_nothing_else(bend: Bend | None, more: dict[str, Any], expected: dict[str, str]) -> None:
    assert results(judge(bend=bend, **more), "fail", "unknown") == expected


@pytest.mark.parametrize(
    ("cmdline", "machine", "expected"),
    [
        ("intel_iommu=on iommu=pt", "x86_64", "pass"),
        ("amd_iommu=on iommu=pt", "x86_64", "pass"),
        ("iommu=pt,nofullflush", "x86_64", "pass"),
        ("intel_iommu=off", "x86_64", "pass"),
        ("iommu=off", "x86_64", "pass"),
        ("iommu.passthrough=1", "x86_64", "pass"),
        ("intel_iommu=on", "x86_64", "fail"),
        ("intel_iommu=on,sm_on", "x86_64", "fail"),
        ("amd_iommu=on", "x86_64", "fail"),
        ("iommu=pt iommu=nopt", "x86_64", "fail"),
        ("iommu.passthrough=0", "x86_64", "fail"),
        ("intel_iommu=igfx_off", "x86_64", "unknown"),
        ("quiet", "x86_64", "unknown"),
        ("iommu.passthrough=1", "aarch64", "pass"),
        ("iommu.passthrough=0", "aarch64", "fail"),
        ("iommu=pt", "aarch64", "unknown"),
    ],
)
def test_the_command_line_is_read_as_the_kernel_reads_it(cmdline: str, machine: str, expected: str) -> None:
    board = "gb200-nvl72-node" if machine == "aarch64" else "hgx-h100-8"

    def bend(tree: Tree) -> None:
        broken(GROUPS)(tree)
        tree.file("/proc/sys/kernel/arch", machine)

    checks = judge(board, bend, cmdline=f"BOOT_IMAGE=/vmlinuz ro {cmdline}")
    assert one(checks, "host.kernel.iommu").result == expected


def test_a_virtual_machine_is_not_judged_by_its_hypervisors_business() -> None:
    skips = results(judge("cloud-a100-8-vm"), "skip")
    assert {"host.kernel.iommu", "host.cpu.governor"} <= set(skips)


def test_a_host_without_a_gpu_is_not_judged_as_if_it_had_one() -> None:
    checks = judge("ib-login")
    for check_id in ("host.kernel.iommu", "host.module.nouveau", "host.dmesg.peermem"):
        assert one(checks, check_id).result == "skip"
        assert "no NVIDIA GPU" in one(checks, check_id).cause


def without_hcas(tree: Tree) -> None:
    for path in [path for path in tree.links if path.startswith("/sys/bus/pci/devices/")]:
        if tree.read(f"{path}/vendor").strip() == "0x15b3":
            del tree.links[path]
    tree.remove("/sys/class/infiniband")


def test_a_host_without_an_hca_needs_no_rdma() -> None:
    checks = judge("l40s-8", without_hcas, missing=["mlx5_ib", "ib_umad"])
    assert results(checks, "fail", "unknown") == {}
    for check_id in (
        "host.module.rdma",
        "host.module.rdma_user",
        "host.rdma.devices",
        "host.dmesg.mlx5",
        "host.limit.memlock",
        "host.service.ibacm",
    ):
        assert one(checks, check_id).result == "skip"


def test_a_mellanox_ethernet_port_is_an_hca_and_other_vendors_are_not() -> None:
    def found(*functions: PciFunction) -> tuple[int, str]:
        machine = Machine(pci=Reading(functions))
        return len(check_scope.hcas(machine) or ()), check_scope.with_hca(machine).skip

    mellanox = PciFunction("0000:18:00.0", "020000", "15b3", "1021", driver="mlx5_core")
    intel = PciFunction("0000:19:00.0", "020000", "8086", "1572", driver="i40e")
    assert found(mellanox, intel) == (1, "")
    assert found(intel) == (0, check_scope.NO_HCA)
    assert found(PciFunction("0000:1a:00.0", "020700", "1077", "7322")) == (1, "")


def test_hcas_that_are_handed_to_virtual_machines_need_no_rdma() -> None:
    def bend(tree: Tree) -> None:
        for path, target in list(tree.links.items()):
            if target.endswith("/mlx5_core"):
                tree.symlink(path, target.replace("mlx5_core", "vfio-pci"))

    checks = judge("l40s-8", bend, missing=["mlx5_ib"])
    assert "vfio-pci" in one(checks, "host.module.rdma").cause
    assert one(checks, "host.module.rdma").result == "skip"


def test_nobody_can_tell_whether_there_are_gpus() -> None:
    checks = judge(bend=broken("/sys/bus/pci/devices", "nvsmi_xml"), domain="")
    assert one(checks, "host.kernel.iommu").result == "unknown"
    assert one(checks, "host.module.nouveau").result == "unknown"


def test_a_rival_is_seen_even_where_the_bus_is_not() -> None:
    bend = broken("/sys/bus/pci/devices", "nvsmi_xml")
    checks = judge(bend=bend, modules=["nouveau"])
    assert one(checks, "host.module.nouveau").result == "fail"


def test_a_gpu_that_nouveau_holds_is_named() -> None:
    def bend(tree: Tree) -> None:
        path = next(path for path, to in tree.links.items() if to.endswith("drivers/nvidia"))
        tree.symlink(path, "../../../bus/pci/drivers/nouveau")

    assert "nouveau holds 0000:" in one(judge(bend=bend), "host.module.nouveau").observed


def modules_dep() -> str:
    return f"/lib/modules/{render.node('hgx-h100-8').kernel}/modules.dep"


@pytest.mark.parametrize(
    ("text", "result"), [("# nothing", "unknown"), ("blacklist nouveau\nblacklist nova_core", "pass")]
)
def test_rivals_that_nobody_can_look_for_are_unknown_unless_all_are_kept_out(text: str, result: str) -> None:
    def bend(tree: Tree) -> None:
        for path in [path for path in tree.files if path.startswith("/etc/modprobe.d/")]:
            tree.remove(path)
        tree.file("/etc/modprobe.d/a.conf", text)
        tree.broken[modules_dep()] = "permission denied"

    found = one(judge(bend=bend), "host.boot.modules")
    assert (found.result, "permission denied" in found.cause) == (result, result == "unknown")


def test_an_address_is_not_taken_for_the_hosts_own_where_its_interfaces_are_not_told() -> None:
    found = one(judge(bend=broken("ip_addr")), "host.name.resolves")
    assert (found.result, "ip_addr" in found.cause) == ("unknown", True)


def test_an_old_hca_needs_its_own_driver() -> None:
    def bend(tree: Tree) -> None:
        for path, target in list(tree.links.items()):
            if target.endswith("/mlx5_core"):
                tree.symlink(path, target.replace("mlx5_core", "mlx4_core"))

    assert one(judge(bend=bend), "host.module.rdma").observed == "mlx4_ib not loaded"
    checks = judge(bend=bend, modules=["mlx4_ib"], missing=["mlx5_ib"])
    assert one(checks, "host.module.rdma").result == "pass"


def test_messages_of_a_device_that_the_site_ignores_do_not_count() -> None:
    node = render.node("hgx-h100-8")
    node.more["log"] = [
        "mlx5_core 0000:15:00.0: mlx5_frobnicate:77:(pid 9): failed to register it",
        "mlx5_core 0000:15:00.0: poll_health:1:(pid 0): Fatal error 1 detected",
    ]
    tree = render.render(node)
    for ignored, expected in (([], "fail"), (["0000:15:00.0"], "pass")):
        expect = from_inventory({**node.expect, "ignore": ignored})
        checks = _verify.verify(tree, expect, ["host"]).checks
        assert one(checks, "host.dmesg.mlx5").result == expected
        assert one(checks, "host.dmesg.drivers").result == expected


def test_a_log_that_begins_after_the_boot_says_so() -> None:
    checks = judge(bend=printed("dmesg", "[  905.000000] mlx5_core 0000:15:00.0: x\n"))
    assert "after the boot" in one(checks, "host.dmesg.mlx5").observed


def test_inside_a_container_only_what_is_its_own_is_judged() -> None:
    checks = judge(bend=container)
    assert results(checks, "fail", "unknown") == {}
    for check_id in (
        "host.dmesg.mlx5",
        "host.limit.memlock",
        "host.service.failed",
        "host.clock.synchronised",
        "host.rdma.devices",
        "host.updates.held",
    ):
        assert "inside a container" in one(checks, check_id).cause
    # The kernel is the host's, and what it shows of itself is true.
    assert one(checks, "host.kernel.iommu").result == "pass"


def test_a_sandbox_node_is_judged_by_what_is_real_of_it() -> None:
    bend = marked('{"what": "InfiniBand fabric (ibsim)"}')
    checks = judge(bend=bend, domain="DMA", governor="powersave", synchronised="no")
    assert results(checks, "fail", "unknown") == {}
    assert set(results(checks, "pass")) == {
        "host.memory.numa_balancing",
        "host.memory.zone_reclaim",
        "host.limit.memlock",
        "host.limit.memlock_login",
        "host.limit.nofile",
    }
    assert "simulated node: InfiniBand fabric" in one(checks, "host.dmesg.mlx5").cause


def test_a_mark_of_the_sandbox_that_cannot_be_read_hides_nothing() -> None:
    checks = judge(bend=marked("{"))
    assert one(checks, "host.dmesg.mlx5").result == "unknown"


@pytest.mark.parametrize(
    ("patterns", "result"),
    [
        (["nvidia-", "mlnx-"], "pass"),
        ([".*"], "pass"),
        (["nvidia-"], "fail"),
        (["mlnx-", "doca-"], "fail"),
        ([], "fail"),
        (["firefox"], "fail"),
        (["nvidia-container-toolkit", "mlnx-"], "fail"),
        (["libnvidia-container1", "mlnx-"], "fail"),
        (["nvidia-driver-580-open$", "rdma-core"], "pass"),
        (["nvidia", "libibverbs"], "pass"),
        (["nvidia-.*", "python3-pyverbs", "rdmacm-utils"], "fail"),
        (["(nvidia|mlnx)-"], "unknown"),
        (["(a|b)-"], "fail"),
        (["*nvidia*", "*mlnx*"], "pass"),
    ],
)
def test_automatic_updates_must_leave_both_alone(patterns: list[str], result: str) -> None:
    def bend(tree: Tree) -> None:
        base = "/etc/apt/apt.conf.d"
        tree.file(f"{base}/20auto-upgrades", 'APT::Periodic::Unattended-Upgrade "1";')
        names = " ".join(f'"{one}";' for one in patterns)
        text = f"Unattended-Upgrade::Package-Blacklist {{ {names} }};"
        tree.file(f"{base}/50unattended-upgrades", text)

    checks = judge(bend=bend, units={"apt-daily-upgrade.timer": "active"})
    assert one(checks, "host.updates.held").result == result


def test_each_rdma_device_needs_its_uverbs_file() -> None:
    def bend(tree: Tree) -> None:
        tree.remove("/sys/class/infiniband_verbs/uverbs9")

    check = one(judge(bend=bend), "host.rdma.devices")
    assert (check.result, check.observed) == ("fail", "9 uverbs for 10 RDMA devices")


@pytest.mark.parametrize(
    ("sub", "result"), [("auto-restart", "fail"), ("auto-restart-queued", "fail"), ("start", "unknown")]
)
def test_a_service_that_is_started_over_and_over_has_failed(sub: str, result: str) -> None:
    def bend(tree: Tree) -> None:
        reported = tree.commands[UNITS].stdout.replace("=activating\n", f"=activating\nSubState={sub}\n")
        for state in ("active", "inactive"):
            reported = reported.replace(f"ActiveState={state}\n", f"ActiveState={state}\nSubState=dead\n")
        tree.command(UNITS, reported)

    checks = judge(bend=bend, units={"slurmd": "activating"})
    check = one(checks, "host.service.failed")
    assert (check.result, check.subject) == (result, "slurmd.service")


@pytest.mark.parametrize(
    ("domain", "result"), [("identity", "pass"), ("DMA", "fail"), ("DMA-FQ", "fail"), ("blocked", "unknown")]
)
def test_only_a_domain_that_is_known_to_pass_through_passes(domain: str, result: str) -> None:
    assert one(judge(domain=domain), "host.kernel.iommu").result == result


def test_domains_that_cannot_be_read_are_not_told_by_the_command_line() -> None:
    def bend(tree: Tree) -> None:
        for path in [path for path in tree.files if path.endswith("/type") and GROUPS in path]:
            tree.broken[path] = "permission denied"

    check = one(judge(bend=bend), "host.kernel.iommu")
    assert (check.result, "cannot be told" in check.cause) == ("unknown", True)


@pytest.mark.parametrize(
    "line",
    [
        "NMI watchdog: Watchdog detected hard LOCKUP on cpu 17",
        "mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 4: be00000000800400",
        "EXT4-fs (sda1): Remounting filesystem read-only",
    ],
)
def test_a_fault_of_the_machine_in_the_log_is_told(line: str) -> None:
    assert one(judge(log=[line]), "host.dmesg.kernel").result == "fail"


@pytest.mark.parametrize(
    "line",
    [
        "DMAR: [DMA Write NO_PASID] Request device [18:00.0] fault addr 0xdead000 [fault reason]",
        "DMAR:[DMA Read] Request device [18:00.0] fault addr dead000",
        "nvidia 0000:18:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0010 address=0x0]",
        "NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x26:0x56:1482)",
    ],
)
def test_a_sign_of_the_machine_in_the_log_is_a_warning(line: str) -> None:
    found = judge(log=[line])
    assert one(found, "host.dmesg.kernel").result == "pass"
    assert one(found, "host.dmesg.kernel_warnings").result == "fail"


@pytest.mark.parametrize(
    "line",
    [
        "mce: [Hardware Error]: Machine check events logged",
        "Machine check exception polling timer started.",
        "DMAR: IOMMU enabled",
        "EXT4-fs (sda1): re-mounted. Opts: (null)",
    ],
)
def test_a_word_of_the_machine_that_is_no_fault_is_none(line: str) -> None:
    assert one(judge(log=[line]), "host.dmesg.kernel").result == "pass"


QP = "infiniband mlx5_2: create_qp:3093:(pid 88123): Create QP type 2 failed"
SYMBOL = "nvidia_uvm: Unknown symbol nvUvmInterfaceRegisterUvmOps (err -22)"


@pytest.mark.parametrize(
    ("log", "fails"),
    [
        ([QP], {"host.dmesg.drivers_warnings": "RDMA"}),
        ([SYMBOL], {"host.dmesg.drivers": "NVIDIA"}),
        ([SYMBOL, "NVRM: something is broken"], {"host.dmesg.drivers": "NVIDIA"}),
        ([SYMBOL, QP], {"host.dmesg.drivers": "NVIDIA", "host.dmesg.drivers_warnings": "RDMA"}),
        ([f"[   899.000000] {QP}"], {"host.dmesg.drivers_warnings": "RDMA"}),
        ([f"[   901.000000] {QP}"], {}),
        ([f"[863990.000000] {QP}"], {"host.dmesg.drivers_warnings": "RDMA"}),
    ],
)
def test_a_failure_of_a_driver_counts_at_the_boot_and_for_a_day(log: list[str], fails: dict[str, str]) -> None:
    assert {check.id: check.subject for check in judge(log=log) if check.result == "fail"} == fails


def test_of_many_lines_of_a_driver_the_first_and_the_last_are_told() -> None:
    lines = [QP.replace("type 2", f"type {number}") for number in range(200)]
    check = one(judge(log=lines), "host.dmesg.drivers_warnings")
    assert check.observed == f"200 lines, first: {lines[0]}; last: {lines[-1]}"


def test_with_and_without_a_gpu_other_packages_are_held() -> None:
    def bend(tree: Tree) -> None:
        tree.file("/etc/apt/apt.conf.d/20auto-upgrades", 'APT::Periodic::Unattended-Upgrade "1";')
        text = 'Unattended-Upgrade::Package-Blacklist { "mlnx-"; };'
        tree.file("/etc/apt/apt.conf.d/50unattended-upgrades", text)

    units = {"apt-daily-upgrade.timer": "active"}
    assert one(judge("ib-login", bend, units=units), "host.updates.held").result == "pass"
    assert one(judge("l40s-8", bend, units=units), "host.updates.held").result == "fail"


def test_a_kernel_that_cannot_use_an_iommu_is_not_judged_by_its_command_line() -> None:
    checks = judge(bend=removed(GROUPS), domain="", cmdline="ro intel_iommu=on")
    assert one(checks, "host.kernel.iommu").result == "skip"


def test_a_module_that_secure_boot_refused_is_a_fault() -> None:
    log = ["Loading of module with unavailable key is rejected"]
    check = one(judge(secure_boot="on", missing=["nvidia"], log=log), "host.boot.secure_boot")
    assert (check.result, check.observed) == ("fail", "on, nvidia not loaded")


def test_nvlink_switches_that_are_reached_over_an_hca_need_ib_umad() -> None:
    assert one(judge("hgx-b200-8", missing=["ib_umad"]), "host.module.rdma").result == "fail"
    assert one(judge("hgx-h100-8", missing=["ib_umad"]), "host.module.rdma").result == "pass"


class Only(Tree):
    """A host of which one command was recorded, and nothing else can be told."""

    def _refuse(self, *names: str) -> None:
        for name in names:
            if name not in self.commands:
                raise Unavailable(name, "not in the bundle")


@pytest.mark.parametrize(
    ("modules", "rdma", "user"),
    [
        ("ib_core ib_uverbs mlx5_ib ib_umad rdma_cm", "pass", "pass"),
        ("ib_core ib_uverbs mlx4_ib rdma_cm", "pass", "fail"),
        ("ib_core ib_uverbs ib_umad rdma_cm", "fail", "pass"),
        ("", "fail", "fail"),
    ],
)
def test_a_recorded_list_of_modules_is_judged_alone(modules: str, rdma: str, user: str) -> None:
    tree = Only()
    lines = [f"{name} 1 0\n" for name in modules.split()]
    tree.command("lsmod", "Module Size Used by\n" + "".join(lines))
    checks = _verify.verify(tree, from_inventory({}), ["host"]).checks
    assert one(checks, "host.module.rdma").result == rdma
    assert one(checks, "host.module.rdma_user").result == user
    assert not set(results(checks, "pass", "fail")) - {"host.module.rdma", "host.module.rdma_user"}


def test_device_files_that_are_all_missing_are_a_fault_outside_a_container() -> None:
    gone = {f"uverbs{number}": "" for number in range(10)}
    checks = judge(modes=gone, missing=["rdma_ucm"])
    assert [one.result for one in checks if one.id == "host.rdma.devices"] == ["fail"] * 10


def test_without_rdma_ucm_there_is_no_rdma_cm_file_and_no_fault() -> None:
    assert one(judge(missing=["rdma_ucm"]), "host.rdma.devices").result == "pass"


def test_a_failure_that_an_hca_recovered_from_is_a_warning() -> None:
    begun = "mlx5_core 0000:15:00.0: poll_health:1:(pid 0): Fatal error 1 detected"
    ended = "mlx5_core 0000:15:00.0: x:2:(pid 0): health recovery succeeded"
    assert results(judge(log=[begun]), "fail") == {"host.dmesg.mlx5": "fail"}
    assert results(judge(log=[begun, ended]), "fail") == {"host.dmesg.mlx5_warnings": "fail"}


def test_where_no_service_starts_jobs_systemds_default_counts() -> None:
    check = one(judge("ib-login", memlock="8388608"), "host.limit.memlock")
    assert (check.result, check.subject) == ("fail", "systemd's default")
    assert check.observed == "8192 KiB (hard 8192 KiB)"


MARK = '{"what": "a fabric", "hardware": true, "memlock_ceiling": 8388608}'


@pytest.mark.parametrize(
    ("mark", "limit", "default", "result"),
    [
        pytest.param(MARK, "8388608", "infinity", "skip", id="all that the machine below gives"),
        pytest.param(MARK, "65536", "infinity", "fail", id="less than that"),
        pytest.param(MARK, "unlimited", "infinity", "pass", id="more than it claims to give"),
        pytest.param(MARK.replace("8388608", '"8388608"'), "8388608", "infinity", "fail", id="word"),
        pytest.param("", "8388608", "infinity", "fail", id="a real host"),
    ],
)
def test_what_nobody_can_raise_on_a_simulated_node_is_left_out(
    mark: str, limit: str, default: str, result: str
) -> None:
    def bend(tree: Tree) -> None:
        if mark:
            tree.file("/run/.containerenv", "")
            tree.file("/etc/ibready-sandbox.json", mark)

    checks = judge(bend=bend, slurmd_memlock=limit, memlock=default)
    check = one(checks, "host.limit.memlock")
    assert check.result == result, check
    if result == "skip":
        assert check.subject == "slurmd.service"
        assert "8192 KiB" in check.cause


def test_systemds_default_is_judged_even_where_a_services_limit_cannot_be() -> None:
    def bend(tree: Tree) -> None:
        tree.file("/run/.containerenv", "")
        tree.file("/etc/ibready-sandbox.json", MARK)

    checks = judge(bend=bend, slurmd_memlock="8388608", memlock="8388608")
    found = {one.subject: one.result for one in checks if one.id == "host.limit.memlock"}
    assert found == {"slurmd.service": "skip", "systemd's default": "fail"}


def test_a_default_that_cannot_be_told_is_unknown_whatever_the_services_have() -> None:
    checks = judge(bend=printed("systemctl_show", "Version=255\n"))
    assert results(checks, "unknown") == {"host.limit.memlock": "unknown", "host.limit.nofile": "unknown"}


def test_each_failed_unit_is_told_once() -> None:
    checks = judge(units={"openibd": "failed", "rdma-ndd": "failed"})
    found = [(one.id, one.subject) for one in checks if one.result == "fail"]
    assert found == [("host.service.openibd", "host"), ("host.service.failed", "rdma-ndd.service")]


def test_a_host_without_an_hca_need_not_hold_rdma_packages() -> None:
    def bend(tree: Tree) -> None:
        without_hcas(tree)
        base = "/etc/apt/apt.conf.d"
        tree.file(f"{base}/20auto-upgrades", 'APT::Periodic::Unattended-Upgrade "1";')
        text = 'Unattended-Upgrade::Package-Blacklist { "nvidia-"; };'
        tree.file(f"{base}/50unattended-upgrades", text)

    checks = judge("l40s-8", bend, units={"apt-daily-upgrade.timer": "active"})
    assert one(checks, "host.updates.held").result == "pass"
