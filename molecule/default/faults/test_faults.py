# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of sandbox/faults.yml: broken, found under its own name, healed, ready again.

Three of them every day, all with IBREADY_CASES=all. What the heal of one fault left behind would be found beside
the next one, and at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import cases

ROOT = Path(__file__).resolve().parents[3]
FAULTS: dict[str, dict[str, Any]] = {
    fault["name"]: fault for fault in yaml.safe_load((ROOT / "sandbox/faults.yml").read_text())["faults"]
}
# One of the fabric, one of its manager, one of a node's TCP.
EVERYDAY = ("cable", "sm-dead", "range-closed")
HOSTS = ("node1", "node2", "node3")
BOX = [
    "--name",
    os.environ["IBREADY_SANDBOX_NAME"],
    "--subnet",
    os.environ["IBREADY_SANDBOX_SUBNET"],
]


def sandbox(*argv: str) -> None:
    """Run a sandbox command on this scenario's sandbox; its output belongs to the test's."""
    subprocess.run([sys.executable, "-m", "sandbox", *argv, *BOX], cwd=ROOT, check=True)


def verify(folder: Path) -> tuple[int, str, dict[str, Any]]:
    """Run what an operator runs: exit status, output, and the JSON report."""
    variables = {
        "ibready_report_dir": str(folder),
        "sandbox_name": os.environ["IBREADY_SANDBOX_NAME"],
        "sandbox_subnet": os.environ["IBREADY_SANDBOX_SUBNET"],
    }
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            "playbooks/verify.yml",
            "-i",
            "inventories/sandbox",
            "-e",
            json.dumps(variables),
        ],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    report = folder / "ibready-report.json"
    assert report.exists(), done.stdout + done.stderr
    return done.returncode, done.stdout, json.loads(report.read_text())


def found(report: dict[str, Any], *results: str) -> dict[str, set[str]]:
    """Check id -> "host subject" of all checks with one of the results."""
    bad: dict[str, set[str]] = {}
    for name, host in report["hosts"].items():
        for check in host["checks"]:
            if check["result"] in results:
                bad.setdefault(check["id"], set()).add(f"{name} {check['subject']}")
    return bad


@pytest.mark.parametrize("name", list(FAULTS) if cases.ALL else EVERYDAY)
def test_a_fault_is_found_and_named_and_nothing_else_is(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    expect = fault["expect"]
    node = fault["default_node"] if fault["needs_node"] else ""
    subject = expect["subject"]
    sandbox("break", name)
    try:
        status, text, report = verify(tmp_path / "broken")
        bad = found(report, "fail", "unknown")
        print(text)
        assert status != 0
        named = found(report, expect.get("result", "fail"))
        for check_id in expect["checks"]:
            assert check_id in named, f"{name} was not found by {check_id}; found {bad}"
            blamed = {one.split()[0] for one in bad[check_id]}
            assert blamed == set(expect.get("also", [])) | ({node} if node else set(HOSTS))
            assert any(one.endswith(f" {subject}") for one in bad[check_id])
            # The operator sees it, and where to go from there.
            assert check_id in text
        others = set(bad) - set(expect["checks"]) - set(expect["consequences"])
        assert not others, f"{name} also made {others} fail"
        for host in report["hosts"].values():
            for check in host["checks"]:
                if check["result"] in ("fail", "unknown"):
                    assert check["cause"], check
                    assert check["remedy"], check
        blamed = {one.split()[0] for ones in bad.values() for one in ones}
        assert blamed == set(expect.get("also", [])) | ({node} if node else set(HOSTS))
    finally:
        sandbox("heal")


def test_every_host_is_ready_after_the_last_heal(tmp_path: Path) -> None:
    status, text, report = verify(tmp_path)
    assert status == 0, text
    assert found(report, "fail", "unknown") == {}
    assert {host["verdict"] for host in report["hosts"].values()} == {"ready"}


def test_an_unknown_fault_is_refused_before_anything_breaks() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        sandbox("break", "cabel")
