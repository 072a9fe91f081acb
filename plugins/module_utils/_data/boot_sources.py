# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a host says what its next boot sets and starts by itself. Data only.

Sources: sysctl.d(5), modules-load.d(5), rdma-core's kernel-boot (/etc/rdma/modules), openibd's
/etc/infiniband/openib.conf; confirmed.
"""

from __future__ import annotations

from . import host_units

# Of two files of one name the first folder's counts.
SYSCTL_FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d")
SYSCTL_CONF = "/etc/sysctl.conf"
# What role host_tuning writes.
OURS = "/etc/sysctl.d/90-ibready.conf"
# Settings that are judged whoever made them, below /proc/sys, and what they have to be.
SYSCTLS = {"kernel/numa_balancing": "0", "vm/zone_reclaim_mode": "0"}
# More of these is no harm; source: kernel documentation, admin-guide/sysctl.
AT_LEAST = ("net/core/rmem_max", "net/core/wmem_max", "net/core/netdev_max_backlog", "vm/max_map_count")
# Only the strict filter (1) drops what comes back by another rail; source: kernel ip-sysctl.
LOOSE = {"net/ipv4/conf/all/rp_filter": ("0", "2"), "net/ipv4/conf/default/rp_filter": ("0", "2")}

MODULE_FOLDERS = tuple(f"{root}/modules-load.d" for root in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
ETC_MODULES = "/etc/modules"
# Loaded by udev and rdma-load-modules@.service as soon as an RDMA device shows itself.
RDMA_MODULES = "/etc/rdma/modules"
OPENIB = "/etc/infiniband/openib.conf"
# What openibd loads by which switch NAME_LOAD=yes.
OPENIB_SWITCHES = {
    "UMAD": ("ib_umad",),
    "UVERBS": ("ib_uverbs",),
    "UCM": ("rdma_ucm",),
    "RDMA_UCM": ("rdma_ucm", "rdma_cm"),
    "RDMA_CM": ("rdma_cm",),
    "IPOIB": ("ib_ipoib",),
}
# Modules that no device brings along by itself, and what is lost without them.
BY_NAME = {
    "ib_umad": "diagnostics, the subnet manager and NVLSM",
    "rdma_ucm": "connections by address (rdma_cm)",
    "ib_ipoib": "IP over InfiniBand",
    "nvidia_peermem": "GPUDirect RDMA by nvidia-peermem",
}
# Services that a training node needs after a boot as well. The fabric manager has a check of its
# own; what starts jobs is often enabled nowhere, as a cluster manager starts it.
UNITS = ("openibd", "nvidia-persistenced")
# Whose files are read for what they start, and which limits they give.
WATCHED = (*host_units.JOBS, *UNITS, "nvidia-fabricmanager", "nvidia-imex")
# The same of a rack's host.
IMEX = "nvidia-imex"
