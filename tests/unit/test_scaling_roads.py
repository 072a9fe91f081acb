# SPDX-License-Identifier: GPL-3.0-or-later
"""Roads beyond a controller (docs/scaling.md): a fleet that is verified in parts, by ansible-playbook or by
ansible-runner, and nodes that pull. Each report has its own hosts, and says so.

The hosts are those of the benchmark of the controller, which answer with what was recorded.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read
from tests.perf import controller
from tests.perf.connection import recorded

pytestmark = pytest.mark.thorough

HOSTS = 4


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("fleet")
    controller.answers(made, controller.record(made), HOSTS)
    controller.inventory(made / "hosts.json", HOSTS)
    return made


def called(place: Path, program: str, *argv: str, cwd: Path = controller.ROOT, **more: str) -> None:
    """A program of Ansible's, which has to end well."""
    programs = Path(sys.executable).parent
    done = subprocess.run(
        [str(programs / program), *argv],
        cwd=cwd,
        env={**controller.environment(place), "PATH": f"{programs}:{os.environ['PATH']}", **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def play(place: Path, playbook: Path, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    hosts = ("-i", str(place / "hosts.json"), "-e", f"ibready_report_dir={folder}")
    return subprocess.run(
        [program, str(playbook), *hosts, *more],
        cwd=controller.ROOT,
        env=controller.environment(place),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def verify(place: Path, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return play(place, controller.VERIFY, folder, *more)


@pytest.fixture
def one_off(place: Path, tmp_path: Path) -> str:
    """An inventory beside the other, in which a host does not answer."""
    path = tmp_path / "off.json"
    path.write_text(json.dumps({"all": {"hosts": {"node00002": {"ansible_host": recorded.OFF}}}}))
    return str(path)


@pytest.mark.parametrize("part", ["node00000,node00001", "node00002,node00003"])
def test_a_part_is_judged_by_itself(place: Path, tmp_path: Path, part: str) -> None:
    done = verify(place, tmp_path, "--limit", part)
    assert done.returncode == 0, done.stdout + done.stderr
    run = read(tmp_path / "ibready-report-limited.json")
    assert list(run["hosts"]) == part.split(",")
    assert run["run"]["limit"]
    assert run["run"]["size"] == HOSTS
    missing = [one for host in run["hosts"].values() for one in host["checks"] if one["id"] == "host.access.reachable"]
    assert [one["result"] for one in missing] == ["pass", "pass"]


def test_a_host_that_does_not_answer_is_named_and_costs_no_other(place: Path, tmp_path: Path, one_off: str) -> None:
    done = verify(place, tmp_path, "-i", one_off)
    assert done.returncode == 0, done.stdout + done.stderr
    hosts = read(tmp_path / "ibready-report.json")["hosts"]
    (check,) = hosts.pop("node00002")["checks"]
    assert check["id"] == "host.access.reachable"
    assert "a simulated host that is off" in check["cause"]
    assert all(len(host["checks"]) > 100 for host in hosts.values())


def test_a_host_that_fails_after_its_contact_is_unknown(place: Path, tmp_path: Path) -> None:
    made = tmp_path / "fleet"
    shutil.copytree(place, made)
    denied = {"failed": True, "msg": "sudo: a password is required"}
    (made / "hostverify/2.json").write_text(json.dumps(denied))
    known = {"changed": False, "node": {"hostname": "@host@", "root": True}}
    (made / "node_facts.json").write_text(json.dumps(known))
    playbooks = controller.ROOT / "playbooks"
    imported = [playbooks / "parts/contact.yml", controller.VERIFY]
    site = made / "site.yml"
    site.write_text(json.dumps([{"ansible.builtin.import_playbook": str(path)} for path in imported]))
    done = play(made, site, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    hosts = read(tmp_path / "ibready-report.json")["hosts"]
    (check,) = hosts.pop("node00001")["checks"]
    assert (check["id"], check["result"]) == ("host.access.reachable", "unknown")
    assert "could not become root" in check["cause"]
    assert all(len(host["checks"]) > 100 for host in hosts.values())


def test_only_hosts_that_answered_take_part_in_what_needs_all(place: Path, tmp_path: Path, one_off: str) -> None:
    # In check mode nobody pings, so that the tasks of that play are skipped on those that are in it.
    judge = controller.ROOT / "playbooks/parts/judge.yml"
    done = play(place, judge, tmp_path, "-i", one_off, "--check", "-e", "ibready_fabric=false")
    assert done.returncode == 0, done.stdout + done.stderr
    skipped = dict(re.findall(r"^(node\d+) .* skipped=(\d+) ", done.stdout, re.MULTILINE))
    assert skipped == {"node00000": "4", "node00001": "4", "node00002": "0", "node00003": "4"}


def test_ansible_runner_keeps_the_report_of_a_part_with_its_artifacts(place: Path, tmp_path: Path) -> None:
    part, reports = "node00000,node00001", tmp_path / "artifacts/rack1/reports"
    (tmp_path / "inventory").mkdir()
    shutil.copy(place / "hosts.json", tmp_path / "inventory")
    playbook = str(controller.VERIFY.relative_to(controller.ROOT))
    where = ("--project-dir", str(controller.ROOT), "-p", playbook, "--ident", "rack1")
    words = ("--limit", part, "--cmdline", f"-e ibready_report_dir={reports}")
    called(place, "ansible-runner", "run", str(tmp_path), *where, *words)
    assert (tmp_path / "artifacts/rack1/rc").read_text() == "0"
    assert list(read(reports / "ibready-report-limited.json")["hosts"]) == part.split(",")


def test_a_node_that_pulls_judges_itself(place: Path, tmp_path: Path) -> None:
    # The inventory comes with the repository, as a site's does, and is not there before the first pull.
    site, mine = tmp_path / "site", "inventories/mine/hosts.json"
    for words in (
        ("clone", "--quiet", str(controller.ROOT), str(site)),
        ("-C", str(site), "config", "user.name", "site"),
        ("-C", str(site), "config", "user.email", "site@example.org"),
    ):
        subprocess.run(["git", *words], check=True)
    (site / mine).parent.mkdir()
    shutil.copy(place / "hosts.json", site / mine)
    subprocess.run(["git", "-C", str(site), "add", mine], check=True)
    subprocess.run(["git", "-C", str(site), "commit", "--quiet", "-m", "hosts"], check=True)
    pulled, reports = tmp_path / "pulled", tmp_path / "reports"
    playbook = str(controller.VERIFY.relative_to(controller.ROOT))
    where = ("-U", str(site), "-d", str(pulled), "-i", mine, "--limit", "node00001")
    settings = str(pulled / "ansible.cfg")
    argv = (*where, "-e", f"ibready_report_dir={reports}", playbook)
    called(place, "ansible-pull", *argv, cwd=tmp_path, ANSIBLE_CONFIG=settings)
    run = read(reports / "ibready-report-limited.json")
    assert list(run["hosts"]) == ["node00001"]
    assert run["run"]["limit"]
    assert (pulled / mine).is_file()
