# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for a RoCE rail and the switch port that it hangs on (roce.switch.*).

The controller judges them, by what hosts told and by texts of switches that the site hands in: docs/lossless.md.
"""

from __future__ import annotations

from .._ground.catalog import declare, error, warning

_BOTH = "Both lines are shown: what the switch says, and what the host does. "
_SET = "on the switch or on the host, whichever is not as the site wants it (roce_pfc, roce_tos, roce_trust, roce_mtu)"

ENTRIES = declare(
    error(
        "roce.switch.neighbour",
        "It is known on which switch port the rail hangs, and what that port does",
        "By LLDP as the host hears it, by the site's plan (ibready_switch_cabling), or by the switch's own word. Where "
        "both LLDP and a plan tell, they have to agree. The other roce.switch checks begin here.",
        ("the cable is plugged elsewhere, or the plan is older than the cable",),
        "install lldpd on the hosts or hand in a plan, and the texts of every switch: docs/lossless.md",
    ),
    error(
        "roce.switch.pfc",
        "Rail and switch port pause the same priorities",
        f"{_BOTH}A priority that one end alone pauses loses packets in one direction, under load and without a word.",
        ("flow control was set at one end only, or for another priority",),
        f"set flow control for the priorities of RoCE {_SET}",
    ),
    error(
        "roce.switch.trust",
        "The switch port sorts packets by what the rail marks them with",
        f"{_BOTH}A port that does not look at the DSCP puts RoCE v2 without a VLAN tag into its default class.",
        ("the port trusts the VLAN priority alone, or nothing",),
        f"let the port trust the DSCP: {_SET}",
    ),
    error(
        "roce.switch.dscp",
        "The mark of RoCE leads into the same lossless priority at both ends",
        f"{_BOTH}On the switch the DSCP is followed to the priority that is paused for it (SONiC: by traffic class and "
        "priority group).",
        ("the switch maps the DSCP of RoCE to another priority", "the host marks RoCE with another DSCP"),
        f"map the DSCP of RoCE to its priority {_SET}",
    ),
    warning(
        "roce.switch.ecn",
        "The switch queue that carries RoCE marks congestion (ECN)",
        "RoCE traffic says that it understands ECN; a queue that marks nothing leaves flow control alone to hold "
        "senders back, and pauses spread through the fabric.",
        ("no ECN profile is bound to the queue, or one that marks nothing",),
        "bind an ECN profile to the queue that is named, on every switch port on the way",
    ),
    error(
        "roce.switch.mtu",
        "The switch port carries packets as large as the rail sends",
        f"{_BOTH}Both count the bytes behind the Ethernet header. Larger packets are dropped at the port.",
        ("the switch port was left at its default MTU",),
        "raise the MTU of the switch port to at least that of the hosts' interfaces",
    ),
    warning(
        "roce.switch.cnp",
        "Packets that tell senders to slow down pass the traffic that they are about",
        "CNPs have a mark of their own. In the queue of RoCE, or in a priority that is paused, they wait behind the "
        "very packets that they should hold back.",
        (
            "the mark of CNPs leads into the queue of RoCE",
            "the host sends CNPs with another mark than the switch knows",
        ),
        "map the DSCP of CNPs (/sys/class/net/IF/ecn/roce_np/cnp_dscp) to a queue with strict priority",
    ),
    warning(
        "roce.switch.watchdog",
        "The switch ends pauses that do not end by themselves (PFC watchdog)",
        "A port that stands paused for good, by a host that hangs, stops what is behind it, and so the whole fabric.",
        ("the watchdog is not switched on for this port, or not for every priority with flow control",),
        "switch on the PFC watchdog for the port and its lossless priorities",
    ),
    warning(
        "roce.switch.alike",
        "The switch treats RoCE as the other switches of the fleet do",
        "Compared are the ports that hosts hang on, between switches that run the same system: flow control, trust, "
        "where the mark of RoCE leads, ECN and MTU. Packets cross several of them.",
        ("one switch was set up by hand, or missed a change",),
        "give the switch the settings of the others",
    ),
)
