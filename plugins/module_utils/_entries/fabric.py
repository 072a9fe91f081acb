# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the fabric between the hosts (fabric.*)."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._entries._entry import Entry

ENTRIES = (
    Entry(
        "fabric.sm.answers",
        "error",
        "The subnet manager answers from this port",
        "A fabric without a living master keeps its routes until the first link changes.",
        ("the subnet manager has stopped, or its host is cut off",),
        "start opensm (or the switch's subnet manager) and check `sminfo` from this host",
    ),
    Entry(
        "fabric.ping.tested",
        "error",
        "Every pair of this port was tested",
        "A pair that nobody tested says nothing about the fabric.",
        ("the port or the host could not take part",),
        "mend what keeps the port or host from taking part, then verify again",
    ),
    Entry(
        "fabric.ping.reachable",
        "error",
        "Other hosts answer over this rail",
        "ibping over management datagrams; it ends with status 0 even if nobody answers.",
        ("no route between the two ports, or the peer's server did not come up",),
        "trace the path with `ibtracert SRC-LID DST-LID` and look for the dead hop",
    ),
    Entry(
        "fabric.ping.loss",
        "error",
        "No ping is lost over this rail",
        "An InfiniBand fabric does not drop packets; loss means a sick link.",
        ("a sick cable, transceiver or switch port on the way to this host",),
        "read the error counters with `ibqueryerrors`; swap the cable of the named port",
    ),
)
