# SPDX-License-Identifier: GPL-3.0-or-later
"""A node hangs in the middle of a run: it is unknown by name, the others go on, and the next run mends it."""

from __future__ import annotations

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
BOUND = 35
PACKAGES_BOUND = 70
# What one question may take, and a visit of pings on top, were each question to use up its deadline.
PING, PINGS = 6, 100
ACCESS = "host.access.reachable"
HELD = "libnccl2"
SITE, VERIFY = "site.yml", "playbooks/verify.yml"


class Frozen:
    """Nodes of which some have an interpreter that stops answering."""

    def __init__(self, box: Box, folder: Path) -> None:
        self.box = box
        self._inventory = folder / "frozen"
        (self._inventory / "host_vars").mkdir(parents=True)
        (self._inventory / "hosts.yml").write_text("---\nall: {}\n")
        self._nodes: list[str] = []

    def hangs(self, node: str, *at: str) -> None:
        """Lay the interpreter out, with what it does not answer."""
        self._nodes.append(node)
        own = {"ansible_python_interpreter": f"{PLACE}/python3"}
        self._own(node).write_text(json.dumps(own))
        program = (ROOT / "tests/system/frozen_python.py").read_text()
        self.box.root(
            node,
            f"mkdir -p {PLACE}; rm -f {PLACE}/frozen\ncat > {PLACE}/python3 <<'PYTHON'\n{program}PYTHON\n"
            f"cat > {PLACE}/frozen.json <<'WORD'\n{json.dumps({'at': at})}\nWORD\n"
            f"chmod 0755 {PLACE} {PLACE}/python3",
        )

    def thaws(self) -> None:
        """As after a reboot: whoever slept has done nothing, and whoever comes is answered."""
        # In brackets, for the shell's own words are no interpreter.
        gone = f"rm -rf {PLACE}; while pgrep -f '[/]{PLACE[1:]}/python3' >/dev/null; do sleep 0.2; done"
        while self._nodes:
            node = self._nodes.pop()
            self.box.root(node, gone)
            self._own(node).unlink()

    def _own(self, node: str) -> Path:
        return self._inventory / f"host_vars/{node}.yml"

    def playbook(self, name: str, *argv: str) -> tuple[int, str]:
        bounds = {
            "ibready_visit_timeout": BOUND,
            "ibready_packages_timeout": PACKAGES_BOUND,
            "ibready_ping_deadline": PING,
        }
        done = self.box.playbook(name, "-i", str(self._inventory), "-e", json.dumps(bounds), *argv)
        return done.returncode, done.stdout


@pytest.fixture
def frozen(ready: Box, tmp_path: Path) -> Iterator[Frozen]:
    made = Frozen(ready, tmp_path)
    yield made
    made.thaws()


# The book; for each node that hangs in it words of the question that it does not answer, and the task that is told; and
# the verdict on the others. Packages come last, for they need a converge that brings some.
RUNS = (
    (
        VERIFY,
        {"node2": (["ibping", "serving"], "Start the ping servers"), "node3": (["tcp_reach"], "Ask a few others")},
        "ready",
    ),
    (VERIFY, {"node3": (["ibping", "questions"], "Ask the other hosts")}, "ready"),
    (
        SITE,
        {
            "node2": (['"module": "run_lease"'], "Take all hosts"),
            "node3": (['"module": "host_desired"'], "Compare the host with what is wanted of it"),
        },
        "unknown",  # Nobody is left whom it could ping.
    ),
    (SITE, {"node3": (['"module": "node_facts"'], "Collect what the host is")}, "ready"),
    (SITE, {"node2": (["plugins.modules.stack_packages"], "Bring the plan's packages")}, "ready"),
)


def test_a_node_that_hangs_is_unknown_and_the_next_run_mends_it(frozen: Frozen) -> None:
    """In each run others hang, so that the run behind also tells what became of those before."""
    box = frozen.box
    for book, hanging, others in RUNS:
        for node, (at, task) in hanging.items():
            if task == "Bring the plan's packages":
                box.root(node, f"apt-mark unhold {HELD}")
            frozen.hangs(node, *at)
        status, output = frozen.playbook(book)
        assert status == 2, output
        assert box.verdicts() == {name: "unknown" if name in hanging else others for name in NODES}, (hanging, output)
        for node, (_at, task) in hanging.items():
            box.root(node, f"test -e {PLACE}/frozen")
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
