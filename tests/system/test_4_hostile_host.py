# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody is root on node2. Its answers run nothing here, and say nothing of the other hosts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import (
    playbook_options,
    registered,
    role_options,
)
from tests import cases
from tests.system.conftest import ROOT, Box, said

NODE = "node2"
PLACE = "/opt/hostile"
DRAINED = "/var/lib/ibready/drained"
OURS = sorted({*playbook_options(), *registered(), *(name for one in role_options().values() for name in one)})
# What Ansible itself reads of a host, and of a play.
THEIRS = [
    *("ansible_connection", "ansible_host", "ansible_user", "ansible_become_exe", "environment"),
    *("ansible_python_interpreter", "discovered_interpreter_python", "ansible_check_mode"),
    *("ansible_play_hosts", "ansible_play_hosts_all", "ansible_play_batch", "groups", "hostvars"),
    *("inventory_hostname", "ansible_failed_result", "ansible_facts", "omit", "role_path"),
]
VERIFY = "playbooks/verify.yml"


class Hostile:
    """node2 with an interpreter of its own; ``mark``: what its commands would leave here."""

    def __init__(self, box: Box, folder: Path) -> None:
        self.box = box
        self.mark = folder / "COMMAND_OF_A_NODE"
        self.reports = folder / "reports-of-a-node"
        self._inventory = folder / "hostile"
        (self._inventory / "host_vars").mkdir(parents=True)
        (self._inventory / "hosts.yml").write_text("---\nall: {}\n")
        # What the site says; a drain that would be seen, and changes nothing.
        shared = {"ibready_drain": [["/bin/true"]], "report_fail_on": "not_ready"}
        (self._inventory / "group_vars").mkdir()
        (self._inventory / "group_vars/all.yml").write_text(json.dumps(shared))
        own = {"ansible_python_interpreter": f"{PLACE}/python3"}
        (self._inventory / f"host_vars/{NODE}.yml").write_text(json.dumps(own))

    def facts(self) -> dict[str, Any]:
        """Every variable of ours, as it would serve the attacker, and those of Ansible."""
        command = [{"run": ["sh", "-c", f"id > {self.mark}"], "where": "controller"}]
        bent = {
            "report_fail_on": "never",
            "ibready_report_dir": str(self.reports),
            "ibready_bundle_dir": str(self.reports),
            "ibready_serial": 1,
            "ibready_max_fail_percentage": 0,
            "ibready_reboot_ok": True,
            "ansible_connection": "local",
            "ansible_python_interpreter": f"/bin/sh -c 'id > {self.mark}'",
        }
        return {**dict.fromkeys([*OURS, *THEIRS], command), **bent}

    def speaks(self, **word: Any) -> None:
        """Lay the interpreter out, with what it has to say."""
        program = (ROOT / "tests/system/hostile_python.py").read_text()
        self.box.root(
            NODE,
            f"mkdir -p {PLACE}\ncat > {PLACE}/python3 <<'PYTHON'\n{program}PYTHON\n"
            f"cat > {PLACE}/hostile.json <<'WORD'\n{json.dumps(word)}\nWORD\n"
            f"chmod 0755 {PLACE} {PLACE}/python3; rm -f {PLACE}/spoken",
        )

    def playbook(self, name: str, *argv: str) -> tuple[int, str]:
        done = self.box.playbook(name, "-i", str(self._inventory), *argv)
        return done.returncode, done.stdout

    def won(self) -> list[Path]:
        """What its commands and folders left on the controller."""
        return [path for path in (self.mark, self.reports) if path.exists()]


@pytest.fixture(scope="module")
def hostile(ready: Box, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    made = Hostile(ready, tmp_path_factory.mktemp("hostile"))
    yield made
    ready.root(NODE, f"rm -rf {PLACE} {DRAINED}")


def test_every_variable_of_ours_among_its_facts_decides_nothing(hostile: Hostile) -> None:
    hostile.speaks(facts=hostile.facts())
    status, output = hostile.playbook(VERIFY)
    assert status == 2, output
    _is_judged_alone(hostile)
    assert hostile.won() == [], output


@pytest.mark.thorough
def test_nor_where_it_sends_them_after_its_first_word(hostile: Hostile) -> None:
    # It also says that something differs there and that its stack moves, on which it is drained.
    differs = {"role": "plan", "task": "x", "state": "differs", "why": "", "diff": []}
    hostile.speaks(facts=hostile.facts(), late=True, more={"moving": True, "at": "x", "told": [differs]})
    status, output = hostile.playbook("site.yml")
    assert status == 2, output
    _is_judged_alone(hostile)
    assert hostile.won() == [], output
    assert _drained(output), output
    # Nor is it given back by its own word.
    hostile.box.root(NODE, f"test -e {DRAINED}")


@pytest.mark.thorough
@pytest.mark.parametrize("late", [False, True])
def test_a_host_that_answers_everything_with_its_own_words_runs_nothing(hostile: Hostile, late: bool) -> None:
    canned = {"changed": True, "node": {"root": True}, "found": True, "moving": True, "at": "x"}
    hostile.speaks(canned={**canned, "stat": {"exists": False}}, facts=hostile.facts(), late=late)
    status, output = hostile.playbook("playbooks/rollback.yml", "-e", "stack_rollback_to=bare", "--limit", NODE)
    assert hostile.won() == [], output
    assert _drained(output) is late, output
    if not late:
        assert status == 2, output
        assert f"{NODE} was not rolled back: it answered, and among its facts" in said(output)


def _is_judged_alone(hostile: Hostile) -> None:
    assert hostile.box.verdicts() == {"node1": "ready", NODE: "unknown", "node3": "ready"}
    (check,) = hostile.box.report()["hosts"][NODE]["checks"]
    assert check["id"] == "host.access.reachable"
    assert "among its facts are variables of ibready" in check["cause"]


def _drained(output: str) -> bool:
    """Whether the site's own command was run for node2."""
    ran = rf"Run the site's own commands\] \**\n(.*\n)?changed: \[{NODE}\]"
    return re.search(ran, output) is not None


@pytest.mark.thorough
def test_a_malformed_answer_costs_that_host_alone(hostile: Hostile) -> None:
    hostile.speaks(canned={"changed": [], "node": {"root": {}}, "facts": 7, "checks": {"a": None}})
    status, output = hostile.playbook(VERIFY)
    assert status == 2, output
    assert hostile.box.verdicts() == {"node1": "ready", NODE: "unknown", "node3": "ready"}


@pytest.mark.parametrize("name", cases.daily(["site.yml", VERIFY, "playbooks/collect.yml"]))
def test_nothing_runs_where_nodes_may_set_variables(
    hostile: Hostile, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_INJECT_FACT_VARS", "True")
    status, output = hostile.playbook(name)
    assert status != 0
    assert "inject_facts_as_vars is on" in said(output)
    assert "Next: set inject_facts_as_vars = False" in said(output)
    assert not re.search(r"^TASK \[(Collect what the host is|Judge all that one host can tell)", output, re.MULTILINE)
