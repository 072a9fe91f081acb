# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that move data over RDMA, what they are asked for, and what they say when they
cannot. Data only; ``source``/``confidence`` of floors as in bench.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import rdma_tests as rows

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


PROGRAMS: dict[str, Program] = load_by_key(Program, rows.PROGRAMS)

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

WORDS: tuple[tuple[str, str], ...] = rows.WORDS
