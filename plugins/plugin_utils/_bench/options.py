# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of playbooks/bench.yml. Data only."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import TESTS
from ansible_collections.ibready.cluster.plugins.plugin_utils._bench.judge import FLOORS, WHAT

BENCH_OPTIONS: dict[str, dict[str, Any]] = {
    "bench_what": {
        "type": "list",
        "elements": "str",
        "choices": list(WHAT),
        "description": "What bench.yml measures: perftest between pairs of hosts, nccl-tests on "
        "one host and on several, an all-reduce over MPI ([bench.md](bench.md); default: all).",
    },
    "bench_tests": {
        "type": "list",
        "elements": "str",
        "choices": list(TESTS),
        "description": "Which tests of perftest (default: all; `write_bw_gpu` only between hosts "
        "with GPUs).",
    },
    "bench_devices": {
        "type": "list",
        "elements": "str",
        "description": "RDMA devices of a host that perftest measures in place of its rails, "
        "software devices (rxe) as well (default: the rails).",
    },
    "bench_partners": {
        "type": "int",
        "description": "Against how many others each host measures, both ways (default 3).",
    },
    "bench_seconds": {
        "type": "int",
        "description": "How long a bandwidth is measured, and the all-reduce over MPI (default 5).",
    },
    "bench_timeout": {
        "type": "int",
        "description": "Seconds after which nccl-tests, or a job on several hosts, is ended "
        "(default 120).",
    },
    "bench_port": {
        "type": "int",
        "description": "The first TCP port at which two hosts meet for perftest; one more for each "
        "rail and test (default 18515).",
    },
    "bench_nodes": {
        "type": "int",
        "description": "On how many hosts the jobs over several run, the first ones (default 2).",
    },
    "bench_processes": {
        "type": "int",
        "description": "How many processes the all-reduce over MPI starts on each (default 1).",
    },
    "bench_mpi_bytes": {
        "type": "list",
        "elements": "int",
        "description": "Its message sizes (default `[8, 65536, 16777216]`).",
    },
    "bench_nccl_program": {
        "type": "str",
        "description": "Where all_reduce_perf of nccl-tests is on the hosts (default: in PATH, or "
        "where it usually is).",
    },
    "bench_nccl_sizes": {
        "type": "list",
        "elements": "str",
        "description": "Its smallest and largest message (default `[8M, 8G]`).",
    },
    "bench_floors": {
        "type": "dict",
        "description": "The site's own floors in place of the published ones: "
        + ", ".join(f"`{name}`" for name in FLOORS)
        + " (default: none).",
    },
    "bench_baseline": {
        "type": "path",
        "description": "The baseline on the controller (default: bench.baseline.json beside the "
        "inventory).",
    },
    "bench_rebase": {
        "type": "bool",
        "description": "Make this run the baseline, unless an error was found (default false).",
    },
    "bench_busy_ok": {
        "type": "bool",
        "description": "Consent: measure although a job runs on a host, or nobody can tell "
        "(default false).",
    },
}
