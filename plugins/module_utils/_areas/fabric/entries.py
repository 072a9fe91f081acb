# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the fabric between the hosts (fabric.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning
from ..ib.entries_sm import SM_ANSWERS, START_ONE

ENTRIES = declare(
    SM_ANSWERS,
    error(
        "fabric.ping.tested",
        "Every pair of this port that was planned was tested",
        "An untested pair says nothing about the fabric. With more than 32 hosts a sample is "
        "planned, and the finding says so: docs/reachability.md explains what that proves.",
        ("the port or the host could not take part",),
        "fix what keeps the port or host from taking part, then verify again",
    ),
    error(
        "fabric.ping.reachable",
        "Other hosts answer over this rail",
        "ibping over management datagrams; it ends with status 0 even without an answer.",
        ("no route between the two ports, or the peer's server did not come up",),
        "trace the path with `ibtracert SRC-LID DST-LID` and look for the dead hop",
    ),
    error(
        "fabric.ping.loss",
        "No ping is lost over this rail",
        "An InfiniBand fabric does not drop packets; loss means a sick link.",
        ("a sick cable, transceiver or switch port on the way to this host",),
        "read the error counters with `ibqueryerrors`; swap the cable of the named port",
    ),
    error(
        "fabric.tcp.rendezvous",
        "Other hosts connect to the port that jobs meet at",
        "Every rank of a job connects by TCP to the rendezvous port of the first host (torch: "
        "29500) before anything else; a firewall in between lets the job hang at its start. "
        "A listener of ours answers there, and says whose it is.",
        (
            "a firewall on the host drops new connections: whoever connects waits, and times out",
            "a firewall rejects them: refused, or unreachable where it says so by ICMP (firewalld's zones)",
            "the address of the host leads to another machine (the message says who answered)",
        ),
        "on the host, see `nft list ruleset` (or `iptables -S`, `firewall-cmd --list-all`), and "
        "let the port in from all nodes",
    ),
    error(
        "fabric.tcp.range",
        "Other hosts connect to the ports that NCCL takes",
        "NCCL's bootstrap and its socket transport listen on ports that the kernel chooses from "
        "net.ipv4.ip_local_port_range. A few of them, spread over the range, stand for all.",
        (
            "a firewall on the host lets only known ports in",
            "a firewall between the hosts lets only a part of the range through",
        ),
        "on the host, see `nft list ruleset` (or `iptables -S`, `firewall-cmd --list-all`), and "
        "let the range in from all nodes, or narrow net.ipv4.ip_local_port_range to what is open",
    ),
    error(
        "fabric.tool.answered",
        "The recorded fabric-wide tools could ask",
        "Tools of infiniband-diags need a port that can send management datagrams.",
        ("no HCA with ib_umad loaded is there, or the user may not open /dev/infiniband/umad*",),
        "run the tool as root on a host with an Active port; `modprobe ib_umad`, then `ibstat`",
        ("ibhosts|iblinkinfo|ibnetdiscover|ibping|ibqueryerrors|sminfo",),
    ),
    error(
        "fabric.sm.master",
        "A master subnet manager answers",
        "Recorded output of sminfo. Without a master no port gets a LID and no route changes.",
        ("the subnet manager has stopped, or the way to it is cut",),
        START_ONE,
        ("sminfo",),
    ),
    error(
        "fabric.link.state",
        "Every link that is up is Active",
        "Recorded output of iblinkinfo. Initialize: trained, but without LID and routes.",
        ("no subnet manager runs, or it has not swept this port yet",),
        "check the subnet manager with `sminfo` and its log; let it sweep, run `iblinkinfo` again",
        ("iblinkinfo",),
    ),
    warning(
        "fabric.link.training",
        "No link is stuck in training",
        "Recorded output of iblinkinfo. A port that keeps training has something at its other end.",
        ("cable, transceiver or port of this link do not get along",),
        "reseat the cable at both ends, then swap cable and transceiver; reset with `ibportstate`",
        ("iblinkinfo",),
    ),
    warning(
        "fabric.link.width",
        "Every link has as many lanes as both ends can",
        "Recorded output of iblinkinfo, which points out what a link could be.",
        ("a lane is dead: cable, dirt or transceiver",),
        "reseat or clean the cable, then swap it; reset the port with `ibportstate LID PORT reset`",
        ("iblinkinfo",),
    ),
    warning(
        "fabric.link.speed",
        "Every link is as fast as both ends can",
        "Recorded output of iblinkinfo, which points out what a link could be.",
        ("the link trained lower: a cable for a lower speed, dirt, or a speed set by hand",),
        "compare the cable's part number with the speed; `ibportstate LID PORT` shows what is set",
        ("iblinkinfo",),
    ),
    warning(
        "fabric.link.symbol_errors",
        "Few symbol errors on every port",
        "Recorded output of ibqueryerrors. The counter runs since it was last cleared.",
        ("a dirty, bent or failing cable or transceiver",),
        "`ibqueryerrors --clear-errors`, look again an hour later, swap what still counts",
        ("ibqueryerrors",),
    ),
    warning(
        "fabric.link.drops",
        "Few links went down or trained again",
        "Recorded output of ibqueryerrors. Restarts of hosts and switches count as well.",
        ("a loose cable or a dying transceiver", "restarts since the counters were cleared"),
        "`ibqueryerrors --clear-errors`, look again a day later; where it still counts, reseat",
        ("ibqueryerrors",),
    ),
    warning(
        "fabric.link.receive_errors",
        "Few packets arrive damaged",
        "Recorded output of ibqueryerrors. Damaged packets are sent again or end a connection.",
        ("a sick cable or transceiver on this link or, for remote errors, on one before it",),
        "`ibqueryerrors --clear-errors`, look again an hour later, swap what still counts",
        ("ibqueryerrors",),
    ),
    warning(
        "fabric.link.discards",
        "Few packets are thrown away",
        "Recorded output of ibqueryerrors. InfiniBand does not drop packets unless forced to.",
        ("congestion behind a slow or hanging receiver", "partition keys that do not match"),
        "look for slow links (`iblinkinfo`) and hanging hosts behind the named port",
        ("ibqueryerrors",),
    ),
    warning(
        "fabric.counters.saturated",
        "New errors of every port would be seen",
        "A port whose counters of damaged bits and packets are both at their highest value hides all new damage. "
        "A single full counter does not, and degrades nothing.",
        ("the counters were not cleared for a long time",),
        "clear them with `ibqueryerrors --clear-errors` and record again",
        ("ibqueryerrors",),
    ),
    error(
        "fabric.discovery.neighbours",
        "The HCA that asked has a neighbour",
        "Recorded output of ibnetdiscover. A discovery that finds only itself has no link.",
        ("the port is not connected, or its link is down",),
        "look at the port with `ibstat`; reseat the cable; check the switch port",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.discovery.hosts",
        "The discovery found HCAs",
        "Recorded output of ibnetdiscover or ibhosts. Without a single HCA it is not all there. Where hosts name their "
        "HCAs, one that still has its firmware's name is a host that nobody can tell from the list.",
        (
            "the list holds switches only, or is a part of one",
            "a host never told the fabric its name: rdma-ndd did not run there",
        ),
        "run `ibnetdiscover` again without options and record all of its output",
        ("ibnetdiscover|ibhosts",),
    ),
    error(
        "fabric.ping.recorded",
        "The recorded ibping lost nothing",
        "ibping ends with status 0 even without an answer: only its counts show it.",
        ("a sick link on the way", "no ibping server at the other end"),
        "start `ibping -S` at the other end and repeat; trace the path with `ibtracert`",
        ("ibping",),
    ),
    warning(
        "fabric.ping.retried",
        "No answer of the recorded ibping came late",
        "A lost datagram is sent again: the loss stays 0 % and only the slowest answer shows it.",
        ("single datagrams were lost on a sick link or in a busy host",),
        "repeat with `ibping -c 10000 -f`; read the counters on the way with `ibqueryerrors`",
        ("ibping",),
    ),
)
