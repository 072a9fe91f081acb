# SPDX-License-Identifier: GPL-3.0-or-later
"""Launch scripts for the nodes; what a smoke job says where there is no Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.conftest import Box, said
from tests.system.smoke import nothing_is_left, play

pytestmark = pytest.mark.thorough


def test_scripts_are_rendered_from_what_the_nodes_are(ready: Box, tmp_path: Path) -> None:
    done = play(ready, "launch", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "docker.sh not rendered: it needs a container image" in said(done.stdout)
    script = (tmp_path / "torchrun.sh").read_text()
    assert "# SIMULATED: " in script
    assert f"node2) node_rank=1 address={ready.rig.address('node2')} ;;" in script
    assert "numa=(0 0 0 0 1 1 1 1)" in (tmp_path / "rank.sh").read_text()


def test_without_open_mpi_the_smoke_job_says_so(ready: Box, tmp_path: Path) -> None:
    ready.root("node2", "[ ! -e /usr/bin/mpirun ] || mv /usr/bin/mpirun /usr/bin/mpirun.away")
    try:
        done = play(ready, "smoke", tmp_path)
    finally:
        ready.root("node2", "[ ! -e /usr/bin/mpirun.away ] || mv /usr/bin/mpirun.away /usr/bin/mpirun")
    assert done.returncode != 0
    assert "smoke job: there is no mpirun on this host" in said(done.stdout)
    assert "next: have role mpi install Open MPI (mpi_manage: true)" in said(done.stdout)
    nothing_is_left(ready)
