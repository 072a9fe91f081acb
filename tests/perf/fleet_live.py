# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole verify of live nodes beside what anybody would run on them by hand.

Ours is one call of ibverify, all areas, by ssh and sudo, with all that it found as its answer or, as the
playbooks ask, with what somebody reads; beside it stand the raw commands that it
asks a node, by parallel ssh, and one of them by `ansible.builtin.command`. All run against the same
nodes, with connections that are open already, least of several runs. Round trips and bytes are counted
in runs of their own.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import AREAS
from tests.perf import counting, fleet_nodes

FORKS = 32
OURS = "ibready.cluster.ibverify"
# What ibverify asks a node like these, as somebody would type it.
RAW = (
    "dmesg; lsmod; systemctl show slurmd containerd docker crio kubelet k3s pbs;"
    " systemctl show openibd ibacm rdma-ndd; systemctl show chronyd systemd-timesyncd ntpd;"
    " systemctl show; timedatectl show; nvidia-smi -q -x; ibstat; sminfo -C ibsim0 -P 1;"
    " sminfo -C ibsim1 -P 1; systemctl status nvidia-fabricmanager; nvidia-smi nvlink --status;"
    " nvidia-smi topo -m; ofed_info -s; ldconfig -p; ip address; cat /var/lib/dpkg/status"
    " /proc/cpuinfo /proc/meminfo /proc/cmdline /sys/class/infiniband/*/ports/1/*; true"
)


@dataclass(frozen=True)
class Cost:
    """Seconds: of the clock, of the controller's CPU and of the nodes' CPU."""

    wall: float
    controller: float
    nodes: float


class Bench:
    """The nodes, and how they are reached."""

    def __init__(self, box: fleet_nodes.Fleet, place: Path) -> None:
        self.box = box
        self.place = place
        self.ssh = counting.Ssh(place)
        self.options = [
            *("-o", "IdentitiesOnly=yes", "-o", f"UserKnownHostsFile={box.known_hosts}"),
            *("-o", "GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes"),
        ]
        names = "\n".join(f"{node} ansible_host={box.address(node)}" for node in box.nodes)
        self.inventory = place / "hosts"
        self.inventory.write_text(
            f"{names}\n[all:vars]\nansible_user=ops\nansible_become=true\n"
            f"ansible_ssh_private_key_file={box.private_key}\n"
            f"ansible_ssh_common_args={' '.join(self.options)}\n"
            f"ansible_control_path={place}/%%h\n"
        )

    def ansible(self, module: str, words: str, *, count: bool = False) -> None:
        """One ad hoc task on all nodes, which must not fail to be asked."""
        environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
        if count:
            self.ssh.begin()
            environment["ANSIBLE_SSH_EXECUTABLE"] = str(self.ssh.program)
        program = str(Path(sys.executable).with_name("ansible"))
        argv = [program, "-i", str(self.inventory), "all", "-m", module, "-f", str(FORKS)]
        done = subprocess.run(
            [*argv, *(["-a", words] if words else [])],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        if done.returncode != 0 or "UNREACHABLE" in said:
            raise SystemExit(f"{module}: {said[-2000:]}")

    def raw(self) -> None:
        """The raw commands on all nodes, as many at a time as Ansible's forks."""

        def one(node: str) -> None:
            kept = ("ControlMaster=auto", "ControlPersist=60", f"ControlPath={self.place}/raw-%h")
            argv = ["ssh", *self.options, "-i", str(self.box.private_key)]
            argv += [word for one in kept for word in ("-o", one)]
            argv += [f"ops@{self.box.address(node)}", f"sudo sh -c '{RAW}' 2>&1"]
            subprocess.run(argv, capture_output=True, check=True)

        with ThreadPoolExecutor(FORKS) as pool:
            list(pool.map(one, self.box.nodes))

    def round_trips(self, module: str, words: str) -> float:
        """How often Ansible starts ssh for one host."""
        self.ansible(module, words, count=True)
        return self.ssh.trips / self.box.count

    def bytes_sent(self, module: str, words: str) -> float:
        """What one host is sent: the commands and what is written to them."""
        self.ansible(module, words, count=True)
        return self.ssh.sent / self.box.count

    def forget(self) -> None:
        """Have no node keep an engine."""
        self.ansible("ansible.builtin.file", "path=/run/ibready-engine state=absent")

    def cost(self, act: Callable[[], None], runs: int) -> Cost:
        """The least of several runs, by the clock."""
        act()  # Connections are open now, and code is compiled.
        seen = []
        for _ in range(runs):
            nodes, begun, before = fleet_nodes.cpu(self.box), time.monotonic(), os.times()
            act()
            after, wall = os.times(), time.monotonic() - begun
            spent = after.children_user + after.children_system + after.user + after.system
            spent -= before.children_user + before.children_system + before.user + before.system
            seen.append(Cost(wall, spent, fleet_nodes.cpu(self.box) - nodes))
        return min(seen, key=lambda one: one.wall)


def main(words: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args(words)
    areas = ",".join(AREAS)
    whole = f"areas={areas} report_only=true"
    with (
        tempfile.TemporaryDirectory() as folder,
        fleet_nodes.up(asked.nodes) as box,
    ):
        bench = Bench(box, Path(folder))
        seen = [("(a) the raw commands by parallel ssh", bench.cost(bench.raw, asked.runs), 1.0)]
        for title, module, said in (
            ("(b) `ansible.builtin.command: ibstat`", "ansible.builtin.command", "ibstat"),
            ("`ansible.builtin.setup`, gather_subset min", "ansible.builtin.setup", "gather_subset=!all"),
            ("ours: ibverify, all areas, all that was found", OURS, whole),
            ("ours: the same, findings alone, as verify.yml asks", OURS, f"{whole} answer=findings"),
        ):
            cost = bench.cost(functools.partial(bench.ansible, module, said), asked.runs)
            # Counted behind it: the engine is there by now.
            seen.append((title, cost, bench.round_trips(module, said)))
        some = {few: bench.round_trips(OURS, f"areas={few} report_only=true") for few in ("host", "host,pci,ib", areas)}
        bench.forget()
        sent = {when: bench.bytes_sent(OURS, whole) for when in ("the first time", "the second time")}
    base = seen[1][1]
    print(
        f"{asked.nodes} live nodes (containers; simulated PCI bus and HCAs, no fabric),"
        f" {FORKS} forks, open connections, least of {asked.runs} runs.\n"
    )
    print("| what | wall s | x (b) | controller CPU s | nodes' CPU s | round trips a node |")
    print("|---|---:|---:|---:|---:|---:|")
    for title, cost, trips in seen:
        print(
            f"| {title} | {cost.wall:.1f} | {cost.wall / base.wall:.1f} | {cost.controller:.1f} "
            f"| {cost.nodes:.1f} | {trips:.0f} |"
        )
    print("\n| ibverify, all areas | bytes sent to a node |\n|---|---:|")
    for when, count in sent.items():
        print(f"| {when} | {count:,.0f} |")
    print("\n| areas | round trips a node |\n|---|---:|")
    for few, trips in some.items():
        print(f"| {few.count(',') + 1}: {few if few != areas else 'all'} | {trips:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
