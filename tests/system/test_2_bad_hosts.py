# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that cannot be converged: named with their cause, nothing half-written, others go on."""

from __future__ import annotations

import re

import pytest

from tests.system.conftest import Box

pytestmark = pytest.mark.thorough

# Another administrator's apt: the two locks that apt takes, held by a process of its own.
HOLD_LOCKS = """cat > /run/other-admin.py <<'EOF'
import fcntl, time
held = [open(name, "w") for name in ("/var/lib/dpkg/lock-frontend", "/var/lib/apt/lists/lock")]
for one in held:
    fcntl.lockf(one, fcntl.LOCK_EX)
time.sleep(600)
EOF
systemd-run --quiet --collect --unit=other-admin python3 /run/other-admin.py
"""
BREAK_REPOSITORY = """mkdir -p /root/kept
mv /etc/apt/sources.list* /root/kept/
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] http://127.0.0.1:9/debian trixie main" > /etc/apt/sources.list
rm -rf /var/lib/apt/lists/*
"""


def test_check_mode_on_bare_nodes_ends_well_and_changes_nothing(bare: Box) -> None:
    before = _state(bare, "node1")
    done = bare.playbook("playbooks/converge.yml", "--check", "--limit", "node1")
    assert done.returncode == 0, done.stdout
    assert _state(bare, "node1") == before
    assert bare.root("node1", "! command -v ibstat") == ""


def _state(box: Box, node: str) -> str:
    """Everything that a role might touch: packages, /etc, running sysctls, failed units."""
    return box.root(
        node,
        "dpkg-query -W | sha256sum; find /etc -type f -newer /etc/ibready-sandbox.json | sort; "
        "find /etc -xdev -type f -exec sha256sum {} + | sort | sha256sum; "
        "cat /proc/sys/net/ipv4/conf/all/arp_announce /proc/sys/vm/zone_reclaim_mode; "
        "systemctl show -p DefaultLimitMEMLOCK",
    )


def test_lock_full_disk_and_broken_repository_are_each_named(bare: Box) -> None:
    bare.root("node1", HOLD_LOCKS)
    bare.root("node2", "mount -t tmpfs -o size=1m tmpfs /var/cache/apt")
    bare.root("node3", BREAK_REPOSITORY)
    try:
        done = bare.playbook("playbooks/converge.yml", "--tags", "rdma_packages", "-e", "rdma_lock_timeout=5")
        assert done.returncode != 0
        for node, cause in (
            ("node1", "lock"),
            ("node2", "a disk is full"),
            ("node3", "repository"),
        ):
            last = re.findall(rf'fatal: \[{node}\]: FAILED! => .*"msg": "(.*?)"', done.stdout)[-1]
            assert f"{node}: " in last
            assert cause in last, last
            assert "next:" in last.lower(), last
        for node in ("node1", "node2", "node3"):
            assert bare.root(node, "dpkg --audit; ! command -v ibstat") == ""
    finally:
        bare.root("node1", "systemctl stop other-admin")
        bare.root("node2", "umount /var/cache/apt")
        bare.root("node3", "rm -rf /etc/apt/sources.list*; mv /root/kept/* /etc/apt/")
