# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be true of a converged machine, asked of the machine itself."""

from __future__ import annotations

import re
from typing import Any

import pytest
from testinfra.host import Host

LINK = r"^link rxe0/1 state ACTIVE physical_state LINK_UP netdev eth1\b"


def test_the_kernel_is_the_machines_own(machine: Host) -> None:
    seen = machine.run("systemd-detect-virt --container")
    assert (seen.rc, seen.stdout.strip()) == (1, "none")
    assert "ibready" not in machine.check_output("uname -a")
    assert "console=ttyS0" in machine.file("/proc/cmdline").content_string


@pytest.mark.parametrize("module", ["ib_umad", "ib_uverbs", "rdma_ucm", "rdma_rxe"])
def test_the_modules_are_loaded_and_will_be(machine: Host, module: str) -> None:
    assert machine.file(f"/sys/module/{module}").is_directory
    if module == "rdma_rxe":
        return
    named = machine.check_output("cat /etc/modules-load.d/ibready-rdma.conf")
    assert re.search(rf"^{module}$", named, flags=re.MULTILINE)


def test_the_software_device_is_active_on_the_data_network(machine: Host) -> None:
    assert re.search(LINK, machine.check_output("rdma link"), flags=re.MULTILINE)


def test_verbs_open_the_device_as_an_ordinary_user(machine: Host) -> None:
    with machine.sudo("ops"):
        said = machine.check_output("ibv_devinfo -d rxe0")
    assert "PORT_ACTIVE" in said
    assert re.search(r"link_layer:\s+Ethernet", said)


def test_a_new_login_and_a_new_service_may_lock_all_memory(machine: Host) -> None:
    limits = machine.check_output("systemd-run --wait --pipe --quiet cat /proc/self/limits")
    assert re.search(r"^Max locked memory +unlimited +unlimited", limits, flags=re.MULTILINE)
    with machine.sudo("ops"):
        assert machine.check_output("ulimit -l") == "unlimited"


def test_kernel_settings_are_the_kernels(machine: Host) -> None:
    assert machine.sysctl("vm.max_map_count") == 1048576
    assert machine.sysctl("net.core.rmem_max") == 16777216
    assert machine.sysctl("net.ipv4.conf.all.arp_announce") == 2


def test_the_packages_are_whole(machine: Host) -> None:
    assert machine.check_output("dpkg --audit") == ""
    assert machine.run("apt-get check -qq").rc == 0


def test_nothing_half_written_is_left(machine: Host) -> None:
    found = machine.check_output(
        "find /etc /usr/local /var/lib/ibready -xdev -name '*.ansible_tmp*' -o -name '.ansible*'"
        " -o -name '*.dpkg-new' -o -name '*.dpkg-tmp'"
    )
    assert found == ""
    assert machine.check_output("find /etc -xdev -name '*ibready*' -type f -empty") == ""


def test_no_unit_has_failed(machine: Host) -> None:
    assert machine.check_output("systemctl --failed --plain --no-legend") == ""


def test_the_firewall_opens_roce_for_the_nodes_only(machine: Host, machines: Any) -> None:
    rules = machine.check_output("nft list ruleset")
    opened = [line.strip() for line in rules.splitlines() if re.search(r"\b4791\b", line)]
    assert any(line.startswith("ip saddr @ibready_nodes4 udp dport ") for line in opened), rules
    assert all(re.match(r"ip6? saddr @ibready_nodes[46] ", line) for line in opened), opened
    found = re.search(r"set ibready_nodes4 \{[^}]*elements = \{([^}]*)\}", rules)
    assert found, rules
    nodes = {f"{machines.subnet}.{last}" for last in (11, 12)}
    assert set(found[1].replace(",", " ").split()) == nodes


def test_the_engine_gives_containers_the_limit(machine: Host) -> None:
    engine = machine.file("/etc/containers/containers.conf.d/90-ibready.conf").content_string
    assert "memlock" in engine
