# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with a stack that somebody made by hand gets limits, nccl.conf, agent and gate, and keeps its stack."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

NODE = "node1"
# Not what a plan would choose by itself.
DOCA, DRIVER, NCCL, TOOLKIT = "3.2.2", "580.126.20", "2.28.9", "1.19.1"
# As an administrator does it who has never heard of ibready: the vendors' repositories, their packages, a blacklist.
BY_HAND = """
fetch() {{ python3 -c 'import sys, urllib.request as u; u.urlretrieve(sys.argv[1], sys.argv[2])' "$1" "$2"; }}
cd /etc/apt
install -d keyrings
fetch {doca}/GPG-KEY-Mellanox.pub keyrings/hand-doca.asc
fetch {cuda}/ubuntu2404/x86_64/3bf863cc.pub keyrings/hand-cuda.asc
fetch {container_toolkit}/gpgkey keyrings/hand-toolkit.asc
cat > sources.list.d/hand.list <<EOF
deb [signed-by=/etc/apt/keyrings/hand-doca.asc] {doca}/{doca_release}/ubuntu24.04/x86_64 ./
deb [signed-by=/etc/apt/keyrings/hand-cuda.asc] {cuda}/ubuntu2404/x86_64 ./
deb [signed-by=/etc/apt/keyrings/hand-toolkit.asc] {container_toolkit}/stable/deb/amd64 ./
EOF
pin() {{ printf 'Package: %s\\nPin: version %s*\\nPin-Priority: 1001\\n\\n' "$1" "$2"; }}
{{
  pin 'nvidia-container-toolkit* libnvidia-container*' {toolkit}
  pin 'nvidia-* libnvidia-*' {driver}
  pin 'libnccl*' {nccl}
}} > preferences.d/hand
apt-get -qq update
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends install "linux-headers-$(uname -r)"
apt-get -qq -y --no-install-recommends install doca-ofed
apt-get -qq -y --no-install-recommends install nvidia-open-580 nvidia-fabricmanager nvidia-persistenced \\
  libnccl2 nvidia-container-toolkit
printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' > /etc/modprobe.d/hand.conf
systemctl -q enable openibd nvidia-fabricmanager nvidia-persistenced
printf 'net.core.rmem_max = 268435456\\n' > /etc/sysctl.d/99-site.conf
"""
# By another road than ibready's: dpkg's, apt's and systemd's own words, and what the kernel has loaded.
STACK = """
form='${binary:Package} ${Version} ${db:Status-Want} ${db:Status-Status}'
dpkg-query --show --showformat="$form\\n"
echo held; apt-mark showhold; echo asked for; apt-mark showmanual
for unit in openibd nvidia-fabricmanager nvidia-persistenced; do
  echo "$unit $(systemctl is-enabled $unit) $(systemctl is-active $unit)" \\
    "$(systemctl show --value --property=ActiveEnterTimestampMonotonic $unit)"
done
cat /sys/module/nvidia/version /sys/module/mlx5_core/srcversion 2>/dev/null || true
cd /etc
find apt modprobe.d infiniband nvidia* sysctl.d/99-site.conf -type f -exec sha256sum {} + 2>/dev/null | sort -k2
"""
LOADED = "cat /sys/module/nvidia/version"


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lock of this story's own."""
    return tmp_path_factory.mktemp("lock") / "stack.lock.yml"


@pytest.fixture(scope="module")
def made(bare: Box) -> Box:
    """node1 with a stack of its own, which runs."""
    vendors = {name: told["base"] for name, told in yaml.safe_load(bare.rig.repositories.read_text()).items()}
    words = {"doca_release": DOCA, "driver": DRIVER, "nccl": NCCL, "toolkit": TOOLKIT, **vendors}
    bare.root(NODE, BY_HAND.format(**words))
    # A file that goes with the boot tells when the node is another one.
    bare.root(
        NODE, "touch /run/before; systemd-run --quiet --collect sh -c 'sleep 1; systemctl reboot --force --force'"
    )
    time.sleep(3)
    bare.back(NODE)
    assert "gone" in bare.root(NODE, "ls /run/before || echo gone")
    assert bare.root(NODE, LOADED).strip() == DRIVER
    return bare


def go(box: Box, lock: Path, playbook: str = "converge", **more: object) -> subprocess.CompletedProcess[str]:
    """A playbook on node1 alone; nobody says where any vendor's packages are."""
    given = {
        **{"stack_lock_file": str(lock), "ibready_report_dir": str(lock.parent), "stack_repositories": {}},
        **{"stack_container_toolkit": "auto", "stack_default": "found", "health_agent_manage": True},
        **more,
    }
    return box.playbook(f"playbooks/{playbook}.yml", "--limit", NODE, "-e", json.dumps(given))


def test_a_stack_made_by_hand_stays_to_the_package_and_gets_all_else(made: Box, lock: Path) -> None:
    before = made.root(NODE, STACK)

    checked = go(made, lock, "plan")
    assert checked.returncode == 0, checked.stdout
    assert f"{DRIVER} open, as found" in said(checked.stdout)
    assert "/etc/sysctl.d/99-site.conf says `net.core.rmem_max = 268435456` and counts before" in said(checked.stdout)

    done = go(made, lock)
    assert done.returncode == 0, done.stdout
    assert made.root(NODE, STACK) == before
    (kind,) = yaml.safe_load(lock.read_text())["classes"].values()
    found = {part: fields.get("found") for part, fields in kind["stack"].items()}
    assert found["driver"] == DRIVER
    assert found["nccl"] == f"{NCCL}-1+cuda13.0"
    assert found["container_toolkit"] == f"{TOOLKIT}-1"
    assert found["fabric_manager"] == f"{DRIVER}-1ubuntu1"
    assert kind["stack"]["rdma"]["version"] == DOCA

    made.root(NODE, "grep -q memlock /etc/security/limits.d/90-ibready.conf; test -s /etc/sysctl.d/90-ibready.conf")
    made.root(NODE, "grep -q ^NCCL_IB_HCA= /etc/nccl.conf")
    made.root(NODE, "systemctl -q is-active ibready-health.timer; ibready gate || test $? -le 3")
    assert made.root(NODE, "test ! -e /var/lib/ibready/packages || ls /var/lib/ibready/packages") == ""

    again = go(made, lock)
    assert again.returncode == 0, again.stdout
    assert " changed=0 " in again.stdout
    assert made.root(NODE, STACK) == before


def test_its_lock_is_kept_to_and_moves_with_a_word(made: Box, lock: Path) -> None:
    newer = "2.29.7-1+cuda13.0"
    made.root(NODE, f"rm /etc/apt/preferences.d/hand; apt-get -qq -y install libnccl2={newer}")
    before = made.root(NODE, STACK)

    done = go(made, lock)
    assert done.returncode != 0
    assert f"{NODE}: stack_default is found, and {newer} is there of nccl; the lock found {NCCL}" in said(done.stdout)
    assert made.root(NODE, STACK) == before

    done = go(made, lock, stack_relock=True)
    assert done.returncode == 0, done.stdout
    assert f"nccl {NCCL}+cuda13.0, as found -> 2.29.7+cuda13.0, as found" in said(done.stdout)
    assert made.root(NODE, STACK) == before


def test_another_part_comes_beside_it_and_what_is_not_there_is_refused(made: Box, lock: Path) -> None:
    made.root(NODE, "apt-get -qq -y purge libnccl2 nvidia-container-toolkit")
    before = made.root(NODE, STACK)
    repositories = yaml.safe_load(made.rig.repositories.read_text())
    other = lock.with_name("other.lock.yml")

    done = go(made, other, stack_nccl="found")
    assert done.returncode != 0
    assert f"{NODE}: stack_nccl is found, and no nccl is on the host; next: install it" in said(done.stdout)
    assert made.root(NODE, STACK) == before
    assert not other.exists()

    done = go(made, other, stack_nccl="2.29.7", stack_repositories=repositories)
    assert done.returncode == 0, done.stdout
    assert "not there, and not brought (stack_default is found): container_toolkit" in said(done.stdout)
    after = made.root(NODE, "dpkg-query --show --showformat='${binary:Package} ${Version}\\n'").splitlines()
    had = {line.rsplit(" ", 2)[0] for line in before.partition("held")[0].splitlines() if line.endswith(" installed")}
    assert {line.split()[0].partition(":")[0] for line in set(after) - had} == {"libnccl2", "libnccl-dev"}
