# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job's log shows, where nothing that was found on the hosts explains it. Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    NO_GDR,
    RAIL_LOST,
    STOPS,
    TCP,
    UNSTEADY,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

_SOURCE = "docs/nccl-logs.md"
# What follows from TCP: no RDMA device is listed, and what ends the job is a socket's error.
_OVER_TCP = (
    *("nccl.log.gdr", "nccl.log.hcas", "nccl.log.mixed"),
    "nccl.log.errors~^(socket_|connect_failed|remote_closed)",
)
_NONE_UP = "nccl.log.network~^none came up"
_DMESG = ("dmesg", "--level=emerg,alert,crit,err,warn", "--ctime")


_CONF = ("grep", "-n", "NCCL_", "/etc/nccl.conf")

ROWS = (
    Row(
        "job.version",
        "the job's ranks load different releases of NCCL",
        STOPS,
        ("nccl.log.version", "nccl.log.errors~^version_mismatch"),
        look("ldconfig", "-p", hands="one NCCL in every environment; LD_DEBUG=libs shows it"),
        far=(_NONE_UP,),
        fleet=True,
        source=_SOURCE,
    ),
    Row(
        "job.interface",
        "the job's ranks meet on an interface that does not lead to the other hosts",
        STOPS,
        (
            "nccl.log.bootstrap",
            "nccl.log.errors~^(ifname_not_found|socket_family|comm_id_not_local)",
        ),
        look(
            *("ip", "-brief", "address"),
            hands="NCCL_SOCKET_IFNAME with the interface's name (`=eth0`)",
        ),
        far=("nccl.log.errors~^(connect_failed|remote_closed)", _NONE_UP),
        fleet=True,
        source=_SOURCE,
    ),
    Row(
        "job.mixed",
        "the job mixes InfiniBand and RoCE ports",
        STOPS,
        ("nccl.log.mixed", "nccl.log.errors~^mixed_link_layer"),
        look(*_CONF, hands="NCCL_IB_HCA with `=` and the list of rails, on every host"),
        far=("nccl.log.errors", "nccl.log.hcas", "nccl.log.network~; other than "),
        fleet=True,
        source=_SOURCE,
    ),
    Row(
        "job.rdma_off",
        "the job itself switched RDMA off",
        TCP,
        ("nccl.log.network~switched off by a setting",),
        look(*_CONF, hands="drop NCCL_IB_DISABLE from the job's environment and from nccl.conf"),
        far=_OVER_TCP,
        fleet=True,
        source=_SOURCE,
    ),
    Row(
        "job.no_library",
        "the job found no libibverbs where it ran (in its container)",
        TCP,
        ("nccl.log.network~verbs library is missing",),
        look("ldconfig", "-p", hands="install rdma-core in the job's container image"),
        far=_OVER_TCP,
        fleet=True,
        source=_SOURCE,
    ),
    Row(
        "job.no_device",
        "the job saw no RDMA device where it ran (in its container)",
        TCP,
        ("nccl.log.network~no RDMA port is left",),
        look(
            *("ls", "-l", "/dev/infiniband"),
            hands="give the container /dev/infiniband (--device, CDI), or correct NCCL_IB_HCA",
        ),
        far=_OVER_TCP,
        fleet=True,
        confidence=LIKELY,
        source=_SOURCE,
    ),
    Row(
        "job.memlock",
        "the job may not lock the memory that RDMA needs (in its container)",
        STOPS,
        ("nccl.log.errors~^(create_(cq|qp)_failed|reg_mr_failed)",),
        look(
            *("grep", "locked", "/proc/1/limits"),
            hands="memlock unlimited where the job runs: --ulimit memlock=-1 for a container, the "
            "unit's LimitMEMLOCK else",
        ),
        far=(_NONE_UP,),
        fleet=True,
        confidence=LIKELY,
        source=_SOURCE,
    ),
    Row(
        "job.gpu_memory",
        "an HCA was kept from GPU memory in the middle of the job",
        STOPS,
        ("nccl.log.errors~^wc_status_4(_|\\b)",),
        look(
            *("lspci", "-vvv"),
            hands="look for ACSCtl with SrcValid+ and for the IOMMU; load nvidia_peermem anew",
        ),
        far=(_NONE_UP,),
        fleet=True,
        confidence=LIKELY,
        source=_SOURCE,
    ),
    Row(
        "job.peer_silent",
        "the other end of a rail did not answer the job",
        STOPS,
        ("nccl.log.errors~^wc_status_(12|5)(_|\\b)",),
        look(
            *("ibqueryerrors",),
            hands="look for the link between the two named ends; for RoCE at GID index, MTU, VLAN",
        ),
        far=(_NONE_UP,),
        fleet=True,
        confidence=LIKELY,
        source=_SOURCE,
    ),
    Row(
        "job.roce_connect",
        "a RoCE connection of the job did not come about",
        STOPS,
        ("nccl.log.errors~^modify_qp",),
        look(
            *("ip", "-brief", "address"),
            hands="look at addresses and routes of the rails, GID index, NCCL_CROSS_NIC=0",
        ),
        far=(_NONE_UP,),
        fleet=True,
        confidence=LIKELY,
        source=_SOURCE,
    ),
    Row(
        "job.error",
        "the job's log holds a failure that nothing found on the hosts explains",
        STOPS,
        ("nccl.log.errors",),
        look(
            *_DMESG,
            hands="do what the log's own remedy says; get the logs of all ranks (NCCL_DEBUG=INFO)",
        ),
        far=(_NONE_UP,),
        fleet=True,
        loss=0.95,
        confidence=POSSIBLE,
        source=_SOURCE,
    ),
    Row(
        "job.other_link",
        "the job used ports of another link type than the rails'",
        UNSTEADY,
        ("nccl.log.network~; other than ",),
        look(*_CONF, hands="NCCL_IB_HCA with `=` and the list of rails, on every host"),
        far=("nccl.log.hcas", "nccl.log.gdr"),
        fleet=True,
        source=_SOURCE,
    ),
    Row(
        "job.tcp",
        "the job used TCP",
        TCP,
        ("nccl.log.network",),
        look("ibv_devinfo", hands="run ibv_devinfo where the job runs; look at NCCL_IB_HCA"),
        far=_OVER_TCP[:3],
        fleet=True,
        confidence=POSSIBLE,
        source=_SOURCE,
    ),
    Row(
        "job.no_gdr",
        "the job copied through host memory, and nothing found on the hosts explains it",
        NO_GDR,
        ("nccl.log.gdr",),
        look(
            *("nvidia-smi", "topo", "-m"),
            hands="let NCCL pick the HCA beside each GPU; drop NCCL_NET_GDR_LEVEL",
        ),
        fleet=True,
        confidence=POSSIBLE,
        source=_SOURCE,
    ),
    Row(
        "job.rails",
        "the job did not use all rails",
        RAIL_LOST,
        ("nccl.log.hcas",),
        look(*_CONF, hands="correct NCCL_IB_HCA, or start the job anew where a port was down"),
        fleet=True,
        ratio=True,
        confidence=LIKELY,
        source=_SOURCE,
    ),
)
