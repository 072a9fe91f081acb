# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that judges itself, in a real Slurm: slurmctld and slurmd of the distribution.

The fabric is simulated; Slurm, munge, systemd and the role are real.
"""

from __future__ import annotations

import base64
import json
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.system import launch_scripts
from tests.system.conftest import SPARE, Box, said

pytestmark = pytest.mark.thorough

NODES = ("node1", "node2", "node3")
INTERVAL = 5
# A look at two simulated ports, and three calls of scontrol, on a machine that others use as well.
LOOK = 10
GPUS = 8
SUBNET = SPARE[1]
# A node counts as many processors as GPUs, whatever it has, so that a job with one each fits.
CONF = f"""\
ClusterName=ibready
SlurmctldHost=node1({SUBNET}.11)
SlurmUser=slurm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
GresTypes=gpu
StateSaveLocation=/var/lib/slurm/ctld
SlurmdSpoolDir=/var/lib/slurm/d
ReturnToService=1
NodeName=node1 NodeAddr={SUBNET}.11 CPUs={GPUS} Gres=gpu:{GPUS}
NodeName=node2 NodeAddr={SUBNET}.12 CPUs={GPUS} Gres=gpu:{GPUS}
NodeName=node3 NodeAddr={SUBNET}.13 CPUs={GPUS} Gres=gpu:{GPUS}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# The services start where there is something to start with: a slurmd without a configuration waits 90 seconds for one.
PACKAGES = """
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends munge slurmd slurm-client \\
  infiniband-diags {extra}
systemctl disable -q slurmd {extra}
"""
PREPARE = """
mkdir -p /etc/slurm
echo {conf} | base64 -d > /etc/slurm/slurm.conf
# Slurm passes over GPUs without device files; it opens none.
touch /srv/simulated-gpu0 /srv/simulated-gpu1 /srv/simulated-gpu2 /srv/simulated-gpu3
touch /srv/simulated-gpu4 /srv/simulated-gpu5 /srv/simulated-gpu6 /srv/simulated-gpu7
echo 'Name=gpu File=/srv/simulated-gpu[0-7]' > /etc/slurm/gres.conf
echo {key} | base64 -d > /etc/munge/munge.key
install -d -o slurm /var/lib/slurm/ctld
systemctl restart munge
systemctl enable -q slurmd
"""
PLAY = """---
- name: Let the nodes judge themselves
  hosts: all
  become: true
  gather_facts: false
  roles: [ibready.cluster.health_agent]
"""
VARIABLES = {
    "health_agent_areas": ["ib"],
    "health_agent_interval": 600,
    "health_agent_textfile_dir": "/srv",
    "health_agent_slurm": True,
    "health_agent_slurm_conf": "/etc/slurm/slurm.conf",
    "health_agent_slurm_interval": INTERVAL,
    "health_agent_slurm_prolog": True,
}


@dataclass(frozen=True)
class Slurm:
    """The cluster of this sandbox, and the play that brings the agent."""

    box: Box
    play: Path

    def state(self, node: str) -> str:
        return self._shown(node, r"State=(\S+)")

    def reason(self, node: str) -> str:
        return self._shown(node, r"Reason=(.*)")

    def _shown(self, node: str, pattern: str) -> str:
        found = re.search(pattern, self.box.root("node1", f"scontrol show node {node}"))
        return found.group(1) if found else ""

    def until(self, seconds: float, holds: Callable[[], bool]) -> float:
        """Wait for it; how long it took."""
        begun = time.monotonic()
        while not holds():
            took = time.monotonic() - begun
            assert took < seconds, self.box.root("node1", "sinfo -NR; scontrol show nodes")
            time.sleep(0.3)
        return time.monotonic() - begun

    def converge(self, hosts: str = "all", **more: object) -> CompletedProcess[str]:
        given = json.dumps({**VARIABLES, **more})
        return self.box.playbook(str(self.play), "--limit", hosts, "-e", given)


def prepared(box: Box) -> None:
    conf = base64.b64encode(CONF.encode()).decode()
    key = base64.b64encode(os.urandom(64)).decode()

    def one(node: str) -> None:
        box.root(node, PREPARE.format(conf=conf, key=key))

    with ThreadPoolExecutor() as pool:
        list(pool.map(one, NODES))
    _restart(box)


def _restart(box: Box) -> None:
    box.root("node1", "systemctl restart slurmctld")
    for node in NODES:
        box.root(node, "systemctl restart slurmd")


@pytest.fixture(scope="module")
def slurm(spare: Box, tmp_path_factory: pytest.TempPathFactory) -> Slurm:
    spare.up(prepared={node: PACKAGES.format(extra="slurmctld" if node == "node1" else "") for node in NODES})
    prepared(spare)
    play = tmp_path_factory.mktemp("play") / "play.yml"
    play.write_text(PLAY)
    made = Slurm(spare, play)
    # A slurmd whose first word got lost says it again after its own time.
    made.until(120, lambda: all(made.state(node) == "IDLE" for node in NODES))
    done = made.converge()
    assert done.returncode == 0, done.stdout
    return made


@dataclass(frozen=True)
class Gated:
    """What systemd makes of the gate.

    ``asked``: the status of the gate as a unit's ExecCondition; ``started``: whether that unit ran;
    ``run``: the status of systemd-run, which is 1 for a unit that was passed over. ``ready``: the
    status of a start of ibready-ready.service, and its state, result and status after that.
    """

    asked: str
    started: bool
    run: str
    ready: str


# A closed gate is its status 1; a gate that could not run has another, and is no refusal.
OPEN = Gated("0", True, "0", "0 inactive success 0")
CLOSED = Gated("1", False, "1", "1 failed exit-code 1")
# It says beside systemd what the gate answered, for systemd tells no more of a condition than that it did not hold.
CONDITION = """\
#!/bin/sh
status=0
/usr/local/bin/ibready gate --settings /etc/ibready/agent.json || status=$?
echo $status > /srv/asked
exit $status
"""
GATED = """
rm -f /srv/started /srv/asked
echo {condition} | base64 -d > /srv/condition
chmod 755 /srv/condition
status=0
systemd-run --quiet --wait -p ExecCondition=/srv/condition touch /srv/started 2> /dev/null || status=$?
echo $status
cat /srv/asked
status=0
systemctl start ibready-ready 2> /dev/null || status=$?
echo $status
for property in ActiveState Result ExecMainStatus; do systemctl show --value -p $property ibready-ready; done
[ ! -e /srv/started ] || echo started
"""


def gated(box: Box, node: str) -> Gated:
    script = GATED.format(condition=base64.b64encode(CONDITION.encode()).decode())
    run, asked, *ready = box.root(node, script).split()
    return Gated(asked, ready[-1] == "started", run, " ".join(ready[:4]))


def test_a_pulled_cable_drains_its_node_and_nothing_else_does(slurm: Slurm) -> None:
    """Node 3 is an admin's: it is good all the time, and stays drained all the time."""
    box = slurm.box
    box.root("node1", "scontrol update NodeName=node3 State=DRAIN Reason='disk swap'")
    box.sandbox("break", "cable", "node2")
    took = slurm.until(INTERVAL + LOOK, lambda: "DRAIN" in slurm.state("node2"))
    print(f"drained after {took:.1f} s")
    assert slurm.reason("node2").startswith("ibready: ib.port.state ibsim1/1 Down, expected Active")
    # The prolog itself, for a drained node gets no job.
    reported = box.root("node2", "/usr/local/lib/ibready/slurm-prolog 2>&1 || echo status $?")
    assert "no job starts here: not_ready: SIMULATED node2: ib.port.state ibsim1/1" in said(reported)
    assert reported.endswith("status 1\n")
    # systemd by the same verdict: what requires it, and what has it as its condition.
    assert gated(box, "node1") == OPEN
    assert gated(box, "node2") == CLOSED
    assert box.root("node1", "srun -w node1 hostname").strip() == "node1"

    box.sandbox("heal")
    slurm.until(3 * INTERVAL + LOOK, lambda: slurm.state("node2") == "IDLE")
    assert "DRAIN" in slurm.state("node3")
    assert slurm.reason("node3").startswith("disk swap [")
    journal = box.root("node2", "journalctl -t ibready --no-pager")
    assert "node2: drained: ibready: ib.port.state" in journal
    assert "node2: resumed (ready for 2 looks)" in journal
    box.root("node1", "scontrol update NodeName=node3 State=RESUME")
    slurm.until(INTERVAL, lambda: slurm.state("node3") == "IDLE")
    assert box.root("node1", "srun -w node2 hostname").strip() == "node2"


def test_a_second_converge_changes_nothing_and_the_timer_has_written_metrics(slurm: Slurm) -> None:
    done = slurm.converge()
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"changed=0 ", done.stdout)) == len(NODES)
    for node in NODES:
        text = slurm.box.root(node, "systemctl start ibready-health; cat /srv/ibready.prom")
        assert '\nibready_verdict{verdict="ready"} 1\n' in text
        assert '\nibready_could_not_look{source="ports"} 0\n' in text


@pytest.mark.parametrize("gpus", [0, GPUS])
def test_slurm_takes_the_launch_scripts(slurm: Slurm, gpus: int) -> None:
    """Pyxis is not there: what sbatch.sh asks of Slurm is judged by Slurm, and srun.sh runs."""
    box, two, each = slurm.box, NODES[:2], gpus or 1
    batch = launch_scripts.put(box, "sbatch", two, gpus=gpus)
    reported = said(box.root("node1", f"sbatch --test-only {batch} 2>&1"))
    # All of both nodes, for it asks for them alone.
    assert re.search(rf"sbatch: Job \d+ to start at \S+ using {2 * GPUS} processors on nodes node\[1-2\]", reported)
    desired = f"gpus-per-node={gpus}" if gpus else "nodes=2"
    box.root("node1", f"sed 's/--{desired}/--{desired[:-1]}9/' {batch} > {batch}.nine")
    refused = box.root("node1", f"sbatch --test-only {batch}.nine 2>&1 || echo status $?")
    assert "allocation failure: " in refused
    assert refused.endswith("status 1\n")
    desired = f"--gpus-per-node={gpus} --exclusive" if gpus else ""
    run = launch_scripts.put(box, "srun", two, gpus=gpus)
    reported = box.root("node1", f"salloc --quiet --nodes=2 {desired} {run}")
    assert sorted(reported.splitlines()) == sorted(
        f"rank {rank} of {2 * each} on {two[rank // each]} at {SUBNET}.11:29500" for rank in range(2 * each)
    )


def test_slurm_takes_the_topology_of_the_fabric(slurm: Slurm, tmp_path: Path) -> None:
    done = slurm.box.playbook("playbooks/topology.yml", "-e", f"ibready_topology_dir={tmp_path}")
    assert done.returncode == 0, done.stdout
    written = base64.b64encode((tmp_path / "topology.conf").read_bytes()).decode()
    try:
        for node in NODES:
            slurm.box.root(
                node,
                f"echo {written} | base64 -d > /etc/slurm/topology.conf;"
                "echo TopologyPlugin=topology/tree >> /etc/slurm/slurm.conf",
            )
        _restart(slurm.box)
        slurm.until(60, lambda: all(slurm.state(node) == "IDLE" for node in NODES))
        shown = slurm.box.root("node1", "scontrol show topology")
        assert re.search(r"Level=0 .*Nodes=node\[1-3\]", shown), shown
        # By Slurm's own words, for a file that it does not take it only complains of.
        journal = slurm.box.root("node1", "journalctl -u slurmctld --since -2min --no-pager").lower().splitlines()
        assert journal
        assert [line for line in journal if "error" in line and "topology" in line] == []
        assert sorted(slurm.box.root("node1", "srun --switches=1 -N 3 hostname").split()) == sorted(NODES)
    finally:
        for node in NODES:
            slurm.box.root(node, "rm /etc/slurm/topology.conf; sed -i /TopologyPlugin/d /etc/slurm/slurm.conf")
        _restart(slurm.box)


def test_it_goes_as_it_came(slurm: Slurm) -> None:
    refused = slurm.converge("node1", health_agent_state="absent", health_agent_slurm_conf="")
    assert refused.returncode != 0
    assert "slurmctld still goes by" in said(refused.stdout)
    mute = {"health_agent_slurm_conf": "", "health_agent_slurm_scontrol": "/bin/false"}
    refused = slurm.converge("node1", health_agent_state="absent", **mute)
    assert refused.returncode != 0
    assert "slurmctld did not say whether it goes by" in said(refused.stdout)
    done = slurm.converge(health_agent_state="absent")
    assert done.returncode == 0, done.stdout
    left = (
        "for f in /usr/local/bin/ibready /usr/local/lib/ibready/* /etc/ibready/* "
        "/etc/systemd/system/ibready-health.service /etc/systemd/system/ibready-health.timer "
        "/etc/systemd/system/ibready-ready.service "
        "/var/lib/ibready/agent /srv/*.prom"
        '; do ! [ -e "$f" ] || echo "$f"; done; '
        "systemctl list-timers --all --no-legend 'ibready-health*'"
    )
    for node in NODES:
        assert slurm.box.root(node, left) in ("", "/usr/local/lib/ibready/boot-tuning\n")
        assert slurm.box.root(node, "cat /etc/slurm/slurm.conf") == CONF
