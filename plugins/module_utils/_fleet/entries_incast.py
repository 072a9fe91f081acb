# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for what counters say to an incast (roce.incast.*): docs/lossless.md."""

from __future__ import annotations

from .._ground.catalog import declare, error, warning

_BY = "Judged by playbooks/rdma.yml with ibready_incast, where several hosts write to one port at once. "

ENTRIES = declare(
    error(
        "roce.incast.load",
        "The receiving port was full, and the senders had to be held back",
        f"{_BY}Bytes by RDMA are read every second. Without a full port, and without a pause, a mark or a CNP, there "
        "was nothing that a lossless class could prove, and the other checks of it do not pass.",
        ("senders, or the receiver, are slower than the port", "the senders did not send at the same time"),
        "look at fabric.rdma.bandwidth and pci.* of these hosts; name other receivers (ibready_incast_receivers), more "
        "senders (ibready_incast_senders), or a longer time (ibready_incast_seconds)",
    ),
    error(
        "roce.incast.loss",
        "An incast loses nothing",
        f"{_BY}Every counter of loss of both ends is read before and after. What counts RoCE alone may not rise at "
        "all. Adaptive routing without an HCA that puts packets in order again shows as out_of_sequence, too.",
        (
            "a switch on the way has no flow control in the class, or too small a headroom for it",
            "a PFC watchdog drops what is paused for long",
            "a cable or transceiver is bad",
        ),
        "fix roce.incast.pfc, roce.incast.priority and roce.switch.* first; then compare drops by queue on each "
        "switch port on the way with the time of this run",
    ),
    error(
        "roce.incast.pfc",
        "The switch pauses a sender before packets are lost",
        f"{_BY}Pauses that come in are counted by priority. Where congestion control alone held a sender back, no "
        "pause was needed, and none is proved.",
        ("flow control is not on for the class of RoCE, at the switch or at the HCA",),
        "compare `mlnx_qos -i IF` with the switch port of the named host; set flow control for the priorities of "
        "roce_pfc at both (docs/lossless.md), and hand in the switches' texts (ibready_switch_texts)",
    ),
    error(
        "roce.incast.priority",
        "RoCE goes, comes and is paused in a priority with flow control",
        f"{_BY}Bytes and pauses are counted by priority.",
        (
            "the DSCP of RoCE leads into another priority at this host",
            "trust is off, so that the DSCP is not looked at",
        ),
        "compare `mlnx_qos -i IF` (trust, DSCP) with the switch's map of DSCPs, and with NCCL_IB_TC or roce_tos",
    ),
    warning(
        "roce.incast.ecn",
        "Congestion is marked, and the receiver tells the senders",
        f"{_BY}Senders that hear of congestion late, or never, are held back by pauses alone, which spread.",
        ("no ECN profile is bound to the switch's queue of RoCE", "congestion control is off at the receiver"),
        "bind an ECN profile to the queue of RoCE on each switch port on the way, below the level at which it pauses; "
        "`echo 1 > /sys/class/net/IF/ecn/roce_np/enable/3` at the receiver",
    ),
    warning(
        "roce.incast.cnp",
        "A sender that is told to slow down does so",
        f"{_BY}CNPs that a sender handles or ignores are counted, beside those that the receiver sent.",
        ("congestion control is off at the sender", "CNPs are lost or late on the way"),
        "`echo 1 > /sys/class/net/IF/ecn/roce_rp/enable/3` at the sender; give the DSCP of CNPs a queue with strict "
        "priority on each switch port on the way",
    ),
)
