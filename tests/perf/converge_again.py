# SPDX-License-Identifier: GPL-3.0-or-later
"""A second converge of nodes on which nothing is to be done: tasks, round trips and seconds a host.

Beside it stands `ansible.builtin.setup` of the same nodes in the same run. The nodes are the
sandbox's three (simulated hardware, vendor packages and fabric), converged once before. Seconds are
of the clock, divided by the number of hosts; the machine that runs the nodes is the controller's.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.perf import counting

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
NAME, SUBNET = "ibready-perf-again", "198.18.88"
HOSTS = 3
VARIABLES = f"""---
sandbox_name: {NAME}
sandbox_subnet: {SUBNET}
stack_container_toolkit: none
"""


def sandbox(order: str) -> None:
    argv = [sys.executable, "-m", "sandbox", order, "--name", NAME, "--subnet", SUBNET]
    subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


class Bench:
    """The nodes, and where Ansible's ssh is counted."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.ssh = counting.Ssh(place)
        mine = place / "inventory"
        (mine / "group_vars").mkdir(parents=True)
        (mine / "hosts.yml").write_text("---\nall: {}\n")
        (mine / "group_vars/all.yml").write_text(VARIABLES)
        self.inventories = ["-i", str(ROOT / "inventories/sandbox"), "-i", str(mine)]

    def run(self, program: str, *words: str) -> tuple[float, int]:
        """Seconds, and how often ssh was started; with all that was sent, in ``self.ssh``."""
        self.ssh.begin()
        (self.place / "times").write_text("")
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callbacks"),
            "ANSIBLE_CALLBACKS_ENABLED": "task_times",
            "ANSIBLE_LOAD_CALLBACK_PLUGINS": "true",
            "ANSIBLE_SSH_EXECUTABLE": str(self.ssh.program),
            "IBREADY_TASK_TIMES": str(self.place / "times"),
        }
        argv = [str(Path(sys.executable).with_name(program)), *words, *self.inventories]
        begun = time.monotonic()
        done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        took = time.monotonic() - begun
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {(done.stdout + done.stderr)[-3000:]}")
        (self.place / "said").write_text(done.stdout)
        return took, self.ssh.trips

    def changed(self) -> int:
        """How many changes the last playbook counted."""
        said = (self.place / "said").read_text().rpartition("PLAY RECAP")[2]
        return sum(int(word[8:]) for word in said.split() if word.startswith("changed="))

    def tasks(self) -> list[dict[str, object]]:
        lines = (self.place / "times").read_text().splitlines()
        return [one for one in map(json.loads, lines) if one["ran"]]


def main(words: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slowest", type=int, default=10, help="how many tasks are listed")
    asked = parser.parse_args(words)
    # The sandbox has to go, also when time is up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        sandbox("up")
        try:
            bench.run("ansible-playbook", "playbooks/converge.yml")
            setup = min(bench.run("ansible", "all", "-m", "ansible.builtin.setup") for _ in range(3))
            took, trips = bench.run("ansible-playbook", "playbooks/converge.yml")
            changed, tasks, sent = bench.changed(), bench.tasks(), bench.ssh.sent
        finally:
            sandbox("down")
    if changed:
        raise SystemExit(f"the second converge changed {changed} things: it is not unchanged")
    print("| what | seconds a host | x setup | round trips a host |\n|---|---:|---:|---:|")
    for title, seconds, trip in (
        ("`ansible.builtin.setup`", *setup),
        ("second converge", took, trips),
    ):
        print(f"| {title} | {seconds / HOSTS:.1f} | {seconds / setup[0]:.1f} | {trip / HOSTS:.0f} |")
    print(f"\nThe second converge sent {sent / HOSTS:,.0f} bytes to a host.", end=" ")
    print(f"{len(tasks)} tasks gave a result, of them the slowest:\n\n| task | action | s |")
    print("|---|---|---:|")
    slowest = sorted(tasks, key=lambda one: -float(str(one["seconds"])))[: asked.slowest]
    for one in slowest:
        print(f"| {one['task']} | {one['action']} | {float(str(one['seconds'])):.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
