# SPDX-License-Identifier: GPL-3.0-or-later
"""Role mpi: a job of two nodes starts by ssh, and the smoke job tells over what they spoke.

Real are Open MPI, from the distribution, and the network between the nodes; they have no HCAs that
data could go through, so the job speaks TCP and has to say so.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system import smoke
from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

PLAYBOOK = "tests/system/mpi.yml"
# A key of this test's own, for mpirun logs in to the other node.
KEY = """su - ops -c '
mkdir -p -m 700 ~/.ssh
test -e ~/.ssh/mpi || ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/mpi
echo "Host node*" > ~/.ssh/config
echo "  IdentityFile ~/.ssh/mpi" >> ~/.ssh/config
echo "  StrictHostKeyChecking accept-new" >> ~/.ssh/config
cat ~/.ssh/mpi.pub'
"""
# Each rank tells its host and how many ranks Open MPI says that there are.
JOB = (
    "mpirun --host node1,node2 -np 2 sh -c "
    "'echo \"rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)\"'"
)


@pytest.fixture(scope="module")
def installed(stocked: Box) -> Box:
    done = stocked.playbook(PLAYBOOK)
    assert done.returncode == 0, done.stdout
    return stocked


def test_the_second_run_changes_nothing(installed: Box) -> None:
    done = installed.playbook(PLAYBOOK)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("changed=0") == 2, done.stdout


def test_a_job_of_two_nodes_runs_over_the_interface_that_was_written(installed: Box) -> None:
    reported = installed.root("node1", "ompi_info --parsable --param btl tcp --level 9")
    assert "btl_tcp_if_include:value:eth0" in reported
    assert "btl_tcp_if_include:source:file (/etc/openmpi/openmpi-mca-params.conf" in reported
    key = installed.root("node1", KEY).strip()
    installed.root("node2", f"echo '{key}' >> /home/ops/.ssh/authorized_keys")
    reported = installed.root("node1", f"su - ops -c {quoted(JOB)}")
    ranks = sorted(line for line in reported.splitlines() if line.startswith("rank "))
    assert ranks == ["rank 0 of 2 on node1", "rank 1 of 2 on node2"], reported


def quoted(script: str) -> str:
    """The script as one word of a shell."""
    return "'" + script.replace("'", "'\\''") + "'"


def test_the_smoke_job_tells_over_what_two_nodes_spoke(installed: Box, tmp_path: Path) -> None:
    done = smoke.play(installed, "smoke", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "pass: 2 processes on 2 hosts, every sum is right, over tcp" in said(done.stdout)
    assert "TCP is all there is: no data goes through simulated HCAs" in said(done.stdout)
    log = (tmp_path / "smoke.log").read_text()
    assert "mca: bml: Using tcp btl for send to" in log
    for rank, node in enumerate(smoke.NODES):
        assert f"ibready-smoke rank={rank} size=2 host={node} right" in log
    smoke.nothing_is_left(installed)


def test_the_smoke_job_by_mpi4py(installed: Box, tmp_path: Path) -> None:
    done = smoke.play(installed, "smoke", tmp_path, "-e", "smoke_binding=mpi4py")
    assert done.returncode != 0
    assert "ModuleNotFoundError: No module named 'mpi4py'" in said(done.stdout)
    done = installed.playbook(PLAYBOOK, "-e", "mpi_python=true", "--tags", "mpi_packages")
    assert done.returncode == 0, done.stdout
    done = smoke.play(installed, "smoke", tmp_path, "-e", "smoke_binding=mpi4py")
    assert done.returncode == 0, done.stdout
    assert "pass: 2 processes on 2 hosts, every sum is right, over tcp" in said(done.stdout)
    assert (tmp_path / "smoke.log").read_text().count(", by mpi4py") == 2
    smoke.nothing_is_left(installed)


def test_the_same_job_without_rdma_stands_beside_it(installed: Box) -> None:
    """It speaks TCP either way: the two numbers differ by noise alone, and both are there."""
    wish = {
        "bench_what": ["mpi"],
        "bench_ab": ["rdma", "nvls"],
        "bench_seconds": 2,
        "bench_mpi_bytes": [65536, 1048576],
    }
    done = installed.playbook("playbooks/bench.yml", "--limit", "node1,node2", "-e", json.dumps(wish))
    told = said(done.stdout)
    assert "SWITCHED" in told, done.stdout
    rows = {row["switch"]: row for row in json.loads((installed.reports / "bench.json").read_text())["switched"]}
    assert set(rows) == {"rdma", "nvls"}
    assert rows["rdma"]["untested"] == "", done.stdout
    assert rows["rdma"]["base"] > 0
    assert rows["rdma"]["value"] > 0
    assert rows["rdma"]["says"] in told
    assert rows["nvls"]["untested"] == "only a job between GPUs has it"
    smoke.nothing_is_left(installed)


def test_the_sites_line_stands_and_all_of_ours_goes_again(installed: Box) -> None:
    path = "/etc/openmpi/openmpi-mca-params.conf"
    installed.root("node1", f"sed -i '1i btl_tcp_if_include = lo' {path}")
    done = installed.playbook(PLAYBOOK, "--limit", "node1", "--tags", "mpi_conf")
    assert done.returncode == 0, done.stdout
    assert installed.root("node1", f"grep -c btl_tcp_if_include {path}").strip() == "1"
    done = installed.playbook(PLAYBOOK, "--tags", "mpi_conf", "-e", "mpi_state=absent")
    assert done.returncode == 0, done.stdout
    for node in ("node1", "node2"):
        assert installed.root(node, "grep -l ibready /etc/openmpi/*.conf || test $? -eq 1") == ""
