# SPDX-License-Identifier: GPL-3.0-or-later
"""InfiniBand port counters: how fast each may rise on a sound link. Data only.

A counter's value says nothing by itself: it holds everything since it was last cleared. What counts
is how much it rises between two looks. ``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass

_SPEC = "InfiniBand architecture specification 1, PortCounters; one bit error in 1e12 bits"
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
_LEAVE = "leave the cable of this port as it is; "
_ON_THE_WAY = (
    f"{_LEAVE}find the bad link on the way by its own counters (`ibqueryerrors`, or those of the switch ports)"
)
_PKEYS = (
    f"{_LEAVE}compare `cat /sys/class/infiniband/DEVICE/ports/1/pkeys/*` of both ends with partitions.conf of opensm, "
    "and NCCL_IB_PKEY of the jobs"
)

# Its rise is a check of its own (ib.port.flaps).
LINK_DOWNED = "link_downed"
# Source of storm_per_s: NVIDIA's NVSentinel, NIC health monitor: symbol errors and received errors above
# 10 a second, recoveries above 5 a minute, discards above 100 a second, any integrity error or overrun
# (confirmed). It has ACK timeouts above 1 a second; a job that crashes leaves its peers some hundreds
# at once, so that ten times as many are asked for here (recalled).
# The pause between the two looks, in seconds.
PAUSE_S = 5.0
MOST_PAUSE_S = 600.0

COUNTERS = (
    Counter(
        "symbol_error",
        "bit errors on the link: a dirty or damaged cable, or a dying transceiver",
        120.0,
        3,
        16,
        ("SymbolErrorCounter", "SymbolErrors"),
        source=_SPEC,
        confidence="medium",
        storm_per_s=10.0,
        damage=True,
    ),
    Counter(
        "link_error_recovery",
        "the link had to recover: the signal is close to failing",
        0.0,
        1,
        8,
        ("LinkErrorRecoveryCounter", "LinkRecovers"),
        source=_SPEC,
        confidence="medium",
        storm_per_s=5 / 60,
    ),
    Counter(
        LINK_DOWNED,
        "the link went down and came back",
        0.0,
        1,
        8,
        ("LinkDownedCounter", "LinkDowned"),
        source=_SPEC,
        confidence="medium",
    ),
    Counter(
        "port_rcv_errors",
        "damaged packets arrive: the cable, or the transceiver at either end",
        10.0,
        2,
        16,
        ("PortRcvErrors", "RcvErrors"),
        source=_SPEC,
        confidence="medium",
        storm_per_s=10.0,
        damage=True,
    ),
    Counter(
        "port_rcv_remote_physical_errors",
        "packets arrive that were damaged further away: another link on the way is bad",
        100.0,
        10,
        16,
        ("PortRcvRemotePhysicalErrors", "RcvRemotePhysErrors"),
        storm_per_s=100.0,
        remedy=_ON_THE_WAY,
    ),
    Counter(
        "port_xmit_discards",
        "packets are thrown away before they leave: the other end takes none in time",
        100.0,
        10,
        16,
        ("PortXmitDiscards", "XmtDiscards"),
        storm_per_s=100.0,
        remedy=f"{_LEAVE}look for a slow link, a hanging host or congestion behind the other end (`ibqueryerrors`)",
    ),
    Counter(
        "port_xmit_constraint_errors",
        "packets may not leave: the P_Key of the sender is not the port's",
        10.0,
        2,
        8,
        ("PortXmitConstraintErrors", "XmtConstraintErrors"),
        storm_per_s=10.0,
        remedy=_PKEYS,
    ),
    Counter(
        "port_rcv_constraint_errors",
        "packets of another partition arrive: a P_Key is wrong somewhere",
        10.0,
        2,
        8,
        ("PortRcvConstraintErrors", "RcvConstraintErrors"),
        storm_per_s=10.0,
        remedy=_PKEYS,
    ),
    Counter(
        "local_link_integrity_errors",
        "the link drops more symbols than it may: the cable or the transceiver",
        0.0,
        1,
        4,
        ("LocalLinkIntegrityErrors", "LinkIntegrityErrors"),
        source=_SPEC,
        confidence="medium",
        storm_per_s=0.0,
    ),
    Counter(
        "excessive_buffer_overrun_errors",
        "buffers overrun: the other end ignores flow control",
        0.0,
        1,
        4,
        ("ExcessiveBufferOverrunErrors", "ExcBufOverrunErrors"),
        source=_SPEC,
        confidence="medium",
        storm_per_s=0.0,
        remedy=f"{_LEAVE}compare the firmware of both ends, and reset the port of the other end on a drained host",
    ),
    Counter(
        "VL15_dropped",
        "management packets are lost: the subnet manager may lose the port",
        100.0,
        10,
        16,
        ("VL15Dropped",),
        remedy=f"{_LEAVE}read the subnet manager's log, and see who asks this port so much (monitoring)",
    ),
    Counter(
        "rx_icrc_encapsulated",
        "packets with a broken checksum arrive: a defect between the two hosts",
        0.0,
        1,
        hw=True,
        storm_per_s=10.0,
        remedy=_ON_THE_WAY,
    ),
    Counter(
        "local_ack_timeout_err",
        "answers stay out until the HCA sends again: packets get lost on the way",
        100.0,
        10,
        hw=True,
        storm_per_s=10.0,
        remedy=_ON_THE_WAY,
    ),
)

# By what perfquery and ibqueryerrors call them.
QUERIED = {name: counter for counter in COUNTERS for name in counter.names}

# What mlxlink shows: errors left after correction, and errors before it.
RESIDUAL_BER = 1e-12
RESIDUAL_SOURCE = "InfiniBand specification: less than one bit error in 1e12 (confirmed)"
RAW_BER = 1e-5
RAW_SOURCE = "field practice: links lose packets from about here on (recalled)"
