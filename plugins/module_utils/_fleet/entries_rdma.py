# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for data that is really moved over RDMA (fabric.rdma.*, container.rdma.*).

Those of containers that look at one host alone are in container.py.
"""

from __future__ import annotations

from .._ground.catalog import declare, error, warning

_BETWEEN = "Between this host and a few others, on each rail, with the GID that NCCL would take. "
_INSIDE = (
    "The same between containers of both hosts, as root and as another user, started with the "
    "devices and limits that jobs get. "
)
_BLOCKED = "UDP port 4791 is blocked, at one end or between"
_DOCS = "see docs/rdma.md"

ENTRIES = declare(
    error(
        "fabric.rdma.verbs",
        "Data arrives intact over RDMA verbs",
        f"{_BETWEEN}ibv_rc_pingpong sends there and back with the largest packets that both ends "
        "can; the server compares what came. A host that answers to ping and TCP may still not do "
        "this.",
        (
            _BLOCKED,
            "the GID index is of another RoCE version, or empty, at one end",
            "the way carries smaller packets than both ends send",
        ),
        f"do what the finding says first, then try by hand: {_DOCS}",
    ),
    warning(
        "fabric.rdma.cm",
        "Connections by the RDMA connection manager carry data",
        f"{_BETWEEN}rping connects by IP address and compares what comes back. NCCL does without "
        "it; storage (NFS, BeeGFS) and some transports of UCX do not.",
        ("module rdma_ucm is not loaded", _BLOCKED),
        f"`modprobe rdma_ucm`, and `rping` by hand: {_DOCS}",
    ),
    warning(
        "fabric.rdma.bandwidth",
        "ib_write_bw moves data, at the rate of the link where a floor is known",
        f"{_BETWEEN}A short run of ib_write_bw. Floors are those of fabric.bench.bandwidth. Of "
        "software devices (rxe), and of rates without a floor, only that data moves is judged. "
        "playbooks/bench.yml measures longer.",
        (
            "the HCA's slot or link is slower than it should be, or resends",
            "something else used the rail at that time",
        ),
        "verify again while no job runs, then run playbooks/bench.yml",
    ),
    warning(
        "fabric.rdma.latency",
        "ib_send_lat moves small messages, in the time that is usual where a ceiling is known",
        f"{_BETWEEN}Medians of messages of 2 bytes. The ceiling is that of fabric.bench.latency.",
        ("the CPUs save power, or are busy", "the way is congested"),
        "look at host.cpu.governor and at what runs on the host",
    ),
    warning(
        "fabric.rdma.mtu",
        "Both ends of a rail send packets of one size, and the way carries them",
        "Compared between the two ends of every pair that was tried, and tried with packets of the "
        "smaller size. Programs that agree on a size go on slowly; those that do not, not at all.",
        (
            "the interface of one end has another MTU",
            "a switch between them carries smaller packets than the ends send",
        ),
        "give the rails' interfaces one MTU on all hosts (roce.netdev.mtu), and the switches at least that",
    ),
    error(
        "container.rdma.verbs",
        "Data arrives intact over RDMA verbs between containers",
        f"{_INSIDE}ibv_rc_pingpong with more memory registered at once than any engine's own limit lets a user lock.",
        (
            "the container's users may not lock enough memory",
            "the container was not given its /dev/infiniband/uverbs*",
            "the image has no libibverbs provider for the device",
        ),
        "see container.limit.*, container.device.* and container.verbs.* (containerverify): docs/containers.md",
    ),
    warning(
        "container.rdma.cm",
        "Connections by the RDMA connection manager carry data between containers",
        f"{_INSIDE}rping.",
        ("the container was not given /dev/infiniband/rdma_cm",),
        "add --device=/dev/infiniband/rdma_cm",
    ),
    warning(
        "container.rdma.bandwidth",
        "ib_write_bw moves data between containers, at the rate of the link where a floor is known",
        f"{_INSIDE}As fabric.rdma.bandwidth.",
        ("the container lacks what the host has: see container.rdma.verbs",),
        "compare with fabric.rdma.bandwidth of the same rail",
    ),
    warning(
        "container.rdma.latency",
        "ib_send_lat moves small messages between containers",
        f"{_INSIDE}As fabric.rdma.latency.",
        ("the container's processes share their CPUs with others",),
        "compare with fabric.rdma.latency of the same rail",
    ),
)
