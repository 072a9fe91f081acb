# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection as users install it does the same under every release line of ansible-core, and a run that did
nothing is no success."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.releases import refusal
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.read import read
from tests import cases
from tests.system import releases
from tests.system.conftest import ROOT, command, run, said
from tests.system.releases import LINES, TESTED, Installed
from tools import collection

HOSTS = f"""---
all:
  hosts:
    here:
      ansible_connection: local
      ansible_python_interpreter: {sys.executable}
"""
OLDEST, *BETWEEN, NEWEST = TESTED
# Whose hosts have to answer first.
BOOKS = sorted(
    path.stem for path in (ROOT / "playbooks").glob("*.yml") if "import_playbook: parts/contact.yml" in path.read_text()
)


@dataclass(frozen=True)
class Outcome:
    """What a user sees of a verify, a plan, a converge that changes nothing, and one module."""

    statuses: dict[str, int]
    recaps: dict[str, dict[str, str]]
    results: dict[str, Any]
    module: tuple[str, list[str]]


class Place:
    """A folder with an inventory of this machine, and the collection under whatever release."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.archive = collection.build(folder)
        self.installed = cache(self._installed)
        self.outcome = cache(self._outcome)

    def _installed(self, line: str) -> Installed:
        return releases.install(line, self.archive, self.folder / line / "collections")

    def inventory(self, name: str) -> str:
        path = self.folder / name / "hosts.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HOSTS)
        return str(path)

    def _outcome(self, line: str) -> Outcome:
        installed, inventory = self.installed(line), self.inventory(line)
        folder = self.folder / line
        done = {
            name: installed.run(folder, "ansible-playbook", f"ibready.cluster.{name}", "-i", inventory, *more)
            for name, more in (("verify", ()), ("plan", ()), ("converge", ("--check",)))
        }
        module = installed.run(folder, "ansible", "here", "-i", inventory, "-m", "ibready.cluster.hostverify")
        for text in (*(each.stdout for each in done.values()), module.stdout):
            assert "WARNING" not in text, text
        answer = json.loads(module.stdout.partition("=> ")[2])
        return Outcome(
            {"module": module.returncode, **{name: each.returncode for name, each in done.items()}},
            {name: releases.recap(each.stdout) for name, each in done.items()},
            releases.results(read(folder / "reports/ibready-report.json")),
            (answer["verdict"], sorted(answer)),
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("releases"))


def test_the_oldest_line_works_on_this_machine(place: Place) -> None:
    seen = place.outcome(OLDEST)
    assert seen.statuses["plan"] == seen.statuses["converge"] == 0
    assert {name for name, recaps in seen.recaps.items() if "here" in recaps} == {"verify", "plan", "converge"}
    verdict, checks = seen.results["here"]
    assert seen.statuses["verify"] == (0 if verdict in ("ready", "degraded") else 2)
    assert len(checks) > 50
    assert seen.module[0] == verdict


@pytest.mark.parametrize("line", cases.daily([NEWEST, *BETWEEN]))
def test_a_later_line_does_the_same(line: str, place: Place) -> None:
    assert place.outcome(line) == place.outcome(OLDEST)


@pytest.mark.thorough
@pytest.mark.parametrize("line", LINES["refused"])
@pytest.mark.parametrize(
    "argv",
    [
        ("ansible-playbook", "ibready.cluster.plan"),
        ("ansible-playbook", "ibready.cluster.report"),
        ("ansible", "here", "-m", "ibready.cluster.ibverify"),
    ],
)
def test_an_older_line_is_told_which_work(argv: tuple[str, ...], line: str, place: Place) -> None:
    installed = place.installed(line)
    done = installed.run(place.folder, *argv, "-i", place.inventory(line))
    assert done.returncode == 1
    assert refusal(LINES["refused"][line]["packages"]["ansible-core"]) in said(done.stdout)
    assert "bug" not in done.stdout


@pytest.fixture(scope="module")
def lost(place: Place) -> Installed:
    """The collection under an Ansible that groups no host: what release 2.21 was to an earlier version of ours."""
    here = Installed(Path(command("ansible")).parent, place.folder / "lost")
    done = run(
        *(command("ansible-galaxy"), "collection", "install", "--offline", str(place.archive)),
        *("-p", str(here.collections)),
        cwd=place.folder,
        env={"ANSIBLE_COLLECTIONS_PATH": str(here.collections)},
    )
    assert done.returncode == 0, done.stdout
    action = here.collections / "ansible_collections/ibready/cluster/plugins/action/node_facts.py"
    text = action.read_text()
    assert text.count("by.run(task_vars=task_vars)") == 1
    action.write_text(text.replace("by.run(task_vars=task_vars)", "{}"))
    return here


@pytest.mark.parametrize("book", cases.daily(sorted(BOOKS, key=lambda book: book != "plan")))
def test_hosts_that_answered_and_are_in_no_play_are_an_error(book: str, place: Place, lost: Installed) -> None:
    done = lost.run(place.folder, "ansible-playbook", f"ibready.cluster.{book}", "-i", place.inventory("lost-hosts"))
    assert done.returncode == 4, done.stdout
    assert "here answered the contact, and would take no part in this play. Cause: " in said(done.stdout)
    assert "Next: run it with a release that ibready was tested with" in said(done.stdout)


@pytest.mark.parametrize("book", cases.daily(["plan", "verify"]))
@pytest.mark.parametrize("left", cases.daily([["--skip-tags", "always"], ["--start-at-task", "Say where the lock is"]]))
def test_a_run_that_asks_no_host_is_an_error(book: str, left: list[str], place: Place) -> None:
    inventory = place.inventory("left")
    done = run(command("ansible-playbook"), f"playbooks/{book}.yml", "-i", inventory, *left)
    assert done.returncode == 4, done.stdout
    assert "no host was asked anything, so no host would take part in this play. Cause: " in said(done.stdout)


@pytest.mark.parametrize("listing", cases.daily(["--list-tasks", "--syntax-check", "--list-hosts"]))
def test_what_only_lists_plays_asks_nobody(listing: str, place: Place) -> None:
    done = run(command("ansible-playbook"), "playbooks/site.yml", "-i", place.inventory("left"), listing)
    assert done.returncode == 0, done.stdout
