# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a host's kernel arguments equal hosts need not have alike. Data only.

source: the kernel's admin-guide/kernel-parameters, dracut.cmdline(7);
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
