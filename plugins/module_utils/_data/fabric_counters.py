# SPDX-License-Identifier: GPL-3.0-or-later
"""Error counters of InfiniBand ports, as ibqueryerrors names them. Data only.

They count since somebody last cleared them, so a small number says little: ``above`` is what a
port may show without being named. Source of the numbers: the thresholds that infiniband-diags
proposes in its error_thresholds file (confirmed); of the widths: PortCounters of the InfiniBand
architecture specification, volume 1 (confirmed).
"""

from __future__ import annotations

from dataclasses import dataclass

SYMBOL_ERRORS = "fabric.link.symbol_errors"
DROPS = "fabric.link.drops"
RECEIVE_ERRORS = "fabric.link.receive_errors"
DISCARDS = "fabric.link.discards"


@dataclass(frozen=True)
class Counter:
    """``check``: the id that judges it, "" where a high number is no fault; ``bits``: its width."""

    check: str
    above: int
    bits: int
    means: str


COUNTERS = {
    "SymbolErrorCounter": Counter(
        SYMBOL_ERRORS, 10, 16, "bits arrive wrong: a dirty, bent or failing cable or transceiver"
    ),
    "LinkErrorRecoveryCounter": Counter(DROPS, 10, 8, "the link had to train again while it was in use"),
    "LinkDownedCounter": Counter(DROPS, 10, 8, "the link went down: a loose cable, a dying transceiver, or restarts"),
    "PortRcvErrors": Counter(RECEIVE_ERRORS, 10, 16, "packets arrived damaged: cable, transceiver or the port itself"),
    "PortRcvRemotePhysicalErrors": Counter(
        RECEIVE_ERRORS, 100, 16, "a link further away damaged them; look there, not at this port"
    ),
    "LocalLinkIntegrityErrors": Counter(
        RECEIVE_ERRORS, 10, 4, "so many errors at once that the link counted as unreliable"
    ),
    "ExcessiveBufferOverrunErrors": Counter(
        RECEIVE_ERRORS, 10, 4, "the other end sent more than it had credits for: faulty hardware"
    ),
    "PortXmitDiscards": Counter(
        DISCARDS, 100, 16, "packets waited too long and were thrown away: congestion or a dead end"
    ),
    "PortXmitConstraintErrors": Counter(DISCARDS, 100, 8, "partition or raw-packet rules forbade sending them"),
    "PortRcvConstraintErrors": Counter(DISCARDS, 100, 8, "partition or raw-packet rules forbade taking them"),
    "VL15Dropped": Counter(DISCARDS, 100, 16, "management packets came faster than the port could take them"),
    # A switch drops what it would have to send back to where it came from: multicast does that.
    "PortRcvSwitchRelayErrors": Counter("", 0, 16, "no fault by itself"),
    # Ticks in which a packet waited for credits: what a busy fabric does.
    "PortXmitWait": Counter("", 0, 32, "no fault by itself"),
}
# What damaged bits and packets are counted by: where both are full, new damage stays unseen.
DAMAGE = ("SymbolErrorCounter", "PortRcvErrors")
CHECKS = (SYMBOL_ERRORS, DROPS, RECEIVE_ERRORS, DISCARDS)

# ibping asks a management agent and has its answer within a fraction of a millisecond; what took
# longer than this was lost and asked for again. Runs of the field: below 1 ms, or about 900 ms
# (confirmed).
PING_RETRIED_ABOVE_MS = 100.0
