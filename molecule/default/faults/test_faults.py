# SPDX-License-Identifier: GPL-3.0-or-later
"""Every fault of sandbox/faults.yml: broken, found under its own name, healed, ready again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FAULTS: list[dict[str, Any]] = yaml.safe_load((ROOT / "sandbox/faults.yml").read_text())["faults"]
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
    inventories = ["-i", "inventories/sandbox", "-i", "molecule/default/inventory"]
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            "playbooks/verify.yml",
            *inventories,
            "-e",
            json.dumps({"ibready_report_dir": str(folder)}),
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


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_is_found_named_and_gone_after_heal(fault: dict[str, Any], tmp_path: Path) -> None:
    node = fault.get("default_node") or ""
    expect = fault["expect"]
    sandbox("break", fault["name"], *([node] if fault["needs_node"] else []))
    try:
        status, text, report = verify(tmp_path / "broken")
        bad = found(report, "fail", "unknown")
        print(text)
        assert status != 0
        for check_id in expect["checks"]:
            assert check_id in bad, f"{fault['name']} was not found by {check_id}; found {bad}"
            if node:
                assert any(one.startswith(f"{node} ") for one in bad[check_id])
            if expect.get("subject"):
                assert any(one.endswith(f" {expect['subject']}") for one in bad[check_id])
            # The operator sees it, and where to go from there.
            assert check_id in text
        others = set(bad) - set(expect["checks"]) - set(expect["consequences"])
        assert not others, f"{fault['name']} also made {others} fail"
        for host in report["hosts"].values():
            for check in host["checks"]:
                if check["result"] in ("fail", "unknown"):
                    assert check["cause"], check
                    assert check["remedy"], check
        if node:
            innocent = {one for ones in bad.values() for one in ones if not one.startswith(node)}
            assert not innocent, f"{fault['name']} on {node} was also laid at {innocent}"
    finally:
        sandbox("heal")
    status, text, report = verify(tmp_path / "healed")
    assert status == 0, text
    assert found(report, "fail", "unknown") == {}
    assert {host["verdict"] for host in report["hosts"].values()} == {"ready"}


def test_an_unknown_fault_is_refused_before_anything_breaks() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        sandbox("break", "cabel")
