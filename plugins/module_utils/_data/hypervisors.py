# SPDX-License-Identifier: GPL-3.0-or-later
"""What the firmware tables (DMI) of virtual machines say. Data only.

Beginnings, in lower case. Source: the vendor and product strings that the hypervisors' own firmware
sets, as systemd-detect-virt looks for them too. Confidence: medium.
"""

from __future__ import annotations

# Said by no bare metal.
VIRTUAL_VENDORS = (
    "qemu",
    "kvm",
    "vmware",
    "innotek",
    "xen",
    "bochs",
    "parallels",
    "bhyve",
    "nutanix ahv",
    "openstack",
    "cloud-hypervisor",
)
VIRTUAL_PRODUCTS = (
    "kvm",
    "virtual machine",  # Microsoft's
    "vmware",
    "virtualbox",
    "standard pc",  # QEMU's
    "qemu",
    "openstack",
    "hvm domu",
)
# Clouds that rent both kinds under one vendor name; their bare metal has METAL in the product's
# name (c7g.metal). Looked at only where the processor has no flag of its own for it.
CLOUD_VENDORS = ("amazon ec2", "google", "alibaba cloud")
METAL = "metal"
