# SPDX-License-Identifier: GPL-3.0-or-later
"""Live hosts: bundles brought home, the node program, hanging commands, two runs at once."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read
from tests import cases
from tests.system.conftest import ROOT, Box, command, run, said
from tools import build

# A tool that never ends, in front of the real one; it says that it was started.
HANG = """mv /usr/sbin/ibstat /usr/sbin/ibstat.real
printf '#!/bin/sh\\ntouch /run/hung\\nexec sleep 3600\\n' > /usr/sbin/ibstat
chmod 755 /usr/sbin/ibstat
"""
MEND = "mv /usr/sbin/ibstat.real /usr/sbin/ibstat; rm -f /run/hung"
# What the sandbox's inventory expects: its simulated board has fewer rails than a real one.
EXPECTED = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
EXPECT = "--expect /run/expected.json"
# Everything that lasts on a node, but for what a login itself leaves.
STATE = (
    "find / -xdev \\( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/log "
    "-o -path /home -o -path /root/.ansible -o -path /var/lib/systemd/timers \\) -prune "
    "-o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; "
    # timedatectl wakes a service of systemd that ends by itself after half a minute.
    "ls -A /tmp /root /etc | grep -v systemd-timedated; "
    "sysctl -a 2>/dev/null | grep -E '^(vm|net)\\.' | "
    "grep -vE 'random|stat|nr_|count|entropy|neigh' | sha256sum; "
    "pgrep -a ibping && exit 9; test $? -eq 1"
)


@pytest.fixture(scope="module")
def program(ready: Box, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The node program, put on node1 the way an operator would."""
    place = tmp_path_factory.mktemp("dist") / "ibready.pyz"
    build.build(ROOT, place)
    done = ready.adhoc("node1", "-m", "copy", "-a", f"src={place} dest=/run/ibready mode=0755")
    assert done.returncode == 0, done.stdout
    ready.root("node1", f"echo '{json.dumps(EXPECTED)}' > /run/expected.json")
    yield place
    ready.root("node1", "rm -f /run/ibready /run/expected.json")


def verdict(text: str) -> dict[str, Any]:
    """The verdict object in a program's output."""
    reported: dict[str, Any] = json.loads(text[text.index("{") :])
    return reported


def test_collect_brings_home_a_bundle_of_every_host(ready: Box, tmp_path: Path) -> None:
    before = ready.root("node1", STATE)
    done = ready.playbook("playbooks/collect.yml", "-e", json.dumps({"ibready_bundle_dir": str(tmp_path / "b b")}))
    assert done.returncode == 0, done.stdout
    assert f"3 bundles are in {tmp_path / 'b b'}: a folder HOST and HOST.tar.gz of each host" in said(done.stdout)
    assert ready.root("node1", STATE) == before
    for node in ("node1", "node2", "node3"):
        with tarfile.open(tmp_path / f"b b/{node}.tar.gz") as archive:
            assert f"{node}/manifest.json" in archive.getnames()
        manifest = json.loads((tmp_path / f"b b/{node}/manifest.json").read_text())
        assert (manifest["format"], manifest["host"]) == (1, node)
    # Nobody says what to expect: the bundle carries what the inventory did.
    args = json.dumps({"bundle": str(tmp_path / "b b/node2"), "answer": "all"})
    judged = run(command("ansible"), "localhost", "-m", "ibready.cluster.ibverify", "-a", args)
    assert judged.returncode == 0, judged.stdout
    reported = verdict(judged.stdout)
    assert [one for one in reported["checks"] if one["result"] in ("fail", "unknown")] == []
    assert (reported["host"], reported["verdict"]) == ("node2", "ready")
    assert reported["facts"]["machine"]["simulated"]


@pytest.mark.parametrize("module", cases.daily(["nvlinkverify", "ibready.cluster.stackverify"], 0))
def test_the_other_areas_ad_hoc(ready: Box, module: str) -> None:
    done = ready.adhoc("all", "-m", module)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count('"verdict": "ready"') == 3


def test_the_program_judges_the_live_host_and_changes_nothing(ready: Box, program: Path) -> None:
    before = ready.root("node1", STATE)
    # Status 3: nobody tells the program what the lock holds.
    ask = f"/run/ibready verify --only ib,host,stack {EXPECT} --json || test $? -eq 3"
    reported = verdict(ready.root("node1", ask))
    assert reported["schema"] == "ibready/verdict/1"
    assert reported["host"] == "node1"
    assert {one["id"] for one in reported["checks"] if one["result"] == "pass"} >= {
        "ib.tool.ibstat",
        "ib.port.state",
    }
    assert ready.root("node1", STATE) == before


@pytest.mark.thorough
def test_a_command_that_hangs_is_stopped_and_unknown(ready: Box, program: Path) -> None:
    ready.root("node1", HANG)
    try:
        # Thirty seconds is ibstat's limit; the whole look must end soon after it.
        ask = f"timeout 100 /run/ibready verify --only ib {EXPECT} --json || test $? -eq 3"
        reported = verdict(ready.root("node1", ask))
        assert reported["verdict"] == "unknown"
        tool = next(one for one in reported["checks"] if one["id"] == "ib.tool.ibstat")
        assert tool["result"] == "unknown"
        assert "no complete answer within 30 s" in tool["cause"]
        ready.root("node1", "test -e /run/hung; pgrep -f '[s]leep 3600' && exit 9; test $? -eq 1")
    finally:
        ready.root("node1", MEND)


@pytest.mark.thorough
def test_two_runs_at_once_do_not_disturb_each_other(ready: Box, tmp_path: Path) -> None:
    argv = [command("ansible-playbook"), "playbooks/verify.yml", *ready.inventories]
    runs = [
        subprocess.Popen(
            [*argv, "-e", json.dumps({"ibready_report_dir": str(tmp_path / name)})],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in ("one", "two")
    ]
    adhoc = ready.adhoc("all", "-m", "ibverify")
    outputs = [one.communicate(timeout=300)[0] for one in runs]
    assert adhoc.returncode == 0, adhoc.stdout
    for name, one, output in zip(("one", "two"), runs, outputs, strict=True):
        report = read(tmp_path / name / "ibready-report.json")
        local = {
            (host, check["id"], check["subject"]): check["result"]
            for host, reported in report["hosts"].items()
            for check in reported["checks"]
            if not check["id"].startswith(("fabric.ping.", "fabric.tcp."))
        }
        assert local, output
        assert set(local.values()) <= {"pass", "skip"}, output
        assert one.returncode in (0, 2), output


@pytest.mark.thorough
def test_a_waived_failure_does_not_stop_a_run(ready: Box) -> None:
    waiver = {"check": "ib.port.rate", "host": "node2", "until": "2999-12-31", "reason": "RMA 1234"}
    ready.sandbox("break", "degraded", "node2")
    try:
        broken = ready.playbook("playbooks/verify.yml")
        assert broken.returncode != 0
        report = ready.report()
        reported = {"node2": report["hosts"]["node2"], "fabric": report["fabric"]["fabrics"][0]}
        subjects = [
            {**waiver, "check": check["id"], "host": host, "subject": check["subject"]}
            for host, judged in reported.items()
            for check in judged["checks"]
            if check["result"] == "fail"
        ]
        assert {one["host"] for one in subjects} == {"node2", "fabric"}
        done = ready.playbook("playbooks/verify.yml", "-e", json.dumps({"ibready_waivers": subjects}))
        assert done.returncode == 0, done.stdout
        assert ready.verdicts()["node2"] == "ready"
        assert "waived until 2999-12-31: RMA 1234" in done.stdout
    finally:
        ready.sandbox("heal")


def test_a_waiver_that_cannot_be_read_is_refused_before_anything(ready: Box) -> None:
    wrong = [{"check": "ib.port.sped", "host": "node2", "until": "2999-12-31", "reason": "x"}]
    done = ready.playbook("playbooks/verify.yml", "-e", json.dumps({"ibready_waivers": wrong}))
    assert done.returncode != 0
    assert "there is no check 'ib.port.sped'" in done.stdout


def test_the_program_runs_under_another_python(program: Path) -> None:
    older = "/usr/bin/python3"
    assert sys.executable != older
    done = run(older, "-I", str(program), "verify", "--only", "ib", "--quiet")
    assert done.returncode in (0, 1, 2, 3), done.stdout
    assert "Traceback" not in done.stdout
