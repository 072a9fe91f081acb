# SPDX-License-Identifier: GPL-3.0-or-later
"""InfiniBand port counters: how fast each may rise on a sound link (ib_counters.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import ib_counters as rows

_FIELD = "field practice: none of these on a sound fabric"


@dataclass(frozen=True)
class Counter:
    """One counter below ports/N/counters (or hw_counters) of sysfs.

    It is a fault when between two looks it rose by at least ``at_least`` and faster than
    ``per_hour``. ``bits``: its width in PortCounters, where it stops at the highest value; 0 where
    it does not stop. ``names``: what perfquery calls it. ``means``: what its rise says. From
    ``storm_per_s`` on jobs wait for what is lost (ib.port.error_storm); None where that cannot be said.
    ``damage``: it counts bits or packets that arrive damaged. ``remedy``: what to do where its rise does
    not come from this link, "" where it does: only then a cable is touched.
    """

    name: str
    means: str
    per_hour: float
    at_least: int
    bits: int = 0
    names: tuple[str, ...] = ()
    hw: bool = False
    source: str = _FIELD
    confidence: str = "recalled"
    storm_per_s: float | None = None
    damage: bool = False
    remedy: str = ""

    @property
    def says(self) -> str:
        """What its rise means, and whether it is this link's; causes/rail.yml goes by these words."""
        return f"{NOT_THIS_LINK if self.remedy else ''}{self.means}"


# What begins the meaning of a counter that another part of the fabric makes rise.
NOT_THIS_LINK = "no fault of this link: "

# Its rise is a check of its own (ib.port.flaps).
LINK_DOWNED = "link_downed"
# The pause between the two looks, in seconds.
PAUSE_S = 5.0
MOST_PAUSE_S = 600.0

COUNTERS: tuple[Counter, ...] = load(Counter, rows.COUNTERS)

# By what perfquery and ibqueryerrors call them.
QUERIED = {name: counter for counter in COUNTERS for name in counter.names}

# What mlxlink shows: errors left after correction, and errors before it.
RESIDUAL_BER = 1e-12  # InfiniBand specification: less than one bit error in 1e12 (confirmed)
RAW_BER = 1e-5  # Field practice: links lose packets from about here on (recalled).
