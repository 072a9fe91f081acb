# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a role writes on a node is in the table of managed files, or a rollback forgets it."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import cdi, cdi_rdma, disk
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import dnf_text, files
from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import program as roce_program
from ansible_collections.ibready.cluster.plugins.module_utils._act.soft_roce import (
    persist as soft_keep,
    program as soft_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning import (
    blacklist,
    boot_tuning as _boot_tuning,
    bootloader,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import container_engines, roce_files
from ansible_collections.ibready.cluster.plugins.module_utils._data.managed_files import LEFT_OUT, MANAGED
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.modules import boot_tuning

ROOT = Path(__file__).parents[4]
# Their files are of the run, or of the site, and not of the stack.
OF_NO_STACK = {"reboot_gate", "health_agent"}
WRITER = re.compile(
    r"^ +(?:ansible\.builtin\.(?:copy|template|lineinfile)|ibready\.cluster\.sysctl_dropin):\n"
    r"(?:.*\n)*? +(?:dest|path): (.+)$",
    re.MULTILINE,
)
# One of the files of ibready.cluster.written_files.
ONE_OF_SEVERAL = re.compile(r"^ +- path: (.+)$", re.MULTILINE)
TEMPLATE = re.compile(r"\{\{ *(\w+) *\}\}")
# What the variables of tasks stand for.
VALUES = {"__host_tuning_ssh_unit": "ssh.service"}


def unmanaged(paths: set[str]) -> set[str]:
    return {path for path in paths if not any(fnmatch.fnmatchcase(path, one.glob) for one in MANAGED)}


def written(role: str) -> set[str]:
    """The files that the tasks of a role write."""
    home = ROOT / "roles" / role
    private = home / "vars/main.yml"
    values = {**VALUES, **(yaml.safe_load(private.read_text()) if private.exists() else {})}

    def filled(path: str) -> str:
        return TEMPLATE.sub(lambda match: str(values[match.group(1)]), path)

    return {
        # Twice, for a variable may be made of others.
        filled(filled(path.strip('"')))
        for place in home.glob("tasks/*.yml")
        for path in WRITER.findall(place.read_text()) + ONE_OF_SEVERAL.findall(place.read_text())
    }


def test_what_roles_write_is_managed() -> None:
    roles = {path.name for path in ROOT.glob("roles/*")} - OF_NO_STACK
    found = set().union(*map(written, roles))
    assert "/etc/modprobe.d/ibready-nouveau.conf" in found
    assert "/etc/systemd/user.conf.d/90-ibready.conf" in found
    assert "/etc/modules-load.d/ibready-rdma.conf" in found
    assert "/etc/infiniband/openib.conf" in found
    assert unmanaged(found) == set()


def test_a_rollback_leaves_the_health_agent_where_it_is() -> None:
    found = written("health_agent") - {"{{ item.value }}"}
    assert "/etc/ibready/agent.json" in found
    managed = found - unmanaged(found)
    assert managed - set(LEFT_OUT) == set()
    assert unmanaged({"/usr/local/lib/ibready/slurm-health", "/usr/local/lib/ibready/ibready.pyz"})


def test_what_modules_write_is_managed() -> None:
    paths = {
        files.apt_key("doca"),
        files.apt_source("doca"),
        files.apt_preferences("rdma"),
        files.dnf_key("doca"),
        files.dnf_repo("doca"),
        files.dnf_module("nvidia-driver"),
        dnf_text.LOCKS,
        blacklist.PATH,
        bootloader.DROPIN,
        _boot_tuning.CONFIG,
        boot_tuning._PROGRAM,
        boot_tuning._UNIT,
        boot_tuning._WANTED,
        soft_program.CONFIG,
        soft_keep.PROGRAM,
        soft_keep.UNIT,
        *soft_keep.wanted_links("eth0"),
        "/var/lib/ibready/soft-roce.json",
        roce_program.CONFIG,
        roce_files.PROGRAM,
        roce_files.UNIT,
        roce_files.WANTED,
        roce_files.RULE,
        roce_files.MANAGER_FILE,
        f"{roce_files.NETWORKD_FOLDER}/20-rail.network.d/{roce_files.NETWORKD_DROPIN}",
        "/var/lib/ibready/roce.json",
        SYSTEM_FILE,
        *(one.config for one in container_engines.TABLE.values()),
        *(disk.limits_path(one.unit) for one in container_engines.TABLE.values() if one.unit),
        cdi_rdma.SPEC,
        cdi.WRITTEN,
        cdi.PROGRAM,
        f"{cdi.UNITS}/ibready-cdi-rdma.path",
        f"{cdi.UNITS}/multi-user.target.wants/ibready-cdi-rdma.path",
        f"{cdi.UNITS}/multi-user.target.wants/{cdi.REFRESH_UNITS[0]}",
        files.apt_source(f"{files.SITE}docker"),
        "/var/lib/ibready/container_docker.json",
        "/var/lib/ibready/packages/rdma.json",
        "/var/lib/ibready/kernel_args.json",
    }
    assert unmanaged(paths) == set()
    assert unmanaged({"/etc/apt/sources.list.d/ibready-site.sources"})
