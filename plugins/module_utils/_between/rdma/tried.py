# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run tried between its hosts over RDMA, and what is known of both ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ..._data.rdma_tests import MOVED, UNTESTED

ROCE = "RoCE"


@dataclass(frozen=True)
class Rail:
    """One RDMA port that can take part. ``kind``: ROCE or INFINIBAND (_ground.link). ``gid_index``: -1 on
    InfiniBand; ``gid``: what the table holds there, "" where nothing; ``gid_type``: RoCE v1 or v2;
    ``gid_usable``: other hosts can be reached with it. ``address``: the IP address of that entry,
    "" where it is none. ``mtu``: bytes of an RDMA packet, 0 where unknown. ``rate``: Gb/s.
    """

    name: str
    device: str
    port: int
    kind: str = ROCE
    gid_index: int = -1
    gid: str = ""
    gid_type: str = ""
    gid_usable: bool = True
    address: str = ""
    netdev: str = ""
    mtu: int = 0
    rate: float | None = None
    soft: bool = False


@dataclass(frozen=True)
class Words:
    """What one end said of a failure, and what its shell saw. ``memlock``: kilobytes, unlimited, or
    "" where unknown. ``devices``: below /dev/infiniband, None where nobody looked."""

    kind: str = ""
    said: str = ""
    memlock: str = ""
    devices: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Try:
    """One test of one pair on one rail. ``state``: of _data/rdma_tests; where it is UNTESTED,
    ``culprit`` is the host that kept it from being tested. ``at``: whose word ``said`` is.
    ``gbps``, ``usec``, ``moved`` (bytes), ``pings``: None where the test does not tell."""

    client: str
    server: str
    rail: str
    where: str
    test: str
    state: str = UNTESTED
    kind: str = ""
    said: str = ""
    at: str = "client"
    culprit: str = ""
    gbps: float | None = None
    usec: float | None = None
    moved: int | None = None
    pings: int | None = None
    asked: Words = field(default_factory=Words)
    served: Words = field(default_factory=Words)

    @property
    def arrived(self) -> bool:
        return self.state == MOVED

    @property
    def hosts(self) -> tuple[str, str]:
        return (self.client, self.server)


@dataclass(frozen=True)
class Host:
    """One host that the run reached. ``rails``: that can take part; ``missing``: why the others
    cannot. ``off``: why it was left out on purpose; ``error``: why it could take no part.
    ``containers``: whether tests run in containers as well, ``user`` as whom beside root;
    ``engine``: the one that the site names. ``bandwidth``, ``latency``: the site's own limits.
    """

    rails: Mapping[str, Rail] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    off: str = ""
    error: str = ""
    containers: bool = False
    user: int = 65534
    engine: str = ""
    bandwidth: float | None = None
    latency: float | None = None

    @property
    def names(self) -> list[str]:
        """Every rail that is judged."""
        return sorted({*self.rails, *self.missing})
