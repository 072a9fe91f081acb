# SPDX-License-Identifier: GPL-3.0-or-later
"""What an incast shows in the counters of its ports, by driver, and what makes a port full (incast.yml).

Loss is told by the counters of roce_counters. Names are keys as a look at a port has them: those of
`ethtool -S` with its words before them, {} for the priority.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import incast as rows
from .roce_counters import COUNTERS, ETHTOOL, HW, LOSS, PRIORITY

# Of a directory beside hw_counters: bytes that the port received by RDMA, divided by four.
# Source: kernel, Documentation/ABI/stable/sysfs-class-infiniband, and mlx5's mad.c (of RoCE: unicast and
# multicast octets of the vport). Confidence: confirmed.
DATA = "counters/port_rcv_data"
DATA_BYTES = 4

# A port is full from this share of its rate on: RoCE v2 at the smallest MTU in use (1024) carries 92 % of it as
# data, and the floors of bench.py are nine tenths. Source: inferred. Confidence: medium.
FULL = 0.9
# So long it has to be full. A switch's whole buffer (hundreds of MB) fills within milliseconds at two to one, and
# one look a second may be cut short by what else the host does. Source: inferred. Confidence: medium.
FULL_S = 2.0
# With fewer CNPs than that a sender may have got none by chance. Source: inferred. Confidence: medium.
CNP_FEW = 100
# Of an even share of the port's rate: a sender that reached less was stopped, or came when the others were done.
# Source: inferred. Confidence: medium.
LEAST = 0.05

WIRE: frozenset[str] = frozenset(rows.WIRE)
BEHIND: frozenset[str] = frozenset(rows.BEHIND)


@dataclass(frozen=True)
class Names:
    """``paused``: pauses that came in, by priority; ``pauses``: those that the port sent. ``plain``: came in, of the
    whole link; ``every``: of any kind. ``arrived``, ``left``: bytes by priority. ``received``: bytes by RDMA, where
    DATA does not tell. ``marked``: packets that came with ECN's mark; ``told``: CNPs sent; ``slowed``: CNPs obeyed;
    ``ignored``: CNPs that came and were not. Of several names the first that is there."""

    paused: str = ""
    pauses: str = ""
    plain: str = ""
    every: str = ""
    arrived: str = ""
    left: str = ""
    received: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    slowed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    source: str = ""
    confidence: str = "confirmed"


def _e(name: str) -> str:
    return f"{ETHTOOL} {name}"


NAMES: dict[str, Names] = load_by_key(Names, rows.NAMES)
SAME: dict[str, str] = rows.SAME


def names_of(driver: str) -> Names:
    """Those of a port whose function is bound to this driver; none where it is not known here."""
    return NAMES.get(SAME.get(driver, driver), Names())


def hw() -> tuple[str, ...]:
    """Every name of hw_counters that is read."""
    mine = [
        name
        for names in NAMES.values()
        for some in (names.received, names.marked, names.told, names.slowed, names.ignored)
        for name in some
    ]
    return tuple(dict.fromkeys([*(entry.name for entry in COUNTERS if entry.home == HW), *mine]))


def by_ethtool() -> tuple[str, ...]:
    """Every key of `ethtool -S` that is read."""
    mine = [
        name
        for names in NAMES.values()
        for name in (names.paused, names.pauses, names.plain, names.every, names.arrived, names.left)
        if name
    ]
    lost = [_e(entry.name) for entry in COUNTERS if entry.home == ETHTOOL and entry.harm == LOSS]
    found = [name.replace(PRIORITY, str(at)) for name in [*lost, *mine] for at in range(8)]
    return tuple(dict.fromkeys(found))
