# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs over the same nodes: one works as if alone, the other names it and changes nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.system.conftest import ROOT, Box, command, said
from tests.system.test_0_there_and_back import look

pytestmark = pytest.mark.thorough

NODES = ("node1", "node2", "node3")
OURS = "/etc/security/limits.d/90-ibready.conf"
LEASE = "/var/lib/ibready/lease/changes.json"
# A process that nobody here can see; the clocks of the nodes are this machine's.
OTHER = "run='1 1 elsewhere other-boot' who='eve@other (process 1)' what=rollback.yml"
SINCE = r"since [0-9]{4}(-[0-9]{2}){2} [0-9:]{8}\+00:00 on node"


def start(box: Box, book: str, home: Path, *more: str) -> subprocess.Popen[str]:
    """``ansible-playbook`` beside others, with a report and a process group of its own."""
    home.mkdir()
    given = json.dumps({"ibready_report_dir": str(home)})
    plain = {name: value for name, value in os.environ.items() if name != "ANSIBLE_CONFIG"}
    with open(home / "said", "w") as output:
        return subprocess.Popen(
            [command("ansible-playbook"), book, *box.inventories, "-e", given, *more],
            cwd=ROOT,
            env={**plain, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"},
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def changes(text: str) -> dict[str, int]:
    """How many tasks changed something, by host, of the recap."""
    recap = text.rpartition("PLAY RECAP")[2]
    return {name: int(number) for name, number in re.findall(r"^(\S+) .*changed=(\d+)", recap, re.M)}


def leases(box: Box) -> list[str]:
    return [one for one in NODES if box.root(one, f"if [ -e {LEASE} ]; then echo yes; fi").strip()]


def test_of_two_at_once_one_works_as_if_alone_and_the_other_names_it(ready: Box, tmp_path: Path) -> None:
    for node in NODES:
        ready.root(node, f"rm -f {OURS}")
    runs = {name: start(ready, "site.yml", tmp_path / name) for name in "ab"}
    try:
        status = {name: run.wait(timeout=900) for name, run in runs.items()}
    finally:
        for run in runs.values():
            run.kill()
    words = {name: (tmp_path / name / "said").read_text() for name in runs}
    assert sorted(status.values()) == [0, 2], words
    (won,) = (name for name in status if status[name] == 0)
    (lost,) = set(runs) - {won}

    reported = said(words[lost])
    assert "Another run is at work here, and nothing was changed on any host: site.yml by" in reported
    assert f"(process {runs[won].pid}) is at work" in reported
    assert re.search(SINCE, reported)
    assert "Next: let it end" in reported
    assert changes(words[lost]) == dict.fromkeys(("localhost", *NODES), 0)
    assert words[lost].rpartition("TASK [")[2].startswith("Refuse to change hosts")
    assert not (tmp_path / lost / "ibready-report.json").exists()

    changed = changes(words[won])
    assert all(changed[node] > 0 for node in NODES)
    assert all(ready.root(node, f"ls {OURS}") for node in NODES)
    report = json.loads((tmp_path / won / "ibready-report.json").read_text())
    assert {host["verdict"] for host in report["hosts"].values()} == {"ready"}
    assert leases(ready) == []


def test_a_host_that_another_controller_has_is_left_alone_with_all_others(ready: Box) -> None:
    done = ready.adhoc("node2", "-b", "-m", "ibready.cluster.run_lease", "-a", f"state=taken {OTHER}")
    assert done.returncode == 0, done.stdout
    ready.root("node1", f"rm {OURS}")
    before = {node: look(ready, node) for node in NODES}

    checked = ready.playbook("playbooks/converge.yml", "--check")
    assert checked.returncode == 0, checked.stdout
    assert "node2: another run is at work here: rollback.yml by eve@other" in said(checked.stdout)
    for book in ("site.yml", "playbooks/rollback.yml"):
        more = ("-e", "stack_rollback_to=bare") if "rollback" in book else ()
        done = ready.playbook(book, *more)
        assert done.returncode == 2, done.stdout
        assert "rollback.yml by eve@other (process 1) is at work since" in said(done.stdout)
        assert " on node2, until " in said(done.stdout)
        assert changes(done.stdout) == dict.fromkeys(("localhost", *NODES), 0)
        assert leases(ready) == ["node2"]
    assert {node: look(ready, node) for node in NODES} == before

    # The others alone, then all by consent.
    limits = ("--tags", "host_tuning_limits")
    done = ready.playbook("playbooks/converge.yml", "--limit", "!node2", *limits)
    assert done.returncode == 0, done.stdout
    done = ready.playbook("playbooks/converge.yml", "-e", "ibready_take_over=true", *limits)
    assert done.returncode == 0, done.stdout
    assert leases(ready) == []


def test_a_run_that_was_killed_is_in_nobodys_way_on_its_own_machine(ready: Box, tmp_path: Path) -> None:
    killed = start(ready, "playbooks/converge.yml", tmp_path / "killed", "-e", "ibready_serial=1")
    try:
        for _ in range(300):
            if len(leases(ready)) == len(NODES):
                break
            time.sleep(0.2)
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
    assert leases(ready) == list(NODES)
    done = ready.playbook("playbooks/converge.yml")
    assert done.returncode == 0, done.stdout
    assert leases(ready) == []


def test_servers_of_another_run_stay_and_its_host_is_unknown_by_its_name(ready: Box) -> None:
    theirs = {"run": "1 1 elsewhere other-boot", "who": "eve@other (process 1)", "what": "site.yml"}
    ends = [{"device": "ibsim0"}, {"device": "ibsim1"}]
    serve = {"state": "serving", "endpoints": ends, "lease": 3600, **theirs}
    done = ready.adhoc("node2", "-b", "-m", "ibping", "-a", json.dumps(serve))
    assert done.returncode == 0, done.stdout
    try:
        before = ready.root("node2", "pgrep -x ibping")
        assert len(before.split()) == len(ends)
        done = ready.playbook("playbooks/verify.yml")
        assert done.returncode != 0
        assert ready.verdicts() == {"node1": "ready", "node2": "unknown", "node3": "ready"}
        checks = [one for host in ready.report()["hosts"].values() for one in host["checks"]]
        assert [one for one in checks if one["result"] == "fail"] == []
        untested = [ping for ping in ready.report()["pings"] if ping["untested"]]
        assert {ping["culprit"] for ping in untested} == {"node2"}
        word = "another run is at work here: site.yml by eve@other (process 1) since 2"
        assert all(word in ping["untested"] for ping in untested)
        assert ready.root("node2", "pgrep -x ibping") == before
    finally:
        stop = json.dumps({"state": "stopped", **theirs})
        ready.adhoc("node2", "-b", "-m", "ibping", "-a", stop)
    ready.root("node2", "pgrep -x ibping && exit 9; test $? -eq 1")
