# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import area as host, dropins
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.facts import HostFacts, Unit
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._data import host_units
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Output, Unavailable, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED, Limits
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
OPTION = f"--property={host_units.PROPERTIES}"
UNITS = entry_name("systemctl_show", OPTION, *host_units.ALWAYS)
APT = "/etc/apt/apt.conf.d"
ON = 'APT::Periodic::Unattended-Upgrade "1";'


def described(board: str = "hgx-h100-8", **more: object) -> tuple[Node, Tree]:
    node = render.node(board)
    node.more.update(more)
    return node, render.render(node)


def look(tree: Tree) -> HostFacts:
    return host.observe(tree, machine.observe(tree), from_inventory({"sharp_manager": True}))


def test_a_whole_node_is_told_without_a_gap() -> None:
    node, tree = described()
    facts = look(tree)
    kernel = facts.kernel
    assert kernel.cmdline.value is not None
    assert set(kernel.domains.value or {}) == {
        *(one.address for one in node.cards),
        *(one.address for one in node.hcas),
    }
    assert kernel.governors.value == {"performance": 8}
    found = facts.floors.values
    assert found["/proc/sys/kernel/numa_balancing"].value == found["/proc/sys/vm/zone_reclaim_mode"].value == "0"
    assert kernel.secure_boot.value is False
    assert kernel.log.value is not None
    assert {"mlx5_ib", "nvidia"} <= set(facts.modules.listed.value or ())
    assert {"mlx5_ib", "kernel"} <= set(facts.modules.known.value or ())
    assert len(facts.modules.modes) == len(node.hcas) + 1
    assert facts.services.defaults.value == Limits(UNLIMITED, UNLIMITED, 1024, 1048576)
    assert facts.services.limits["slurmd.service"].value == Limits(UNLIMITED, UNLIMITED, 131072, 1048576)
    assert facts.services.synchronised.value is True
    assert facts.updates.who.value == ""


def test_the_facts_are_json_and_hold_only_the_modules_that_matter() -> None:
    facts = look(described()[1]).to_dict()
    assert json.loads(json.dumps(facts))["kernel"]["governors"]["value"] == {"performance": 8}
    assert "nvme" not in facts["modules"]["listed"]["value"]
    assert "mlx5_ib" in facts["modules"]["known"]["value"]


def test_no_group_at_all_is_no_iommu_and_no_directory_is_a_kernel_without() -> None:
    tree = described(domain="")[1]
    assert look(tree).kernel.domains.value == {}
    tree.remove("/sys/kernel/iommu_groups")
    assert look(tree).kernel.domains.missing


def test_groups_without_a_gpu_or_hca_tell_nothing_of_these() -> None:
    tree = described(domain="")[1]
    tree.file("/sys/kernel/iommu_groups/3/type", "DMA")
    domains = look(tree).kernel.domains
    assert (domains.known, domains.missing) == (False, False)


def test_a_device_handed_to_a_virtual_machine_is_not_asked() -> None:
    node, tree = described()
    base = next(path for path in tree.links if path.endswith(f"{node.hcas[0].address}/driver"))
    tree.symlink(base, "../../../bus/pci/drivers/vfio-pci")
    assert node.hcas[0].address not in (look(tree).kernel.domains.value or {})


@pytest.mark.parametrize(
    ("path", "data", "value", "missing"),
    [
        (SECURE_BOOT, bytes([6, 0, 0, 0, 1]), True, False),
        (SECURE_BOOT, bytes([6, 0, 0, 0, 0]), False, False),
        (SECURE_BOOT, bytes([6, 0, 0]), None, False),
        (SECURE_BOOT, bytes([6, 0, 0, 0, 7]), None, False),
        (SECURE_BOOT, None, None, True),
        ("/sys/firmware/efi", None, None, True),
    ],
)
def test_secure_boot_is_the_variables_last_byte(
    path: str, data: bytes | None, value: bool | None, missing: bool
) -> None:
    tree = described()[1]
    if data is None:
        tree.remove(path)
    else:
        tree.file(path, data)
    reading = look(tree).kernel.secure_boot
    assert (reading.value, reading.missing) == (value, missing)


def test_governors_are_counted_and_a_kernel_may_have_none() -> None:
    tree = described()[1]
    base = "/sys/devices/system/cpu/cpufreq"
    tree.file(f"{base}/policy3/scaling_governor", "powersave")
    assert look(tree).kernel.governors.value == {"performance": 7, "powersave": 1}
    tree.remove(f"{base}/policy3/scaling_governor")
    tree.folder(f"{base}/policy3")
    assert (look(tree).kernel.governors.known, look(tree).kernel.governors.missing) == (False,) * 2
    tree.remove(base)
    assert look(tree).kernel.governors.missing
    tree.folder(base)
    assert look(tree).kernel.governors.missing


@pytest.mark.parametrize(
    ("directory", "name", "found"),
    [
        ("/etc/NetworkManager/system-connections", "ib0.nmconnection", ("ib0",)),
        ("/etc/sysconfig/network-scripts", "ifcfg-ibp65s0", ("ibp65s0",)),
        ("/etc/network/interfaces.d", "ib1.cfg", ("ib1",)),
        ("/etc/NetworkManager/system-connections", "ibm-office.nmconnection", ()),
        ("/etc/NetworkManager/system-connections", "eth0.nmconnection", ()),
    ],
)
def test_configured_infiniband_interfaces_are_found_by_name(directory: str, name: str, found: tuple[str, ...]) -> None:
    tree = described()[1]
    tree.file(f"{directory}/{name}", "psk=secret")
    assert look(tree).modules.ipoib.value == found


def test_units_are_told_by_the_names_that_systemd_gives_them() -> None:
    tree = described()[1]
    units = look(tree).services.time.value or ()
    assert Unit("chrony.service", "loaded", "active", "enabled") in units
    assert Unit("ntpd.service", "not-found", "inactive", "") in units


def test_a_bundle_of_an_earlier_release_has_an_answer_for_each_group() -> None:
    tree = described()[1]
    tree.recorded = True
    whole = look(tree).services.time
    shown = dict(zip(host_units.ALWAYS, tree.commands.pop(UNITS).stdout.split("\n\n"), strict=True))
    assert "25 were asked" not in look(tree).services.time.why
    assert not look(tree).services.time.known
    text = "\n\n".join(shown[name] for name in host_units.TIME)
    tree.command(entry_name("systemctl_show", OPTION, *host_units.TIME), f"{text}\n")
    assert look(tree).services.time == whole
    assert not look(tree).services.rdma.known
    # A live host is asked once.
    tree.recorded = False
    assert not look(tree).services.time.known


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (Output(1, "", "System has not been booted with systemd"), "ended with status 1"),
        (
            Output(0, "Id=chronyd.service\nActiveState=active\n", ""),
            "1 units in it, 25 were asked",
        ),
        (Output(0, "Id=chronyd.service\nActiveSta", ""), "ends within a line"),
        (Output(0, "", ""), "no KEY=VALUE line"),
    ],
)
def test_units_that_cannot_be_told_whole_are_unknown(output: Output, why: str) -> None:
    tree = described()[1]
    tree.commands[UNITS] = output
    reading = look(tree).services.time
    assert (reading.known, reading.missing) == (False, False)
    assert why in reading.why


@pytest.mark.parametrize(
    ("stdout", "limits"),
    [
        ("DefaultLimitMEMLOCK=8388608\nDefaultLimitNOFILE=524288\n", (8388608, 8388608)),
        (
            "DefaultLimitMEMLOCK=infinity\nDefaultLimitMEMLOCKSoft=65536\nDefaultLimitNOFILE=4096\n",
            (65536, UNLIMITED),
        ),
        # Cut: behind one soft limit the other is told, too.
        (
            "DefaultLimitNOFILE=4096\nDefaultLimitNOFILESoft=1024\nDefaultLimitMEMLOCK=infinity\n",
            None,
        ),
        ("DefaultLimitNOFILE=4096\n", None),
        ("DefaultLimitMEMLOCK=much\nDefaultLimitNOFILE=4096\n", None),
    ],
)
def test_systemds_defaults_are_read_with_or_without_soft_limits(stdout: str, limits: tuple[int, int] | None) -> None:
    tree = described()[1]
    tree.command("systemctl_show", stdout)
    reported = look(tree).services.defaults.value
    assert (reported and (reported.memlock_soft, reported.memlock_hard)) == limits


def block(name: str, active: str, pid: int) -> str:
    return f"MainPID={pid}\nId={name}\nLoadState=loaded\nActiveState={active}\n"


FEW = "Max open files  1024 524288 files\nMax locked memory  8388608 8388608 bytes\n"
GRANTED = '{"default-ulimits": {"memlock": {"Name": "memlock", "Soft": -1, "Hard": -1}}}'


@pytest.mark.parametrize(
    ("running", "docker", "limits"),
    [
        (["containerd"], None, {"containerd": 8388608}),
        (["containerd", "kubelet"], None, {"containerd": 8388608}),
        (["kubelet"], None, {"kubelet": 8388608}),
        (["docker", "containerd"], None, {"docker": 8388608, "containerd": 8388608}),
        (["docker", "containerd"], "{}", {"docker": 8388608, "containerd": 8388608}),
        (["docker", "containerd"], "[", {"docker": 8388608, "containerd": 8388608}),
        (["docker"], "[" * 100_000, {"docker": 8388608}),
        (["docker", "containerd"], GRANTED, {"docker": UNLIMITED}),
        (
            ["docker", "containerd", "kubelet"],
            GRANTED,
            {"docker": UNLIMITED, "containerd": 8388608},
        ),
    ],
)
def test_the_limits_are_those_of_what_starts_jobs(
    running: list[str], docker: str | None, limits: dict[str, int]
) -> None:
    tree = described()[1]
    blocks = []
    for number, name in enumerate(host_units.ALWAYS, 100):
        active = "active" if name in running else "inactive"
        pid = number if name in running else 0
        blocks.append(block(f"{name}.service", active, pid))
        tree.file(f"/proc/{number}/limits", FEW)
    tree.command(UNITS, "\n".join(blocks))
    if docker is not None:
        tree.file("/etc/docker/daemon.json", docker)
    found = look(tree).services.limits
    assert {name: one.value and one.value.memlock_hard for name, one in found.items()} == {
        f"{name}.service": value for name, value in limits.items()
    }


@pytest.mark.parametrize(
    ("procs", "limit", "why"),
    [
        ("4712\n4711\n", 8388608, ""),
        ("", None, "no process of it"),
        (None, None, "pbs.service has no main process"),
    ],
)
def test_a_service_without_a_main_process_is_not_left_out(procs: str | None, limit: int | None, why: str) -> None:
    tree = described()[1]
    blocks = [block(f"{name}.service", "active" if name == "pbs" else "inactive", 0) for name in host_units.ALWAYS]
    tree.command(UNITS, "\n".join(blocks))
    tree.file("/proc/4711/limits", FEW)
    if procs is not None:
        tree.file("/sys/fs/cgroup/system.slice/pbs.service/cgroup.procs", procs)
    reading = look(tree).services.limits["pbs.service"]
    assert (reading.value and reading.value.memlock_hard) == limit
    assert why in reading.why
    assert not reading.missing


@pytest.mark.parametrize("lost", ["Id", "LoadState", "ActiveState"])
def test_a_unit_without_its_state_is_unknown(lost: str) -> None:
    tree = described()[1]
    output = tree.commands[UNITS]
    whole = output.stdout.split("\n")
    cut = next(number for number, line in enumerate(whole) if line.startswith(f"{lost}="))
    tree.command(UNITS, "\n".join(whole[:cut] + whole[cut + 1 :]))
    assert lost in look(tree).services.jobs.why


def test_a_firmware_whose_variables_are_out_of_reach_tells_nothing() -> None:
    tree = described()[1]
    tree.remove("/sys/firmware/efi/efivars")
    tree.folder("/sys/firmware/efi")
    assert not look(tree).kernel.secure_boot.missing
    tree.folder("/sys/firmware/efi/efivars")
    reading = look(tree).kernel.secure_boot
    assert (reading.known, reading.missing) == (False, False)
    assert "no variable" in reading.why


def test_a_clock_of_which_nothing_is_said_is_unknown() -> None:
    tree = described()[1]
    tree.command("timedatectl_show", "Timezone=Etc/UTC\n")
    assert "NTPSynchronized" in look(tree).services.synchronised.why


def apt(active: str = "active", more: str = "") -> Tree:
    tree = described(units={host_units.APT_TIMER: active})[1]
    tree.file(f"{APT}/20auto-upgrades", ON)
    tree.file(f"{APT}/50unattended-upgrades", more)
    return tree


def test_unattended_upgrades_leave_alone_what_is_named_or_on_hold() -> None:
    tree = apt(more='Unattended-Upgrade::Package-Blacklist { "mlnx-"; };')
    tree.file(f"{APT}/99site.disabled", 'APT::Periodic::Unattended-Upgrade "0";')
    status = tree.read("/var/lib/dpkg/status").replace("install ok", "hold ok", 1)
    tree.file("/var/lib/dpkg/status", status)
    updates = look(tree).updates
    assert updates.who.value == "unattended-upgrades (apt-daily-upgrade.timer)"
    assert updates.left_alone.value == ("mlnx-", "bash")


def test_without_their_timer_nobody_installs_updates() -> None:
    updates = look(apt("inactive")).updates
    assert (updates.who.value, updates.why) == ("", "apt-daily-upgrade.timer not running")


def test_what_is_on_hold_may_be_unknown() -> None:
    tree = apt()
    tree.broken["/var/lib/dpkg/status"] = "permission denied"
    updates = look(tree).updates
    assert updates.who.value
    assert "permission denied" in updates.left_alone.why


@pytest.mark.parametrize(
    ("conf", "timer", "who"),
    [
        ("apply_updates = yes", "dnf-automatic.timer", "dnf-automatic (dnf-automatic.timer)"),
        ("apply_updates = no", "dnf-automatic.timer", ""),
        (
            "apply_updates = no",
            "dnf-automatic-install.timer",
            "dnf-automatic (dnf-automatic-install.timer)",
        ),
        ("apply_updates = yes", "none", ""),
    ],
)
def test_dnf_automatic_installs_where_its_timer_runs(conf: str, timer: str, who: str) -> None:
    tree = described("h100-pcie-2", units={timer: "active"})[1]
    tree.file("/etc/dnf/automatic.conf", f"[commands]\n{conf}\n")
    tree.file("/etc/dnf/dnf.conf", "[main]\nexcludepkgs=nvidia*, kernel*\n")
    tree.file("/etc/dnf/plugins/versionlock.list", "# locked\nmlnx-ofa_kernel-0:25.10-1.*\n!x-1\n")
    updates = look(tree).updates
    assert updates.who.value == who
    if who:
        assert updates.left_alone.value == ("nvidia*", "kernel*", "mlnx-ofa_kernel-0:25.10-1.*")


def test_a_host_without_apt_and_dnf_has_nobody_to_update_it() -> None:
    tree = described("h100-pcie-2")[1]
    tree.remove("/etc/dnf/automatic.conf")
    assert look(tree).updates.who.missing


def test_a_configuration_that_cannot_be_read_is_unknown() -> None:
    tree = described()[1]
    tree.broken[f"{APT}/20auto-upgrades"] = "permission denied"
    assert "permission denied" in look(tree).updates.who.why


def test_apt_reads_its_own_file_last() -> None:
    tree = apt()
    tree.file("/etc/apt/apt.conf", 'APT::Periodic::Unattended-Upgrade "0";')
    assert look(tree).updates.who.value == ""
    tree.broken["/etc/apt/apt.conf"] = "permission denied"
    assert "permission denied" in look(tree).updates.who.why


def test_a_directory_of_apt_without_a_file_tells_nothing() -> None:
    tree = described()[1]
    tree.remove(APT)
    tree.folder(APT)
    assert "no file in it" in look(tree).updates.who.why


def test_a_configuration_that_is_cut_off_is_unknown() -> None:
    updates = look(apt(more='Unattended-Upgrade::Package-Blacklist { "mlnx-";')).updates
    assert not updates.who.known
    assert "ends within a setting" in updates.who.why


def test_picked_lines_of_the_list_of_modules_do_not_tell_what_is_missing() -> None:
    _node, tree = described()
    tree.command("lsmod", "mlx5_core 2170880 1 mlx5_ib\n")
    listed = look(tree).modules.listed
    assert listed.value is None
    assert "somebody picked lines" in listed.why
    tree.command("lsmod", "Module Size Used by\nmlx5_core 2170880 1 mlx5_ib\nmlx5_ib 98\n")
    found = look(tree)
    assert found.modules.listed.value is None
    assert "the text is cut" in found.modules.listed.why


class Refusing(Tree):
    """A host on which nothing can be looked at."""

    def _refuse(self, *names: str) -> None:
        raise Unavailable(names[0], "permission denied")


def test_a_host_that_refuses_everything_is_unknown_in_everything() -> None:
    facts = look(Refusing()).to_dict()

    def readings(value: object) -> list[object]:
        if isinstance(value, dict) and set(value) == {"value", "why", "missing"}:
            return [value]
        return [one for more in value.values() for one in readings(more)] if isinstance(value, dict) else []

    found = readings(facts)
    assert len(found) > 15
    assert all(one["value"] is None and not one["missing"] for one in found)  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("blacklist nova_core\n", True),
        ("blacklist nova-core\n", True),
        ("install nova-core /bin/false\n", True),
        ("install nova_core /usr/bin/true\n", True),
        ("# blacklist nova-core\n", False),
        ("install nova_core /sbin/modprobe --ignore-install nova_core\n", False),
        ("blacklist nova\n", False),
    ],
)
def test_what_keeps_a_rival_out_is_read_by_both_ways_and_names(text: str, kept: bool) -> None:
    place = "/etc/modprobe.d/site.conf"
    _node, tree = described()
    tree.files[place] = text.encode()
    found = (dropins.kept_out(tree).value or {}).get("nova_core")
    assert (found.path if found else "") == (place if kept else "")
