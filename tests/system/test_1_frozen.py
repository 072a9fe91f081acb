# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that hangs in the middle of a verify costs the others a bound, and nothing else. Needs no sandbox: three hosts
on this machine, each with an interpreter of its own."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read
from tests.system.conftest import ROOT, command, run, said

# Seconds: what an honest answer may take on a busy machine.
BOUND = 40
HUNG = "host3"
GOOD = ("host1", "host2")
WAIVED = {"until": "9999-12-31", "reason": "one machine"}
ACCESS = "host.access.reachable"


class Fleet:
    """Three hosts, of which the last one hangs once it is asked what ``at`` says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "python3"
        shutil.copy(ROOT / "tests/system/frozen_python.py", self.python)
        self.python.chmod(0o755)
        hosts: dict[str, Any] = {name: {"ansible_python_interpreter": sys.executable} for name in GOOD}
        hosts[HUNG] = {"ansible_python_interpreter": str(self.python)}
        shared = {
            "ansible_connection": "local",
            "ansible_become": False,
            "ibready_address": "127.0.0.1",
            "ibready_visit_timeout": BOUND,
            # They are one machine.
            "ibready_waivers": [{"check": "fleet.host.name", "host": "{{ inventory_hostname }}", **WAIVED}],
            "ibready_report_dir": str(folder / "reports"),
        }
        (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": shared}}))

    def hangs(self, *at: str) -> None:
        (self.folder / "frozen.json").write_text(json.dumps({"at": at}))

    def playbook(self, name: str, *argv: str) -> tuple[int, str]:
        inventory = str(self.folder / "hosts.json")
        done = run(command("ansible-playbook"), name, "-i", inventory, *argv, timeout=600)
        return done.returncode, done.stdout

    def left(self) -> list[int]:
        """Processes that still ask the host."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes()
            except OSError:
                continue
            if str(self.python).encode() in words:
                found.append(int(entry.parent.name))
        return found


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path)
    yield made
    # Who sleeps still ends by itself.
    (tmp_path / "frozen.json").unlink()
    deadline = time.monotonic() + 30
    while made.left() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert made.left() == []


THOROUGH = pytest.mark.thorough
PHASES = [
    pytest.param(['"module": "hostverify"'], "Judge all that one host can tell, in one visit", id="visit"),
    pytest.param(["tcp_listen", "listening"], "Listen on the ports of jobs", id="listeners", marks=THOROUGH),
    pytest.param(["tcp_listen", "stopped"], "Stop listening", id="end", marks=THOROUGH),
]


@pytest.mark.parametrize(("at", "task"), PHASES)
def test_a_host_that_hangs_is_unknown_by_name_and_the_others_are_judged(fleet: Fleet, at: list[str], task: str) -> None:
    fleet.hangs(*at)
    status, output = fleet.playbook("playbooks/verify.yml")
    assert (fleet.folder / "frozen").exists(), output
    assert fleet.left() == []
    assert status == 2, output
    why = f"gave no answer for {BOUND} s to: {task}"
    assert f"{HUNG} {why}. Next: " in said(output)
    hosts = read(fleet.folder / "reports/ibready-report.json")["hosts"]
    (check,) = [one for one in hosts[HUNG]["checks"] if one["id"] == ACCESS]
    assert (hosts[HUNG]["verdict"], check["result"], check["cause"]) == ("unknown", "unknown", why)
    for name in GOOD:
        (check,) = [one for one in hosts[name]["checks"] if one["id"] == ACCESS]
        assert check["result"] == "pass"
        assert len(hosts[name]["checks"]) > 100
