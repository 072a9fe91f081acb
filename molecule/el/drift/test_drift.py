# SPDX-License-Identifier: GPL-3.0-or-later
"""What a converge left is as wanted; what is taken away of it is found by verify, drift and converge alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NAME, SUBNET = os.environ["IBREADY_SANDBOX_NAME"], os.environ["IBREADY_SANDBOX_SUBNET"]
LIMITS = "/etc/security/limits.d/99-ops.conf"


def ansible(program: str, *words: str, folder: Path, **more: object) -> tuple[int, str]:
    """Run what an operator runs; its exit status, and what it says in one line."""
    own = {
        "ibready_report_dir": str(folder),
        "sandbox_name": NAME,
        "sandbox_subnet": SUBNET,
        "sandbox_os": "el",
        **more,
    }
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *words, "-i", "inventories/sandbox", "-e", json.dumps(own)],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, " ".join(done.stdout.split())


def root(script: str) -> None:
    """Run a shell script as root in node1."""
    argv = ["exec", "--name", NAME, "--subnet", SUBNET, "node1", "--", "sh", "-ec", script]
    subprocess.run([sys.executable, "-m", "sandbox", *argv], cwd=ROOT, check=True)


def test_nothing_differs_after_a_converge(tmp_path: Path) -> None:
    """Also not a limit that these nodes refuse: their file of limits is without it."""
    # Molecule's own run leaves tags out, and then no host is remembered to be at its plan.
    status, text = ansible("ansible-playbook", "playbooks/converge.yml", folder=tmp_path)
    assert status == 0, text
    status, text = ansible("ansible-playbook", "playbooks/drift.yml", folder=tmp_path, ibready_drift_fail=True)
    assert status == 0, text
    assert "node1, node2, node3: nothing differs" in text


def test_a_package_that_is_gone_is_named_by_all_three_and_brought_back(tmp_path: Path) -> None:
    """mft is no name of the plan: it came with another package."""
    root(f"rpm -e --nodeps mft; echo 'ops hard memlock 64' > {LIMITS}")
    try:
        status, text = ansible("ansible", "node1", "-m", "ibready.cluster.hostverify", folder=tmp_path)
        assert status != 0
        assert f"{LIMITS} says `ops hard memlock 64`" in text
        status, text = ansible("ansible", "node1", "-m", "ibready.cluster.stackverify", folder=tmp_path)
        assert status != 0
        assert "stack.packages.brought host: 1 of" in text
        assert "stack.packages.whole host: " in text
        drift = ("playbooks/drift.yml", "--limit", "node1")
        status, text = ansible("ansible-playbook", *drift, folder=tmp_path)
        assert status == 0, text
        (differs,) = json.loads((tmp_path / "ibready-drift.json").read_text())["hosts"].values()
        assert [side["after"] for entry in differs for side in entry["diff"]] == ["mft installed\n"], differs
        assert any("`ops hard memlock 64`" in entry["why"] for entry in differs), differs
        status, text = ansible("ansible-playbook", "playbooks/converge.yml", "--limit", "node1", folder=tmp_path)
        assert status == 0, text
        assert "node1: left as it is: host.limit.memlock_login logins of ops" in text
    finally:
        root(f"rm {LIMITS}")
    status, text = ansible("ansible", "node1", "-m", "ibready.cluster.stackverify", folder=tmp_path)
    assert status == 0, text
    status, text = ansible("ansible-playbook", *drift, folder=tmp_path, ibready_drift_fail=True)
    assert status == 0, text
