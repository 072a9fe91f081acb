# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL does where nobody sets a variable, by release, and what its releases cannot do yet.

Data only. Sources: NCCL's source at its release tags from 2.3.5 to 2.30.7, and its user guide;
confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass

GDR_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS")
# The file that NCCL looks for by itself, from this release on.
TOPO_FILE = "/var/run/nvidia-topologyd/virtualTopology.xml"
TOPO_FILE_SINCE = (2, 10, 3)
# A RoCE address is found by version and family (NCCL_IB_ROCE_VERSION_NUM, NCCL_IB_ADDR_FAMILY).
SELECTS_GID = (2, 21, 5)
# NCCL_NET_GDR_LEVEL came with the first, its words with the second, and from the third on GPUs
# that are joined with their processor (C2C) reach every HCA there while it is not set.
GDR_LEVEL_SINCE = (2, 4, 2)
GDR_WORDS_SINCE = (2, 6, 4)
GDR_BY_C2C = (2, 27, 3)
# NCCL_NET_GDR_C2C: switched off in the releases before GDR_BY_C2C.
GDR_C2C_SINCE = (2, 26, 2)


@dataclass(frozen=True)
class Default:
    """From release ``since`` on ``name`` is ``value`` where nobody sets it."""

    name: str
    since: tuple[int, ...]
    value: str


# -1 of NCCL_IB_TC and NCCL_IB_SL: as the communicator is configured. In order of release.
DEFAULTS = (
    Default("NCCL_IB_TC", (0,), "0"),
    Default("NCCL_IB_TC", (2, 26, 2), "-1"),
    Default("NCCL_IB_SL", (0,), "0"),
    Default("NCCL_IB_SL", (2, 26, 2), "-1"),
    Default("NCCL_IB_GID_INDEX", (0,), "0"),
    Default("NCCL_IB_GID_INDEX", SELECTS_GID, "-1"),
    Default("NCCL_IB_ADDR_FAMILY", SELECTS_GID, "AF_INET"),
    Default("NCCL_IB_DISABLE", (0,), "0"),
    Default("NCCL_NET_GDR_LEVEL", GDR_LEVEL_SINCE, "PHB"),
    Default("NCCL_NET_GDR_LEVEL", GDR_WORDS_SINCE, "PXB"),
    Default("NCCL_NET_GDR_C2C", GDR_C2C_SINCE, "0"),
    Default("NCCL_NET_GDR_C2C", GDR_BY_C2C, "1"),
    Default("NCCL_TOPO_FILE", TOPO_FILE_SINCE, TOPO_FILE),
)
