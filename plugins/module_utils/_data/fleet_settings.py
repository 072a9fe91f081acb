# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a host's settings equal hosts need not have alike. Data only.

source: the kernel's admin-guide/kernel-parameters, dracut.cmdline(7), NCCL's user guide;
confidence: confirmed.
"""

from __future__ import annotations

# Kernel arguments that tell where this host's own disks, images and addresses are.
OWN_ARGS = frozenset(
    (
        *("BOOT_IMAGE", "BOOTIF", "initrd", "root", "resume", "resume_offset", "swap", "ip"),
        *("nfsroot", "ostree", "cryptdevice", "systemd.machine_id", "hostname", "rd.lvm.lv"),
        *("rd.luks.uuid", "rd.luks.name", "rd.md.uuid", "rd.lvm.vg", "rd.znet", "ifname"),
    )
)
# Settings of NCCL that name what is this host's own: devices, interfaces, files.
OWN_NCCL = frozenset(
    (
        *("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME", "NCCL_HOSTID"),
        *("NCCL_TOPO_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_FILE", "NCCL_GRAPH_DUMP_FILE"),
        *("NCCL_DEBUG_FILE", "NCCL_COMM_ID"),
    )
)
