# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of RoCE that no host may be asked for. Data only."""

from __future__ import annotations

# What RoCE v2 may add to a packet: GRH 40, UDP 8, BTH 12, XRC 4, atomic 28, ICRC 4 bytes. The
# kernel takes this much off the interface's MTU, then rounds down to an RDMA MTU; confirmed
# (include/rdma/ib_addr.h).
HEADERS = 96
# Every RoCE port that is sold for training can do this RDMA MTU; confirmed.
RDMA_MTU = 4096
RDMA_MTUS = (4096, 2048, 1024, 512, 256)

# The lowest two bits of ToS are ECN's, the others the DSCP (RFC 2474, 3168).
ECN_BITS = 3
DSCP_SHIFT = 2
