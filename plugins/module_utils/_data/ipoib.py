# SPDX-License-Identifier: GPL-3.0-or-later
"""IP over InfiniBand: modes, MTUs, and where each system keeps its interfaces.

Confidence: confirmed where nothing else is said.
"""

from __future__ import annotations

MODULE = "ib_ipoib"
DATAGRAM, CONNECTED = "datagram", "connected"
MODES = (DATAGRAM, CONNECTED)
# The InfiniBand MTU less 4 bytes of header (RFC 4391, section 9.1); that of the partition's
# broadcast group is the limit, whatever is asked for (ipoib_main.c, ipoib_change_mtu).
DATAGRAM_MTUS = {2048: 2044, 4096: 4092}
MOST = {DATAGRAM: 4092, CONNECTED: 65520}
# From ConnectX-4 on, mlx5 does IPoIB by itself and in datagram mode only (RHEL 9, Configuring
# IPoIB), unless the module of MLNX_OFED or DOCA was loaded with ipoib_enhanced=0 (reported).
DATAGRAM_ONLY_DRIVERS = ("mlx5_core",)
ENHANCED = "/sys/module/ib_ipoib/parameters/ipoib_enhanced"

NETWORKD, NETPLAN, MANAGER = "networkd", "netplan", "networkmanager"
BACKENDS = (NETWORKD, NETPLAN, MANAGER)
NETWORKD_FOLDER = "/etc/systemd/network"
NETPLAN_FILE = "/etc/netplan/90-ibready-ipoib.yaml"
MANAGER_FOLDER = "/etc/NetworkManager/system-connections"
# systemd 250 brought Kind=ipoib to systemd.netdev. Its [IPoIB] of systemd.network, by which netplan
# says infiniband-mode, is an unknown section to systemd 252 and 257 (seen).
NETWORKD_LEAST = 250
