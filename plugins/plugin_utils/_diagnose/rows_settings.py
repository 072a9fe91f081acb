# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes in settings of NCCL: they switch off what the hosts have. Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    MPI,
    NO_GDR,
    NVLINK,
    SKEW,
    STOPS,
    STORAGE,
    TCP,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import (
    look,
    settings,
    site,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

_GUIDE = "NCCL user guide, environment variables; facts read from its releases 2.3 to 2.32"
_CONF = settings("a setting in a job's own environment has to go from there")
_SHOW = ("grep", "-n", "NCCL_", "/etc/nccl.conf")

ROWS = (
    Row(
        "nccl.rdma_off",
        "a setting keeps NCCL from RDMA",
        TCP,
        ("nccl.conf.harm~NCCL_IB_DISABLE|NCCL_NET\\b|NCCL_NET_PLUGIN",),
        _CONF,
        far=("nccl.log.network", "nccl.log.gdr", "nccl.log.hcas", "nccl.log.mixed"),
        here=("nccl.conf.derived", "nccl.conf.doubts"),
        fleet=True,
        source=_GUIDE,
    ),
    Row(
        "nccl.gdr_off",
        "a setting keeps NCCL from GPUDirect RDMA",
        NO_GDR,
        ("nccl.conf.harm~NCCL_NET_GDR|NCCL_DMABUF|NCCL_IB_CUDA",),
        _CONF,
        far=("nccl.log.gdr",),
        here=("nccl.conf.derived", "nccl.conf.doubts", "nccl.gdr.level"),
        fleet=True,
        source=_GUIDE,
    ),
    Row(
        "nccl.p2p_off",
        "a setting keeps NCCL from NVLink and peer access",
        NVLINK,
        (
            "nccl.conf.harm~NCCL_P2P|NCCL_NVLS|NCCL_SHM|NCCL_MNNVL|NCCL_CUMEM",
            "nccl.conf.doubts~NCCL_P2P|NCCL_SHM",
        ),
        look(*_SHOW, hands="take the line out, or put it into nccl_conf_variables if it is needed"),
        here=("nccl.conf.derived",),
        fleet=True,
        source=_GUIDE,
    ),
    Row(
        "nccl.conf_lines",
        "NCCL reads a line of /etc/nccl.conf otherwise than it is written",
        SKEW,
        ("nccl.conf.lines", "nccl.conf.taken"),
        _CONF,
        far=("nccl.log.hcas", "nccl.log.mixed", "nccl.log.bootstrap", "nccl.log.errors~ifname"),
        here=("nccl.conf.derived", "nccl.conf.doubts", "nccl.conf.harm~TIMEOUT|RETRY|GID_INDEX"),
        fleet=True,
        confidence=LIKELY,
        source=_GUIDE,
    ),
    Row(
        "nccl.harm",
        "a setting of NCCL switches off what the host has",
        NO_GDR,
        ("nccl.conf.harm",),
        _CONF,
        far=("nccl.log.network", "nccl.log.gdr", "nccl.log.hcas"),
        here=("nccl.conf.derived", "nccl.conf.doubts"),
        fleet=True,
        loss=0.3,
        confidence=LIKELY,
        source=_GUIDE,
    ),
    Row(
        "nccl.bootstrap",
        "NCCL would meet on an interface that does not lead to the other hosts",
        STOPS,
        ("nccl.bootstrap.address",),
        site(note="or name the interface in NCCL_SOCKET_IFNAME of the job"),
        far=("nccl.log.bootstrap", "nccl.log.errors~ifname|connect_failed|socket"),
        fleet=True,
        confidence=LIKELY,
        source=_GUIDE,
    ),
    Row(
        "nccl.doubts",
        "a setting of NCCL is doubtful",
        SKEW,
        ("nccl.conf.doubts",),
        look(*_SHOW, hands="drop what nobody can give a reason for"),
        fleet=True,
        loss=0.05,
        confidence=POSSIBLE,
        source=_GUIDE,
    ),
    Row(
        "nccl.environment",
        "the environment of every job sets a variable of NCCL",
        SKEW,
        ("nccl.copies.environment",),
        look(
            *("grep", "-rn", "NCCL_", "/etc/environment", "/etc/profile.d", "/etc/systemd/system"),
            hands="take the line out; what is right of it belongs into nccl_conf_variables",
        ),
        fleet=True,
        confidence=POSSIBLE,
        source=_GUIDE,
    ),
    Row(
        "nccl.copies",
        "several NCCL libraries or settings are on the host: programs differ in which they take",
        SKEW,
        ("nccl.copies.*", "nccl.library.version"),
        look("ldconfig", "-p", hands="keep one NCCL; correct LD_LIBRARY_PATH and containers"),
        far=("nccl.log.version", "nccl.log.errors~version_mismatch"),
        fleet=True,
        loss=0.05,
        confidence=POSSIBLE,
        source=_GUIDE,
    ),
)

_MPI = "openmpi-common 5.0.7-1 of Debian 13, open-mpi/ompi issue 8367"
_BEEGFS = "BeeGFS documentation, RDMA support"

# What is no training traffic of NCCL's: it explains nothing, and is explained by the rails' causes.
HOST_PROGRAMS = (
    Row(
        "mpi.pml",
        "Open MPI of the host leaves UCX out, so MPI jobs go over TCP",
        MPI,
        ("stack.mpi.pml",),
        site("mpi_conf", more=("mpi_manage=true",)),
        fleet=True,
        source=_MPI,
    ),
    Row(
        "mpi.ucx_conf",
        "UCX's own file keeps jobs from RDMA, so MPI jobs go over TCP",
        MPI,
        ("stack.mpi.ucx_conf",),
        look("grep", "UCX_", "/etc/ucx/ucx.conf", hands="take out what leaves RDMA out"),
        fleet=True,
        source="UCX documentation, FAQ: UCX_TLS, UCX_NET_DEVICES",
    ),
    Row(
        "mpi.transports",
        "UCX reaches no RDMA device, so MPI jobs go over TCP",
        MPI,
        ("stack.mpi.transports",),
        look("ucx_info", "-d", hands="install UCX's InfiniBand transports; see the rails' ports"),
        fleet=True,
        confidence=LIKELY,
        source=_MPI,
    ),
    Row(
        "beegfs.tcp",
        "the BeeGFS client reads and writes by TCP",
        STORAGE,
        ("stack.beegfs.transport",),
        look("dmesg", hands="look for beegfs in it; build the client's module with RDMA, remount"),
        fleet=True,
        confidence=LIKELY,
        source=_BEEGFS,
    ),
)

# What another cause may have changed: the host is not what its file was written for.
LATE = (
    Row(
        "nccl.conf_derived",
        "/etc/nccl.conf is not what this host needs",
        SKEW,
        ("nccl.conf.derived",),
        _CONF,
        here=("container.nccl.conf~a file of its own",),
        far=("nccl.log.hcas", "nccl.log.mixed", "nccl.log.bootstrap", "nccl.log.errors~ifname"),
        fleet=True,
        loss=0.12,
        confidence=LIKELY,
        source=_GUIDE,
    ),
)
