# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be true of a converged node, asked of the node itself."""

from __future__ import annotations

import re
from typing import Any

import pytest
from testinfra.host import Host


def test_the_login_is_an_ordinary_user(node: Host) -> None:
    with node.sudo("ops"):
        assert node.check_output("id -u") != "0"


def test_the_loaded_modules_are_the_installed_ones(node: Host, stack: dict[str, Any]) -> None:
    version = stack["driver"]["version"]
    assert node.file("/sys/module/nvidia/version").content_string.strip() == version
    assert "Open Kernel Module" in node.file("/proc/driver/nvidia/version").content_string
    train = stack["rdma"]["nic_driver"].rpartition(".")[0]
    assert node.file("/sys/module/mlx5_core/version").content_string.strip() == train
    assert not node.file("/sys/module/nouveau").exists


def test_nvidia_smi_sees_eight_gpus_of_that_driver(node: Host, stack: dict[str, Any]) -> None:
    said = node.check_output("nvidia-smi -q -x")
    assert said.count("<gpu id=") == 8
    assert f"<driver_version>{stack['driver']['version']}</driver_version>" in said


@pytest.mark.parametrize("name", ["nvidia-fabricmanager", "nvidia-persistenced", "openibd"])
def test_the_services_run_and_start_at_boot(node: Host, name: str) -> None:
    assert node.service(name).is_running
    assert node.service(name).is_enabled


def test_ofed_info_tells_the_planned_release(node: Host, stack: dict[str, Any]) -> None:
    assert stack["rdma"]["nic_driver"] in node.check_output("ofed_info -s")


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
    assert node.check_output("systemctl list-units --all --plain --no-legend 'ibready-ibping-*'") == ""


def may_raise_limits(node: Host) -> bool:
    """Whether this machine leaves the node CAP_SYS_RESOURCE."""
    return bool(int(node.check_output("awk '/^CapBnd/ {print $2}' /proc/1/status"), 16) >> 24 & 1)


def test_logins_get_unlimited_memlock_by_pam(node: Host) -> None:
    text = node.file("/etc/security/limits.d/90-ibready.conf").content_string
    if node.file("/etc/redhat-release").exists and not may_raise_limits(node):
        # EL's pam_limits refuses every login over a limit that it cannot set; Debian's does not.
        assert "memlock unlimited is left out" in text
        return
    for who in (r"\*", "root"):
        for kind in ("soft", "hard"):
            assert re.search(rf"^{who}\s+{kind}\s+memlock\s+unlimited$", text, flags=re.MULTILINE)


def test_services_get_unlimited_memlock_by_systemd(node: Host) -> None:
    assert node.check_output("systemctl show -p DefaultLimitMEMLOCK --value") == "infinity"


def test_a_new_service_really_has_it_where_this_machine_lets_it(node: Host) -> None:
    if not may_raise_limits(node):
        pytest.skip("this machine withholds CAP_SYS_RESOURCE, no limit can be raised here")
    limits = node.check_output("systemd-run --wait --pipe --quiet cat /proc/self/limits")
    assert re.search(r"^Max locked memory +unlimited +unlimited", limits, flags=re.MULTILINE)


def test_sysctls_are_set_and_survive_a_reboot(node: Host) -> None:
    assert node.sysctl("net.ipv4.conf.all.arp_announce") == 2
    assert node.sysctl("vm.zone_reclaim_mode") == 0
    assert "vm.zone_reclaim_mode" in node.file("/etc/sysctl.d/90-ibready.conf").content_string


def test_no_temporary_file_is_left_in_etc(node: Host) -> None:
    assert node.check_output("find /etc -name '*.ansible_tmp*' -o -name '.ansible*'") == ""
