# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that move data over RDMA, what they are asked for, and what they say when they
cannot. Data only; ``source``/``confidence`` of floors as in bench.py.
"""

from __future__ import annotations

from dataclasses import dataclass

# The tests by our names, in the order in which they are put: small messages before large ones, the
# connection manager last, for it is the one that takes long to give up.
VERBS, LATENCY, BANDWIDTH, CM = "verbs", "latency", "bandwidth", "cm"
TESTS = (VERBS, LATENCY, BANDWIDTH, CM)


@dataclass(frozen=True)
class Program:
    """``package``: where Debian and Ubuntu, and where EL have it (package lists; confirmed)."""

    name: str
    package: str
    el_package: str


PROGRAMS = {
    VERBS: Program("ibv_rc_pingpong", "ibverbs-utils", "libibverbs-utils"),
    LATENCY: Program("ib_send_lat", "perftest", "perftest"),
    BANDWIDTH: Program("ib_write_bw", "perftest", "perftest"),
    CM: Program("rping", "rdmacm-utils", "librdmacm-utils"),
}

# Where a test runs: on the host as root, in a container as root, in a container as another user.
HOST, ROOT, USER = "host", "root", "user"
WHERE = (HOST, ROOT, USER)


@dataclass(frozen=True)
class Amount:
    """What one test moves: ``size`` bytes a message, ``count`` messages, over ``pairs`` queue
    pairs."""

    size: int
    count: int
    pairs: int = 1


# An HCA moves each of these in well under a second; software on emulated processors, at some
# megabytes and a few hundred messages a second, in a few.
HARD = {
    VERBS: Amount(1 << 20, 200),
    LATENCY: Amount(2, 1000),
    BANDWIDTH: Amount(1 << 20, 1000, 4),
    CM: Amount(1024, 20),
}
SOFT = {
    VERBS: Amount(1 << 16, 20),
    LATENCY: Amount(2, 100),
    BANDWIDTH: Amount(1 << 16, 40),
    CM: Amount(1024, 10),
}
# In containers as much memory is registered at once as no engine's own limit lets a user lock: 8
# MiB is what the kernel and systemd give from 5.16 and 247 on, 64 KiB before. Confirmed
# (include/uapi/linux/resource.h, systemd's NEWS).
LOCKED = Amount(9 << 20, 1)

# Seconds that a test may take at the most. An RDMA CM request is given up by the kernel only after
# about a minute (cma_cm_response_timeout 20, 15 retries: drivers/infiniband/core/cma.c).
LIMITS = {VERBS: 20, LATENCY: 20, BANDWIDTH: 20, CM: 15}
# By then every server of a round waits, or has said why it does not.
FIRST_S = 1.0
# A forgotten server must not outlive a working day.
LEASE_MOST = 6 * 3600

# What became of a test, in one word each. The first says that the data arrived.
MOVED, FAILED, UNTESTED = "moved", "failed", "untested"

# Kinds of what went wrong, told from the programs' own words.
NO_PROVIDER, NO_DEVICE, NOT_OPENED, MEMLOCK = "no provider", "no device", "not opened", "memlock"
GID, PORT, LOST, REFUSED, DAMAGED, NO_SERVER = (
    "gid",
    "port",
    "lost",
    "refused",
    "damaged",
    "no server",
)
# These lie at the end that says so; of the others either end may be the one to blame.
LOCAL = (NO_PROVIDER, NO_DEVICE, NOT_OPENED, MEMLOCK, GID, PORT)

# Which words tell which kind, the surest first. Sources: rdma-core 44 to 56
# (libibverbs/examples/rc_pingpong.c, librdmacm/examples/rping.c, libibverbs/init.c, cma.c) and
# perftest 4.5 to 25.01 (perftest_resources.c, perftest_communication.c); confirmed by their texts,
# and those of tests/unit/rdma_logs by faults that were planted on soft RoCE.
WORDS = (
    (DAMAGED, r"invalid data in page|data mismatch"),
    (NO_PROVIDER, r"no userspace device-specific driver|couldn't load driver"),
    (
        MEMLOCK,
        r"(?i)couldn't register MR|reg_mr failed|couldn't allocate MR|failed to create mr|"
        r"cannot allocate memory|RLIMIT_MEMLOCK",
    ),
    (
        NOT_OPENED,
        r"(?i)couldn't get context for|unable to open /dev/infiniband|"
        r"RDMA CM event channel|rdma_create_event_channel|"
        r"rdma_create_id: (?:no such file|permission)",
    ),
    (
        NO_DEVICE,
        r"(?i)IB device \S+ not found|no IB devices found|failed to get IB devices list|"
        r"did not detect devices|unable to find the Infiniband/RoCE device|"
        r"no RDMA devices|rdma_create_id: no such device|rdma_bind_addr: no such device|"
        r"RDMA_CM_EVENT_ADDR_ERROR",
    ),
    (GID, r"(?i)can't read sgid|failed to modify QP|unable to connect the HCA|GID types"),
    (PORT, r"(?i)couldn't get (?:port info|local LID)|couldn't set the link layer"),
    (
        LOST,
        r"(?i)retry counter exceeded|\bstatus 12\b|syndrom 0x81|RDMA_CM_EVENT_UNREACHABLE|"
        r"RDMA_CM_EVENT_ROUTE_ERROR|error -110",
    ),
    (REFUSED, r"RDMA_CM_EVENT_REJECTED"),
    (
        NO_SERVER,
        r"(?i)couldn't connect to|unable to init the socket|couldn't read remote address|"
        r"(?:client|server) (?:read|write)|no route to host|connection refused",
    ),
)
