# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes between the hosts: firewall, subnet manager, what pings tell, what differs. Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    JITTER,
    LOSSY,
    PCIE_SLOW,
    RAIL_LOST,
    RESENDS,
    RISK,
    SKEW,
    STOPS,
    UNSTEADY,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look, site
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

_SWEEP = ("ib.port.state~^Initializ", "ib.port.lid", "ib.port.sm", "fabric.link.state")
_HUNG = "nccl.log.errors~wc_status_(12|5)(_|\\b)|port_event"
_SM = ("sminfo",)
_START = "start the subnet manager: opensm on its host, or the switch's own"

ROWS = (
    Row(
        "net.firewall",
        "a firewall stops TCP between the nodes: ranks cannot meet",
        STOPS,
        ("fabric.tcp.*",),
        look(
            *("nft", "list", "ruleset"),
            hands="let the nodes' own network through, rendezvous port and the range "
            "of net.ipv4.ip_local_port_range alike",
        ),
        far=("nccl.log.errors~connect_failed|remote_closed|socket",),
        fleet=True,
        source="NCCL user guide: bootstrap and sockets take any free port",
    ),
    Row(
        "sm.conflict",
        "two subnet managers, or a split fabric",
        UNSTEADY,
        (
            "fabric.sm.answers~another subnet manager|not the master any more",
            *("fleet.sm.single", "fleet.port.lid_unique"),
        ),
        look(*_SM, hands="leave one master subnet manager, or mend the split between switches"),
        rail=("fabric.ping.*", _HUNG),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fabric.loss",
        "the way to a host loses packets",
        LOSSY,
        ("fabric.ping.loss", "fabric.ping.retried"),
        look(
            *("perfquery", "-x", "-C", "{device}", "-P", "{port}"),
            otherwise=("ibqueryerrors",),
            hands="find the sick link by its counters (ibqueryerrors), swap its cable",
        ),
        same=("fabric.sm.answers", "fleet.ping.rtt"),
        here=("fleet.sm.single", "fleet.port.lid_unique"),
        rail=("fleet.ping.rtt", _HUNG),
        loss=0.6,
        confidence=LIKELY,
    ),
    Row(
        "fabric.unreachable",
        "a host is not reached on a rail",
        STOPS,
        ("fabric.ping.reachable", "fabric.ping.recorded"),
        look(
            *("ibnetdiscover", "-p"),
            hands="trace the way with ibtracert from the other host's LID to this one's",
        ),
        rail=(_HUNG, "fleet.ping.rtt"),
        confidence=LIKELY,
    ),
    Row(
        "sm.dead",
        "no master subnet manager answers",
        UNSTEADY,
        ("fabric.sm.*",),
        look(*_SM, hands=_START),
        here=(*_SWEEP, "fleet.sm.single", "fleet.port.lid_unique", "fabric.ping.*"),
        far=(_HUNG,),
        fleet=True,
        loss=0.2,
    ),
    Row(
        "sm.not_swept",
        "no subnet manager has set up a port: it carries nothing",
        RAIL_LOST,
        _SWEEP,
        look(*_SM, hands=f"{_START}; let it sweep (kill -HUP of opensm)"),
        here=("fleet.sm.single", "fleet.port.lid_unique", "fabric.sm.*"),
        rail=("fabric.ping.*", "nccl.log.hcas~: [1-9]", _HUNG),
        whole=("nccl.log.network", "nccl.log.hcas"),
        share=True,
        confidence=LIKELY,
    ),
    Row(
        "fabric.congestion",
        "the fabric throws packets away: somebody does not take them",
        RESENDS,
        ("fabric.link.discards",),
        look("ibqueryerrors", hands="look for slow links and hanging hosts behind the named port"),
        confidence=POSSIBLE,
    ),
    Row(
        "stack.drift",
        "a host has not what its plan says",
        SKEW,
        ("stack.lock.match",),
        site(reboot=True),
        here=("fleet.*.version", "fleet.host.kernel"),
        fleet=True,
        loss=0.11,
    ),
    Row(
        "fleet.driver",
        "a host runs another NVIDIA driver than the fleet",
        SKEW,
        ("fleet.driver.version",),
        site(
            *("nvidia_driver_packages", "nvidia_driver_modules", "nvidia_driver_services"),
            reboot=True,
        ),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fleet.rdma",
        "a host has another RDMA stack than the fleet",
        SKEW,
        ("fleet.rdma.version",),
        site("rdma_packages", "rdma_modules", reboot=True),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fleet.nccl",
        "a host has another NCCL than the fleet",
        SKEW,
        ("fleet.nccl.version",),
        site("nccl_packages"),
        far=("nccl.log.version", "nccl.log.errors~version_mismatch"),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fleet.kernel",
        "a host runs another kernel than the fleet",
        SKEW,
        ("fleet.host.kernel",),
        site(reboot=True, note="a kernel that is not installed yet has to be installed first"),
        fleet=True,
        loss=0.06,
        confidence=LIKELY,
    ),
    Row(
        "fleet.slot",
        "a host's PCIe links are not those of its equals",
        PCIE_SLOW,
        ("fleet.pci.link",),
        look("lspci", "-tv", hands="compare the slot with an equal host's; reseat the card"),
        loss=0.3,
        confidence=LIKELY,
    ),
    Row(
        "straggler.round_trip",
        "a host answers later than all others",
        JITTER,
        ("fleet.ping.rtt",),
        look(
            *("perfquery", "-x", "-C", "{device}", "-P", "{port}"),
            otherwise=("perfquery", "-x"),
            hands="look for what keeps its CPUs busy or asleep, and at the counters of its links",
        ),
        confidence=POSSIBLE,
    ),
    Row(
        "stack.old_lock",
        "the lock was made with another compatibility matrix",
        RISK,
        ("stack.lock.matrix",),
        look("uname", "-r", hands="see what would change: playbooks/plan.yml -e stack_relock=true"),
        fleet=True,
    ),
)
