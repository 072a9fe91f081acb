# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a link may go down, over hours and days, and the kernel's words for it. Data only.

A link goes down and comes back when its driver starts, its interface is configured, its switch
restarts, or somebody reseats a cable. ``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass

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


_AT = r"(?P<address>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_NETDEV = r"(?P<netdev>[A-Za-z][\w.-]{0,14})"
_DEVICE = r"(?P<device>[A-Za-z][\w.-]{0,39})"
# Sources: drivers/infiniband/core/cache.c (Linux 6.14), mlx5's events.c and en_main.c, mlx4's
# en_netdev.c, bnxt and Intel's drivers, net/ipv6/addrconf.c (confirmed).
WORDS = (
    Word("port", rf"\b{_AT} {_DEVICE}: Port: (?P<port>\d{{1,3}}) Link DOWN\b"),
    Word("port up", rf"\b{_AT} {_DEVICE}: Port: (?P<port>\d{{1,3}}) Link ACTIVE\b", up=True),
    Word("cable", rf"\b{_AT}: Port module event: module \d{{1,3}}, Cable unplugged"),
    Word("cable up", rf"\b{_AT}: Port module event: module \d{{1,3}}, Cable plugged", up=True),
    Word("interface", rf"\b{_AT}:? {_NETDEV}:? (?:\([^)]{{0,40}}\))?:? ?(?:NIC )?Link (?:is )?down\b"),
    Word("interface up", rf"\b{_AT}:? {_NETDEV}:? (?:\([^)]{{0,40}}\))?:? ?(?:NIC )?Link (?:is )?up\b", up=True),
    Word("interface", rf"\bmlx4_en: {_NETDEV}: Link down\b"),
    Word("interface up", rf"\bmlx4_en: {_NETDEV}: Link up\b", up=True),
    Word("ready", rf"\bADDRCONF\(NETDEV_(?:CHANGE|UP)\): {_NETDEV}: link becomes ready", up=True),
)
# What every one of them has, to leave all other lines out.
ANY = r"[Ll]ink|[Cc]able"
