# SPDX-License-Identifier: GPL-3.0-or-later
"""A node hangs in the middle of a run: it is unknown by name, the others go on, and the next run mends it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.conftest import ROOT, Box, said
from tests.system.test_3_two_controllers import LEASE

pytestmark = pytest.mark.thorough

NODES = ("node1", "node2", "node3")
PLACE = "/opt/frozen"
# Seconds: what an honest answer may take on a busy machine, and what packages may.
BOUND = 45
PACKAGES_BOUND = 90
# What pings may take on top, were every question to use up its deadline.
PINGS = 180
ACCESS = "host.access.reachable"
HELD = "libnccl2"
SITE, VERIFY = "site.yml", "playbooks/verify.yml"


class Frozen:
    """Nodes of which one at a time has an interpreter that stops answering."""

    def __init__(self, box: Box, folder: Path) -> None:
        self.box = box
        self._inventory = folder / "frozen"
        (self._inventory / "host_vars").mkdir(parents=True)
        (self._inventory / "hosts.yml").write_text("---\nall: {}\n")
        self._node = ""

    def hangs(self, node: str, *at: str) -> None:
        """Lay the interpreter out, with what it does not answer."""
        self._node = node
        own = {"ansible_python_interpreter": f"{PLACE}/python3"}
        self._own.write_text(json.dumps(own))
        program = (ROOT / "tests/system/frozen_python.py").read_text()
        self.box.root(
            node,
            f"mkdir -p {PLACE}; rm -f {PLACE}/frozen\ncat > {PLACE}/python3 <<'PYTHON'\n{program}PYTHON\n"
            f"cat > {PLACE}/frozen.json <<'WORD'\n{json.dumps({'at': at})}\nWORD\n"
            f"chmod 0755 {PLACE} {PLACE}/python3",
        )

    def thaws(self) -> None:
        """As after a reboot: whoever slept has done nothing, and whoever comes is answered."""
        if not self._node:
            return
        # In brackets, for the shell's own words are no interpreter.
        gone = f"rm -rf {PLACE}; while pgrep -f '[/]{PLACE[1:]}/python3' >/dev/null; do sleep 0.2; done"
        self.box.root(self._node, gone)
        self._own.unlink()
        self._node = ""

    @property
    def _own(self) -> Path:
        return self._inventory / f"host_vars/{self._node}.yml"

    def playbook(self, name: str, *argv: str) -> tuple[int, str]:
        bounds = {"ibready_visit_timeout": BOUND, "ibready_packages_timeout": PACKAGES_BOUND}
        done = self.box.playbook(name, "-i", str(self._inventory), "-e", json.dumps(bounds), *argv)
        return done.returncode, done.stdout


@pytest.fixture
def frozen(ready: Box, tmp_path: Path) -> Iterator[Frozen]:
    made = Frozen(ready, tmp_path)
    yield made
    made.thaws()


# The book, words of the question that is not answered, and the task that is told; packages last, for they need a
# converge that brings some.
PHASES = (
    (VERIFY, ["ibping", "serving"], "Start the ping servers"),
    (VERIFY, ["ibping", "questions"], "Ask the other hosts"),
    (VERIFY, ["tcp_reach"], "Ask a few others"),
    (SITE, ['"module": "node_facts"'], "Collect what the host is"),
    (SITE, ['"module": "run_lease"'], "Take all hosts"),
    (SITE, ['"module": "host_desired"'], "Compare the host with what is wanted of it"),
    (SITE, ["plugins.modules.stack_packages"], "Bring the plan's packages"),
)


def test_a_node_that_hangs_is_unknown_and_the_next_run_mends_it(frozen: Frozen) -> None:
    """In each phase another node hangs, so that the run behind also tells what became of the one before."""
    box = frozen.box
    for (book, at, task), node in zip(PHASES, itertools.cycle(("node2", "node3"))):
        if task == "Bring the plan's packages":
            box.root(node, f"apt-mark unhold {HELD}")
        frozen.hangs(node, *at)
        status, output = frozen.playbook(book)
        box.root(node, f"test -e {PLACE}/frozen")
        assert status == 2, output
        assert box.verdicts() == {name: "unknown" if name == node else "ready" for name in NODES}, (task, output)
        (check,) = [one for one in box.report()["hosts"][node]["checks"] if one["id"] == ACCESS]
        assert check["result"] == "unknown"
        why = re.fullmatch(rf"gave no answer for (\d+) s to: (\S+ : )?{task}", check["cause"])
        assert why, check["cause"]
        # A visit of pings may take as long as they may.
        assert BOUND <= int(why[1]) <= BOUND + PINGS
        assert f"{node} {why[0]}. Next: " in said(output)
        frozen.thaws()

    done = box.playbook(SITE)
    assert done.returncode == 0, done.stdout
    assert set(box.verdicts().values()) == {"ready"}
    for name in NODES:
        box.root(name, f"test ! -e {LEASE}; apt-mark showhold | grep -x {HELD}")


def test_it_counts_as_failed_in_its_batch(frozen: Frozen) -> None:
    frozen.hangs("node2", '"module": "host_desired"')
    batches = json.dumps({"ibready_serial": 1, "ibready_max_fail_percentage": 0})
    status, output = frozen.playbook("playbooks/converge.yml", "-e", batches)
    assert status == 2, output
    compared = [
        part for part in output.split("TASK [") if part.startswith("Compare the host with what is wanted of it]")
    ]
    assert ["node1" in compared[0], "node2" in compared[1]] == [True, True], output
    # The last batch never began.
    assert len(compared) == 2
