# SPDX-License-Identifier: GPL-3.0-or-later
"""Open MPI between the machines: over RDMA by the log's word, and over TCP by name of a setting."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Software devices are no rails unless the site says so, and only rails make RDMA expected.
WISH = {"nccl_rails": ["rxe0"], "smoke_timeout": 240}
# UCX 1.18 drops every datagram of a device that does not tell of which kind a packet was, as irdma
# (openucx/ucx 10209), and no connection comes up without datagrams.
RXE = {"UCX_UD_VERBS_ETH_DGID_CHECK": "n"}


def smoke(machines: Any, folder: Path, more: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = machines.play(
        "playbooks/smoke.yml", {**WISH, "launch_dir": str(folder), **more}
    )
    return done


def test_the_log_proves_that_rdma_carried_the_data(machines: Any, tmp_path: Path) -> None:
    done = smoke(machines, tmp_path, {"smoke_environment": RXE})
    assert done.returncode == 0, done.stdout
    assert "pass: 2 processes on 2 hosts, every sum is right, over" in done.stdout
    assert "_verbs (rxe0:1) by ucx" in done.stdout
    assert "tcp (" not in (done.stdout.split("every sum is right, over")[1].split("\n")[0])


def test_what_keeps_a_job_from_rdma_is_named(machines: Any, tmp_path: Path) -> None:
    done = smoke(machines, tmp_path, {"smoke_environment": {"UCX_TLS": "tcp"}})
    assert done.returncode != 0
    assert '"cause": "mpi.ucx_tls"' in done.stdout
    assert "UCX_TLS=tcp" in done.stdout
