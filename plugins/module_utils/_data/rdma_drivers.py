# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel drivers of RDMA devices with an Ethernet port, and what they speak there. Data only.

Sources: the kernel's drivers/infiniband; rdma-core's providers. Confirmed, except where noted.
"""

from __future__ import annotations

ROCE = "RoCE"
SOFTWARE = "software RDMA"
IWARP = "iWARP"
OTHER = "no RoCE"

# By the PCI driver that carries the device.
PROTOCOLS = {
    "mlx5_core": ROCE,
    "mlx4_core": ROCE,
    "bnxt_en": ROCE,
    "hns3": ROCE,
    "ice": ROCE,  # irdma on E810 speaks both; its node type tells (below)
    "idpf": ROCE,  # recalled
    "ionic": ROCE,  # recalled
    "i40e": IWARP,
    "cxgb4": IWARP,
    "efa": OTHER,
    "gve": OTHER,  # recalled
}
# Which of the two is devlink's enable_roce and enable_iwarp (kernel, Documentation/networking/devlink/ice.rst).
EITHER = ("ice",)
# The driver whose RoCE traffic has no mark unless somebody sets one; bnxt_re starts with DSCP 26, the
# others are not known.
MARKED_BY_US = "mlx5_core"
# /sys/class/infiniband/DEVICE/node_type of an iWARP device.
IWARP_NODE = "4: RNIC"
