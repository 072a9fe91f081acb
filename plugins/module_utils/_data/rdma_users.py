# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps an RDMA stack from being unloaded, and what to do about it (rdma_users.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import rdma_users as rows


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


HOLDERS: tuple[PortOwner, ...] = load(PortOwner, rows.HOLDERS)

# File systems that go over RDMA by themselves, and those that do with an option.
FILE_SYSTEMS = {
    "lustre": "Lustre",
    "beegfs": "BeeGFS",
    "gpfs": "Storage Scale (GPFS)",
    "wekafs": "WEKA",
    "fuse.glusterfs": "GlusterFS",
}
RDMA_OPTIONS = {"nfs": "proto=rdma", "nfs4": "proto=rdma", "cifs": "rdma", "smb3": "rdma"}
