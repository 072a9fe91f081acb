# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps an RDMA stack from being unloaded, and what to do about it. Data only.

``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PortOwner:
    """A kernel module that uses the RDMA stack: openibd cannot unload the stack under it.

    ``always``: it blocks as soon as it is loaded; otherwise only while something uses it.
    """

    module: str
    what: str
    following: str
    always: bool = False
    source: str = "openibd's own list of modules to unload, MLNX_OFED installation guide"
    confidence: str = "medium"


_STORAGE = "unmount what it serves, or drain the host"
HOLDERS = (
    PortOwner(
        "nvidia_peermem",
        "peer memory of the NVIDIA driver",
        "stop the jobs and `modprobe -r nvidia_peermem`",
        always=True,
        source="open-gpu-kernel-modules nvidia-peermem.c: a client of ib_core",
        confidence="confirmed",
    ),
    PortOwner(
        "nv_peer_mem",
        "peer memory of the old nvidia-peer-memory package",
        "stop the jobs and `systemctl stop nv_peer_mem`",
        always=True,
    ),
    PortOwner("ko2iblnd", "Lustre's network", "unmount Lustre, then `lustre_rmmod`", always=True),
    PortOwner("rpcrdma", "NFS over RDMA", "unmount it, then `modprobe -r rpcrdma`"),
    PortOwner("xprtrdma", "NFS over RDMA", _STORAGE),
    PortOwner("svcrdma", "an NFS server over RDMA", "stop the NFS server"),
    PortOwner("ib_iser", "iSCSI over RDMA (initiator)", "log out of its sessions (iscsiadm)"),
    PortOwner("ib_isert", "iSCSI over RDMA (target)", "stop the target"),
    PortOwner("ib_srp", "SRP storage (initiator)", _STORAGE),
    PortOwner("ib_srpt", "SRP storage (target)", "stop the target"),
    PortOwner("nvme_rdma", "NVMe over RDMA", "`nvme disconnect-all`"),
    PortOwner("nvmet_rdma", "an NVMe target over RDMA", "stop the target"),
    PortOwner("beegfs", "BeeGFS", "stop beegfs-client"),
    PortOwner("mmfslinux", "Storage Scale (GPFS)", "`mmshutdown` on this node"),
    PortOwner("wekafsio", "WEKA", "stop the WEKA client"),
    PortOwner("smc", "SMC-R sockets", "stop what uses AF_SMC"),
    PortOwner("rds_rdma", "RDS sockets", "stop what uses RDS"),
    PortOwner("rnbd_client", "RDMA block devices", _STORAGE),
    PortOwner("cifs", "SMB Direct, if a mount uses it", _STORAGE),
)

# File systems that go over RDMA by themselves, and those that do with an option.
FILE_SYSTEMS = {
    "lustre": "Lustre",
    "beegfs": "BeeGFS",
    "gpfs": "Storage Scale (GPFS)",
    "wekafs": "WEKA",
    "fuse.glusterfs": "GlusterFS",
}
RDMA_OPTIONS = {"nfs": "proto=rdma", "nfs4": "proto=rdma", "cifs": "rdma", "smb3": "rdma"}
