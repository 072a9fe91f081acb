# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a sound link, host and fabric are at least, as those say who test theirs (bench.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import bench as rows

# The tests of perftest by our names, with the program of each.
WRITE_BW, WRITE_BW_GPU, READ_LAT, SEND_LAT = "write_bw", "write_bw_gpu", "read_lat", "send_lat"
PROGRAMS = {
    WRITE_BW: "ib_write_bw",
    WRITE_BW_GPU: "ib_write_bw",
    READ_LAT: "ib_read_lat",
    SEND_LAT: "ib_send_lat",
}
TESTS = tuple(PROGRAMS)
BANDWIDTH = (WRITE_BW, WRITE_BW_GPU)


@dataclass(frozen=True)
class Floor:
    """``value`` in the unit of its table, for what ``of`` names."""

    of: str
    value: float
    source: str
    confidence: str


_OCI = "oracle-quickstart/oci-hpc b5285a68, active health check"

BANDWIDTH_GBPS: dict[float, Floor] = load_by_key(Floor, rows.BANDWIDTH_GBPS)

# Microseconds that a message of 2 bytes may take, on a port of 100 Gb/s or more. imbue asks for 4.2
# of ib_write_lat, whose 99th percentile it takes; reading goes there and back.
LATENCY_US = Floor("a port of 100 Gb/s or more", 5.0, f"{_OCI}; 9 on GB200", "medium")
LATENCY_FROM_GBPS = 100.0

# GB/s of bus bandwidth that all_reduce_perf has to reach on one host with eight of them.
NODE_GPUS = 8
NODE_GBPS: dict[str, Floor] = load_by_key(Floor, rows.NODE_GBPS)

# What stands out. A modified z-score above 3.5 is an outlier: B. Iglewicz, D. Hoaglin, "How to
# Detect and Handle Outliers" (1993), as in NIST/SEMATECH's handbook, 1.3.5.17.
# Confidence: confirmed.
OUTLIER_Z = 3.5
# The median absolute deviation of a normal distribution, in standard deviations (the same).
MAD_PER_SIGMA = 0.6745
# Less than this share is no difference that a job would feel: microsoft/superbenchmark 700d650
# calls a result within five percent equal. Confidence: confirmed.
TOLERANCE = 0.05
# Fewer equal pairs say nothing of what is usual: with four, two bad ones move the median itself.
EQUALS = 5

DAEMONS: frozenset[str] = frozenset(rows.DAEMONS)

NCCL_TESTS: tuple[str, ...] = rows.NCCL_TESTS
NCCL_PROGRAM = "all_reduce_perf"
