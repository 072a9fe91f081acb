# SPDX-License-Identifier: GPL-3.0-or-later
"""Launch scripts for the nodes, and a job that is really started by one of them, on two nodes.

Real are Open MPI, from the distribution, and the network between the nodes; they have no HCAs that
data could go through, so the job speaks TCP and has to say so.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox import config
from tests.system.conftest import NAME, SUBNET, Box, said

NODES = ("node1", "node2")
# A daemon or a program of the job that still runs, by its name.
LEFT = "cat /proc/[0-9]*/comm | grep -xE 'prted|orted|mpirun|prterun' || true"
INSTALL = """
command -v mpirun >/dev/null && exit
export DEBIAN_FRONTEND=noninteractive
apt-get -q update >/dev/null
apt-get -q install -y --no-install-recommends openmpi-bin >/dev/null 2>&1
command -v mpirun
"""


@pytest.fixture(scope="module")
def nodes(box: Box) -> Box:
    """Nodes in whatever state."""
    if not config.sandbox(NAME, SUBNET).state.exists():
        box.sandbox("up")
    return box


def play(box: Box, name: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return box.playbook(f"playbooks/{name}.yml", "-e", f"launch_dir={folder}", *more)


def nothing_is_left(box: Box) -> None:
    for node in NODES:
        assert box.root(node, LEFT) == ""
        assert box.root(node, "ls /var/lib | grep smoke || true") == ""
        assert box.root(node, "systemctl list-units --all --no-legend 'ibready-smoke*'") == ""


def test_scripts_are_rendered_from_what_the_nodes_are(nodes: Box, tmp_path: Path) -> None:
    done = play(nodes, "launch", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "docker.sh not rendered: it needs a container image" in said(done.stdout)
    script = (tmp_path / "torchrun.sh").read_text()
    assert "# SIMULATED: " in script
    assert f"node2) node_rank=1 address={SUBNET}.12 ;;" in script
    assert "numa=(0 0 0 0 1 1 1 1)" in (tmp_path / "rank.sh").read_text()


def test_without_open_mpi_the_smoke_job_says_so(nodes: Box, tmp_path: Path) -> None:
    nodes.root("node2", "[ ! -e /usr/bin/mpirun ] || mv /usr/bin/mpirun /usr/bin/mpirun.away")
    try:
        done = play(nodes, "smoke", tmp_path)
    finally:
        nodes.root(
            "node2", "[ ! -e /usr/bin/mpirun.away ] || mv /usr/bin/mpirun.away /usr/bin/mpirun"
        )
    assert done.returncode != 0
    assert "smoke job: there is no mpirun on this host" in said(done.stdout)
    assert "next: have role mpi install Open MPI (mpi_manage: true)" in said(done.stdout)
    nothing_is_left(nodes)


def test_the_smoke_job_tells_over_what_two_nodes_spoke(nodes: Box, tmp_path: Path) -> None:
    for node in NODES:
        nodes.root(node, INSTALL)
    done = play(nodes, "smoke", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "pass: 2 processes on 2 hosts, every sum is right, over tcp" in said(done.stdout)
    assert "TCP is all there is: no data goes through simulated HCAs" in said(done.stdout)
    log = (tmp_path / "smoke.log").read_text()
    assert "mca: bml: Using tcp btl for send to" in log
    for rank, node in enumerate(NODES):
        assert f"ibready-smoke rank={rank} size=2 host={node} right" in log
    nothing_is_left(nodes)
