# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a link may go down, over hours and days, and the kernel's words for it (link_history.yml).

A link goes down and comes back when its driver starts, its interface is configured, its switch
restarts, or somebody reseats a cable. ``source``/``confidence`` as in gpus.yml.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import link_history as rows

HOUR_S, DAY_S = 3600.0, 86400.0

# A node is not fit for jobs from so many on.
DOWNS_AN_HOUR = 3
DOWNS_A_DAY = 5
SOURCE = (
    "Azure's node health checks for its InfiniBand nodes: five lost carriers within 24 hours; gpud: a "
    "port that came back three times is flapping; OCI's and Meta's: any within hours (confirmed); "
    "three within one hour (recalled)"
)
# On average, over all the time since the boot: worth a person's look, long before it stops jobs all day.
DOWNS_A_DAY_TO_PLAN_FOR = 1.0
# What a boot may bring with it: driver, interface, MTU, VFs. source: OCI's checks leave out the first
# half hour after a boot; how many there are is field practice (recalled).
BOOT_S = 1800.0
BOOT_DOWNS = 5
# What was longer ago is history: a site has looked at it, or it did not come again (recalled).
HISTORY_S = 30 * DAY_S


@dataclass(frozen=True)
class Word:
    """A line of the kernel log. Groups: ``device`` (RDMA device), ``address`` (of its PCI function),
    ``netdev``, ``port``. ``up``: it says that the link came back, so the first of a boot counts for
    nothing. ``kind``: lines of one kind are counted together; those of two may be of one event."""

    kind: str
    pattern: str
    up: bool = False


WORDS: tuple[Word, ...] = load(Word, rows.WORDS)
# What every one of them has, to leave all other lines out.
ANY = r"[Ll]ink|[Cc]able"
