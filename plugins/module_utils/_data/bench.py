# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a sound link, host and fabric are at least, as those say who test theirs. Data only.

Each floor is the lowest that anybody is known to call good, for a floor that fails a sound link
teaches people to ignore it. ``source``/``confidence`` as in gpus.py. Where nobody published one
there is none: the site sets it (``bench_floors``), or the baseline tells.
"""

from __future__ import annotations

from dataclasses import dataclass

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


_AZURE = "Azure/azurehpc-health-checks 0e0a1ac"
_OCI = "oracle-quickstart/oci-hpc b5285a68, active health check"

# Gb/s that ib_write_bw has to reach on a port of so many Gb/s.
BANDWIDTH_GBPS = {
    100.0: Floor(
        "a port of 100 Gb/s",
        92.0,
        "NVIDIA/deepops, RoCE guide: 92.4 Gb/s on two DGX-1 is what to expect; OCI asks for 96",
        "medium",
    ),
    200.0: Floor("a port of 200 Gb/s", 180.0, f"{_AZURE}, ND A100 v4; OCI asks for 192", "confirmed"),
    400.0: Floor(
        "a port of 400 Gb/s",
        360.0,
        f"{_AZURE}, ND H200 v5; 380 on ND H100 v5, OCI asks for 384, imbue for 720 both ways",
        "confirmed",
    ),
}

# Microseconds that a message of 2 bytes may take, on a port of 100 Gb/s or more. imbue asks for 4.2
# of ib_write_lat, whose 99th percentile it takes; reading goes there and back.
LATENCY_US = Floor("a port of 100 Gb/s or more", 5.0, f"{_OCI}; 9 on GB200", "medium")
LATENCY_FROM_GBPS = 100.0

# GB/s of bus bandwidth that all_reduce_perf has to reach on one host with eight of them.
NODE_GPUS = 8
NODE_GBPS = {
    "A100 SXM4": Floor("eight A100 SXM4", 185.0, f"{_OCI}; Azure asks for 228", "confirmed"),
    "H100 SXM5": Floor("eight H100 SXM5", 440.0, f"{_OCI}; Azure asks for 460", "confirmed"),
    "H200 SXM": Floor("eight H200 SXM", 431.0, f"{_AZURE}, ND H200 v5; OCI asks for 440", "confirmed"),
    "B200 SXM": Floor("eight B200 SXM", 440.0, _OCI, "confirmed"),
    "B300 SXM6": Floor("eight B300 SXM6", 800.0, _OCI, "confirmed"),
}

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

# Programs that hold RDMA devices or GPUs open and are no jobs, as the kernel cuts their names.
# Source: rdma-core and opensm packages of Debian 13, NVIDIA's driver and DCGM packages, what their
# units start. Confidence: confirmed for the former, recalled for NVIDIA's.
DAEMONS = frozenset(
    (
        *("opensm", "ibacm", "srp_daemon", "rdma-ndd", "iwpmd", "sharpd", "ibping"),
        *("nvidia-persiste", "nv-fabricmanage", "nv-hostengine", "nvlsm"),
    )
)

# Where nccl-tests is looked for besides PATH; it has no package of the distributions.
# Source: its README (build/), Azure's HPC images (/opt/nccl-tests). Confidence: medium.
NCCL_TESTS = ("/opt/nccl-tests/build", "/opt/nccl_tests/build", "/usr/local/nccl-tests/build")
NCCL_PROGRAM = "all_reduce_perf"
