# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes that show only when data is moved over RDMA (playbooks/tasks/rdma.yml). Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    JITTER,
    RAIL_LOST,
    RAIL_SLOW,
    RISK,
    STOPS,
    TCP,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

_HUNG = "nccl.log.errors~wc_status_(12|5)(_|\\b)|port_event"
_REST = ("fabric.rdma.cm", "fabric.rdma.bandwidth", "fabric.rdma.latency", "container.rdma.*")

ROWS = (
    Row(
        "rdma.damaged",
        "data arrives damaged over RDMA",
        STOPS,
        ("fabric.rdma.verbs~is not what was sent", "container.rdma.verbs~is not what was sent"),
        look("dmesg", hands="take the host out of service; try it with a third one"),
        rail=_REST,
        confidence=LIKELY,
    ),
    Row(
        "rdma.gid",
        "a rail's GID index leads nowhere: jobs that use it reach nobody",
        RAIL_LOST,
        ("fabric.rdma.verbs~GID|versions of RoCE",),
        look("rdma", "link", hands="correct roce_gid_index, or the order of the addresses"),
        rail=(*_REST, _HUNG),
        confidence=LIKELY,
    ),
    Row(
        "rdma.blocked",
        "RoCE packets do not come through: UDP 4791 is blocked",
        RAIL_LOST,
        ("fabric.rdma.verbs~UDP 4791",),
        look("nft", "list", "ruleset", hands="let UDP 4791 in and out for the nodes' addresses"),
        rail=(*_REST, _HUNG),
        confidence=LIKELY,
    ),
    Row(
        "rdma.mtu",
        "the ends of a rail, or the way between them, carry packets of different sizes",
        RAIL_SLOW,
        ("fabric.rdma.mtu", "fabric.rdma.verbs~smaller MTU"),
        look("ip", "link", "show", hands="one MTU for all rails' interfaces, and for the switches"),
        rail=(*_REST, "fabric.rdma.verbs", _HUNG),
        confidence=LIKELY,
    ),
    Row(
        "rdma.lost",
        "data does not arrive over RDMA",
        RAIL_LOST,
        ("fabric.rdma.verbs",),
        look("rdma", "link", hands="do what the finding says, then try ibv_rc_pingpong by hand"),
        rail=(*_REST, _HUNG),
        confidence=LIKELY,
    ),
    Row(
        "rdma.container",
        "data arrives between hosts, and not between their containers",
        TCP,
        ("container.rdma.verbs",),
        look("ls", "-l", "/dev/infiniband", hands="see container.* of the same host"),
        here=("container.rdma.*",),
        confidence=LIKELY,
    ),
    Row(
        "rdma.cm",
        "connections by the RDMA connection manager carry nothing",
        RISK,
        ("fabric.rdma.cm", "container.rdma.cm"),
        look("ls", "-l", "/dev/infiniband", hands="load rdma_ucm; give containers rdma_cm"),
        confidence=POSSIBLE,
    ),
    Row(
        "rdma.slow",
        "a rail is slower than its link when data is moved over it",
        RAIL_SLOW,
        ("fabric.rdma.bandwidth", "container.rdma.bandwidth"),
        look("ibstat", hands="measure longer with playbooks/bench.yml while no job runs"),
        ratio=True,
        confidence=POSSIBLE,
    ),
    Row(
        "rdma.late",
        "small messages take too long over RDMA",
        JITTER,
        ("fabric.rdma.latency", "container.rdma.latency"),
        look("cpupower", "frequency-info", hands="look for what keeps its CPUs busy or asleep"),
        confidence=POSSIBLE,
    ),
)
