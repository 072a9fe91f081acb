# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for what playbooks/bench.yml measures (fabric.bench.*, nccl.bench.*)."""

from __future__ import annotations

from .._ground.catalog import declare, error, warning

_BY = "Judged by playbooks/bench.yml. "

ENTRIES = declare(
    error(
        "fabric.bench.bandwidth",
        "The rail carries what its link rate promises",
        f"{_BY}ib_write_bw between this host and others of the same rail, from host memory. A slow "
        "rail slows every collective, for NCCL splits evenly over them.",
        (
            "the HCA's PCIe slot is slower than its link, or its payload size is small",
            "the link resends damaged packets, or the way is shared with other traffic",
        ),
        "look at pci.* and the port's counters on the named host, then swap its cable; compare "
        "with another rail of the same host",
    ),
    error(
        "fabric.bench.gpudirect",
        "GPU memory reaches the fabric at the rail's rate",
        f"{_BY}The same from the memory of the nearest GPU. Where this is slow and host memory is "
        "not, the way between GPU and HCA is at fault.",
        (
            "ACS or the IOMMU sends what GPU and HCA have for each other through the processor",
            "GPU and HCA are not behind one PCIe switch",
        ),
        "see host.kernel.* and pci.config.* on this host (ACS, IOMMU), and `nvidia-smi topo -m`",
    ),
    warning(
        "fabric.bench.latency",
        "A small message takes no longer than it should",
        f"{_BY}ib_read_lat and ib_send_lat between this host and others of the same rail, medians.",
        (
            "the CPUs save power, or are busy",
            "the way goes over more switches than planned, or is congested",
        ),
        "look at host.cpu.governor and at what runs on the host; then trace the way (ibtracert)",
    ),
    warning(
        "fabric.bench.outlier",
        "The host is as fast as its equals",
        f"{_BY}A pair stands out where it is worse than the median of all equal pairs by more than "
        "3.5 robust standard deviations and five percent. It is laid at the door of the host that "
        "takes part in most such pairs.",
        (
            "one link, slot or HCA of this host is not like those of the others",
            "something else ran on this host, or on the way to it, at that time",
        ),
        "measure again; where it stays, compare links, slots and firmware with an equal host",
    ),
    warning(
        "fabric.bench.regression",
        "The fabric is as fast as when the baseline was taken",
        f"{_BY}Worse than the baseline by more than five percent and more than its spread.",
        (
            "the stack, the firmware or the settings changed since",
            "a link got worse, or another one took its place",
        ),
        "compare the stacks that the report names; where the change is wanted, take a new baseline "
        "(bench_rebase: true)",
    ),
    error(
        "fabric.bench.mpi",
        "An all-reduce under mpirun is right, and goes over RDMA where there are rails",
        f"{_BY}A program of ibready's own under Open MPI, on several hosts, in host memory. Its "
        "sums and its transport are judged; its times are held against the baseline.",
        (
            "Open MPI or UCX finds no RDMA transport for this user",
            "mpirun's daemons cannot reach the first host by TCP",
        ),
        "read the job's log in the report's folder; `ucx_info -d` as the same user",
    ),
    error(
        "nccl.bench.node",
        "The GPUs of the host reach their bus bandwidth",
        f"{_BY}all_reduce_perf of nccl-tests between all GPUs of one host; the best of all sizes.",
        (
            "NVLinks are down, or the fabric manager did not join the GPUs",
            "a GPU is throttled, or something else computes on it",
        ),
        "look at nvlink.* and gpu.* on this host, and at NCCL_* in its nccl.conf",
    ),
    error(
        "nccl.bench.nodes",
        "The GPUs of several hosts reach their bus bandwidth",
        f"{_BY}all_reduce_perf of nccl-tests on several hosts. What they have to reach depends on "
        "the fabric, so that only the site knows it (bench_floors), or the baseline.",
        (
            "a rail is not used, or slow (fabric.bench.bandwidth, fabric.bench.gpudirect)",
            "NCCL took another network than the rails",
        ),
        "run it with NCCL_DEBUG=INFO and give its log to playbooks/diagnose.yml (diagnose_log)",
    ),
    error(
        "nccl.bench.data",
        "Every sum of the benchmark is right",
        f"{_BY}nccl-tests compares what comes out with what should. A wrong sum means silently "
        "damaged data, and a training that goes wrong without an error.",
        (
            "a GPU, an NVLink or PCIe damages data (ACS together with GPUDirect does as well)",
            "NCCL, driver and peer memory module do not fit together",
        ),
        "take the host out of service; run nccl-tests on its halves, and `dcgmi diag -r 3`",
    ),
    warning(
        "nccl.job.bound",
        "No rank of the job keeps the others waiting, and its steps are computation",
        "Judged by playbooks/diagnose.yml, of the logs, traces and recorders that a job left (diagnose_times), in the "
        "words of `ibready why` (docs/slow.md).",
        (
            "a rank or host is slower than the others, or never came to a collective operation",
            "communication, input or the host takes a quarter of each step, or more",
        ),
        "do what docs/slow.md says for that class; look for causes on the hosts with playbooks/diagnose.yml",
    ),
    warning(
        "nccl.bench.regression",
        "NCCL is as fast as when the baseline was taken",
        f"{_BY}Worse than the baseline by more than five percent.",
        (
            "the stack, NCCL or its settings changed since",
            "a GPU, NVLink or rail got worse",
        ),
        "compare the stacks that the report names; where the change is wanted, take a new baseline "
        "(bench_rebase: true)",
    ),
)
