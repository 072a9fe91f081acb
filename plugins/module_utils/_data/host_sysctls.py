# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings that matter to jobs between nodes: equal hosts have them alike. Data only.

They are those that the role host_tuning sets (host_tuning_sysctls says why each matters); a test
holds the two together.
"""

from __future__ import annotations

NAMES = (
    *("kernel.numa_balancing", "vm.max_map_count", "vm.zone_reclaim_mode"),
    *("net.core.netdev_max_backlog", "net.core.rmem_max", "net.core.wmem_max"),
    *("net.ipv4.conf.all.arp_announce", "net.ipv4.conf.all.arp_ignore"),
    *("net.ipv4.conf.all.rp_filter", "net.ipv4.conf.default.arp_announce"),
    *("net.ipv4.conf.default.arp_ignore", "net.ipv4.conf.default.rp_filter"),
)
