# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be true of a converged node, asked of the node itself."""

from __future__ import annotations

import re

import pytest
from testinfra.host import Host


def test_the_login_is_an_ordinary_user(node: Host) -> None:
    with node.sudo("ops"):
        assert node.check_output("id -u") != "0"


@pytest.mark.parametrize("name", ["rdma-core", "infiniband-diags", "ibverbs-utils"])
def test_the_distribution_s_rdma_packages_are_installed(node: Host, name: str) -> None:
    assert node.package(name).is_installed


def test_ibstat_is_the_package_s_own_unmodified_program(node: Host) -> None:
    path = node.check_output("command -v ibstat")
    assert path == "/usr/sbin/ibstat"
    verified = node.run("dpkg --verify infiniband-diags").stdout.splitlines()
    assert [line for line in verified if "bin/" in line] == []


def test_both_rails_are_active_at_400_gbps(node: Host) -> None:
    said = node.check_output("ibstat")
    assert re.findall(r"^CA '(\w+)'$", said, flags=re.MULTILINE) == ["ibsim0", "ibsim1"]
    assert re.findall(r"^\s+State: (\w+)$", said, flags=re.MULTILINE) == ["Active"] * 2
    assert re.findall(r"^\s+Rate: (\d+)$", said, flags=re.MULTILINE) == ["400"] * 2


@pytest.mark.parametrize("rail", ["ibsim0", "ibsim1"])
def test_the_subnet_manager_answers_on_every_rail(node: Host, rail: str) -> None:
    assert "SMINFO_MASTER" in node.check_output(f"sminfo -C {rail} -P 1")


def test_no_ping_server_was_left_behind(node: Host) -> None:
    assert node.run("pgrep -a ibping").rc == 1
    assert (
        node.check_output("systemctl list-units --all --plain --no-legend 'ibready-ibping-*'") == ""
    )


def test_logins_get_unlimited_memlock_by_pam(node: Host) -> None:
    text = node.file("/etc/security/limits.d/90-ibready.conf").content_string
    for who in (r"\*", "root"):
        for kind in ("soft", "hard"):
            assert re.search(rf"^{who}\s+{kind}\s+memlock\s+unlimited$", text, flags=re.MULTILINE)


def test_services_get_unlimited_memlock_by_systemd(node: Host) -> None:
    assert node.check_output("systemctl show -p DefaultLimitMEMLOCK --value") == "infinity"


def test_a_new_service_really_has_it_where_this_machine_lets_it(node: Host) -> None:
    capable = int(node.check_output("awk '/^CapBnd/ {print $2}' /proc/1/status"), 16) >> 24 & 1
    if not capable:
        pytest.skip("this machine withholds CAP_SYS_RESOURCE, no limit can be raised here")
    limits = node.check_output("systemd-run --wait --pipe --quiet cat /proc/self/limits")
    assert re.search(r"^Max locked memory +unlimited +unlimited", limits, flags=re.MULTILINE)


def test_sysctls_are_set_and_survive_a_reboot(node: Host) -> None:
    assert node.sysctl("net.ipv4.conf.all.arp_announce") == 2
    assert node.sysctl("vm.zone_reclaim_mode") == 0
    assert "vm.zone_reclaim_mode" in node.file("/etc/sysctl.d/90-ibready.conf").content_string


def test_no_temporary_file_is_left_in_etc(node: Host) -> None:
    assert node.check_output("find /etc -name '*.ansible_tmp*' -o -name '.ansible*'") == ""
