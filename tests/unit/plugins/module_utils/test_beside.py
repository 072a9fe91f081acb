# SPDX-License-Identifier: GPL-3.0-or-later
"""What others set on a host beside what ibready writes, as node_facts tells of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import beside
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live

STATUS = "var/lib/dpkg/status"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("etc/sysctl.d", "usr/lib/sysctl.d", "etc/security/limits.d", "etc/containerd", "etc/docker"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / STATUS).write_text("")
    return tmp_path


def put(root: Path, path: str, text: str, *, shipped: str | None = None) -> None:
    """A file of the host; ``shipped``: as its package brought it."""
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    if shipped is not None:
        digest = hashlib.md5(shipped.encode()).hexdigest()
        with (root / STATUS).open("a") as status:
            status.write(f"Package: x\nStatus: install ok installed\nConffiles:\n {path} {digest}\nVersion: 1\n\n")


def told(root: Path) -> list[tuple[str, str, str, str]]:
    return [(one["kind"], one["what"], one["said"], one["where"]) for one in beside.collect(Live(root))]


def test_lines_of_an_administrator_are_told_and_those_of_packages_are_not(root: Path) -> None:
    put(root, "/etc/sysctl.d/99-site.conf", "# ours\nnet.core.rmem_max = 268435456\n-vm.swappiness=1\n")
    put(
        root,
        "/etc/sysctl.d/10-network.conf",
        "net.ipv4.conf.all.rp_filter=2\n",
        shipped="net.ipv4.conf.all.rp_filter=2\n",
    )
    put(root, "/etc/sysctl.d/20-mine.conf", "vm.zone_reclaim_mode=1\n", shipped="# nothing\n")
    put(root, "/etc/sysctl.d/90-ibready.conf", "vm.zone_reclaim_mode = 0\n")
    put(root, "/usr/lib/sysctl.d/50-x.conf", "kernel.numa_balancing = 1\n")
    put(root, "/etc/sysctl.conf", "kernel.numa_balancing = 1\n")
    (root / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    assert told(root) == [
        ("sysctl", "vm/zone_reclaim_mode", "1", "/etc/sysctl.d/20-mine.conf"),
        ("sysctl", "net/core/rmem_max", "268435456", "/etc/sysctl.d/99-site.conf"),
        ("sysctl", "vm/swappiness", "1", "/etc/sysctl.d/99-site.conf"),
        ("sysctl", "kernel/numa_balancing", "1", "/etc/sysctl.conf"),
    ]


def test_limits_of_logins_and_of_docker_are_told(root: Path) -> None:
    put(root, "/etc/security/limits.d/99-hpc.conf", "* hard memlock 64\n@users - nofile 4096\n* soft core 0\n")
    put(
        root,
        "/etc/security/limits.d/25-pw.conf",
        "@pipewire - memlock 4194304\n",
        shipped="@pipewire - memlock 4194304\n",
    )
    limit = {"Name": "memlock", "Hard": 65536, "Soft": 65536}
    put(root, "/etc/docker/daemon.json", json.dumps({"default-ulimits": {"memlock": limit}}))
    assert told(root) == [
        ("limit", "* hard memlock", "64", "/etc/security/limits.d/99-hpc.conf"),
        ("limit", "@users - nofile", "4096", "/etc/security/limits.d/99-hpc.conf"),
        ("container", "memlock", "65536", "/etc/docker/daemon.json"),
    ]
    put(root, "/etc/docker/daemon.json", "{ // a comment\n}")
    assert all(kind != "container" for kind, *_ in told(root))


def test_a_subnet_manager_that_runs_or_starts_at_boot_is_told(root: Path) -> None:
    slices, wants = root / "sys/fs/cgroup/system.slice", root / "etc/systemd/system/multi-user.target.wants"
    for name in ("opensm.service", "ibready-opensm@fabric.service", "ssh.service"):
        (slices / name).mkdir(parents=True)
    wants.mkdir(parents=True)
    (wants / "opensm.service").symlink_to("/usr/lib/systemd/system/opensm.service")
    (wants / "opensmd.service").symlink_to("/usr/lib/systemd/system/opensmd.service")
    assert told(root) == [
        ("manager", "opensm.service", "active and enabled", ""),
        ("manager", "opensmd.service", "enabled", ""),
    ]


def test_a_file_of_a_package_that_somebody_edited_is_told_before_the_first_converge(root: Path) -> None:
    put(root, "/etc/containerd/config.toml", "version = 2\n# mine\n", shipped="version = 2\n")
    put(root, "/etc/infiniband/openib.conf", "ONBOOT=yes\n", shipped="ONBOOT=yes\n")
    put(root, "/etc/other.conf", "x\n", shipped="y\n")
    assert told(root) == [("conffile", "/etc/containerd/config.toml", "edited", "/etc/containerd/config.toml")]
    put(root, "/var/lib/ibready/stack.json", "{}")
    assert told(root) == []


def test_no_host_tells_more_than_people_read(root: Path) -> None:
    put(root, "/etc/sysctl.d/99-site.conf", "".join(f"net.x{number} = 1\n" for number in range(500)))
    *lines, last = told(root)
    assert len(lines) == 60
    assert last == ("more", "440", "", "")
