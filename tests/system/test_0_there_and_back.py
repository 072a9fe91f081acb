# SPDX-License-Identifier: GPL-3.0-or-later
"""One stack, the next, and back; and a run that loses a host."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.system.conftest import Box

pytestmark = pytest.mark.thorough

# GPUDirect Storage comes with the old stack and goes with the new.
OLD = {"stack_driver": "580.126.20", "stack_rdma_version": "3.2.2", "stack_gds": "newest"}
STORAGE = "etc/modules-load.d/ibready-nvidia-fs.conf"
# By another road than the module's: dpkg's and apt's own words, and every file of /etc, not only
# those that ibready knows to be its own.
LOOK = """
form='${binary:Package} ${Version} ${db:Status-Want} ${db:Status-Status}'
dpkg-query --show --showformat="$form\\n"
echo held; apt-mark showhold; echo asked for; apt-mark showmanual; cd /
files() {
  find etc usr/local/lib/ibready var/lib/ibready -xdev \\
    -path var/lib/ibready/snapshots -prune -o "$@" \\
    2>/dev/null
}
echo files
files \\( -type f -o -type l \\) -printf '%p %m %U:%G %l\\n' | sort
files -type f -exec sha256sum {} + | sort -k2
"""
# Not of ibready: the linker's cache is made anew by every package with a library, and groups that
# packages make stay when they are purged. And the snapshots' own memory says where the node is.
LEFT_OUT = ("etc/ld.so.cache", "var/lib/ibready/stack.json")
GROUPS = ("etc/group", "etc/group-", "etc/gshadow", "etc/gshadow-")
SNAPSHOTS = "/var/lib/ibready/snapshots"


def look(box: Box, node: str = "node1") -> list[str]:
    lines = box.root(node, LOOK).splitlines()
    return [line for line in lines if not any(path in line.split() for path in LEFT_OUT)]


def without_groups(seen: list[str]) -> list[str]:
    return [line for line in seen if not any(path in line.split() for path in GROUPS)]


def storage(seen: list[str]) -> set[str]:
    """What there is of GPUDirect Storage: packages with their releases, and what loads the module at boot."""
    own = ("nvidia-fs ", "nvidia-fs-dkms ", "gds-tools-", "libcufile-")
    packages = {" ".join(line.split()[:2]) for line in seen if line.startswith(own) and line.endswith(" installed")}
    return packages | {STORAGE for line in seen if line.startswith(f"{STORAGE} ")}


def drivers(seen: list[str]) -> set[str]:
    return {line.split()[1] for line in seen if line.startswith("nvidia-open-580 ")}


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lock of this story's own."""
    return tmp_path_factory.mktemp("lock") / "stack.lock.yml"


def extra(lock: Path, **more: object) -> list[str]:
    given = {"stack_lock_file": str(lock), "ibready_report_dir": str(lock.parent), **more}
    return ["--limit", "node1", "-e", json.dumps(given)]


def test_upgrade_and_rollback_are_byte_for_byte(bare: Box, lock: Path) -> None:
    before_ibready = look(bare)
    done = bare.playbook("playbooks/converge.yml", *extra(lock, **OLD))
    assert done.returncode == 0, done.stdout
    old = look(bare)
    assert drivers(old) == {"580.126.20-1ubuntu1"}
    assert STORAGE in storage(old)
    assert {entry.split()[0] for entry in storage(old)} > {"nvidia-fs", "nvidia-fs-dkms"}
    assert bare.sandbox("exec", "node1", "--", "cat", "/sys/module/nvidia_fs/refcnt").strip() == "0"

    done = bare.playbook("playbooks/converge.yml", *extra(lock, stack_relock=True))
    assert done.returncode == 0, done.stdout
    new = look(bare)
    assert drivers(new)
    assert drivers(new) != drivers(old)
    assert storage(new) == set()

    # Verification follows, and a node that is alone cannot be ready: nobody pings it.
    done = bare.playbook("playbooks/rollback.yml", *extra(lock))
    assert "The locks changed places" in " ".join(done.stdout.split()), done.stdout
    assert look(bare) == old
    report = json.loads((lock.parent / "ibready-report-limited.json").read_text())
    failed = [one["id"] for one in report["hosts"]["node1"]["checks"] if one["result"] == "fail"]
    assert failed == []
    assert bare.sandbox("exec", "node1", "--", "cat", "/sys/module/nvidia/version").strip() == "580.126.20"
    again = bare.playbook("playbooks/rollback.yml", *extra(lock))
    assert again.returncode != 0
    assert "stack_rollback_to=next" in again.stdout

    done = bare.playbook("playbooks/rollback.yml", *extra(lock, stack_rollback_to="bare"))
    assert done.returncode == 0, done.stdout
    assert without_groups(look(bare)) == without_groups(before_ibready)


def test_a_host_without_a_snapshot_is_refused_by_name(bare: Box, lock: Path) -> None:
    before = look(bare, "node1")
    bare.root("node1", f"mv {SNAPSHOTS} /root/; rm /var/lib/ibready/stack.json")
    try:
        done = bare.playbook("playbooks/rollback.yml", *extra(lock, stack_rollback_to="next"))
        assert done.returncode != 0
        assert "node1: this host has no snapshot of the plan" in done.stdout
        assert "stack.lock.previous.yml" in done.stdout
    finally:
        bare.root("node1", f"mv /root/snapshots {SNAPSHOTS}")
    assert look(bare, "node1") == before


def test_a_host_that_is_lost_stops_the_run(bare: Box, lock: Path) -> None:
    """Two of a batch of two, one of them lost while it converges: the third is not touched."""
    before = {node: look(bare, node) for node in ("node1", "node2", "node3")}
    lost = threading.Thread(target=_lose, args=(bare, "node2"))
    lost.start()
    rolling = {"ibready_serial": 2, "ibready_max_fail_percentage": 0}
    try:
        done = bare.playbook("playbooks/converge.yml", *extra(lock.with_name("other.lock.yml"), **rolling)[2:])
    finally:
        lost.join()
        subprocess.run(["podman", "start", bare.rig.container("node2")], check=True, capture_output=True)
    said = " ".join(done.stdout.split())
    assert done.returncode != 0
    assert "node2 stopped answering or failed, of 2 in this batch" in said, done.stdout
    assert "TASK [Container toolkit, engines and devices]" not in done.stdout
    assert look(bare, "node3") == before["node3"]
    assert bare.adhoc("node2", "-m", "ansible.builtin.wait_for_connection").returncode == 0
    back = ("--limit", "node1,node2", "-e", "stack_rollback_to=bare")
    done = bare.playbook("playbooks/rollback.yml", *back)
    assert done.returncode == 0, done.stdout
    assert {node: look(bare, node) for node in before} == before


def _lose(box: Box, node: str) -> None:
    """Stop a node once its converge has begun."""
    for _ in range(240):
        if box.root(node, f"if [ -e {SNAPSHOTS} ]; then ls {SNAPSHOTS}; fi").strip():
            subprocess.run(["podman", "kill", box.rig.container(node)], check=True, capture_output=True)
            return
        time.sleep(0.5)
