# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host with soft RoCE shows: sysfs as rdma_rxe of Debian's kernel 6.12 fills it."""

from __future__ import annotations

from tests.gauntlet.tree import Tree

DEVICE = "/sys/devices/virtual/infiniband/{}"
LOCAL = "fe80:0000:0000:0000:5054:00ff:fe12:3456"
MAPPED = "0000:0000:0000:0000:0000:ffff:0a00:0005"
ZERO = ":".join(["0000"] * 8)


def add(tree: Tree, name: str, netdev: str, state: str = "4: ACTIVE") -> None:
    """One soft RoCE device, and the interface that it sits on."""
    base = DEVICE.format(name)
    tree.symlink(f"/sys/class/infiniband/{name}", f"../..{base[4:]}")
    for path, text in {
        "parent": netdev,
        "node_type": "1: CA",
        "node_desc": "rxe",
        "node_guid": "5054:00ff:fe12:3456",
        "sys_image_guid": "5054:00ff:fe12:3456",
        "fw_ver": "",
        "ports/1/state": state,
        "ports/1/phys_state": "5: LinkUp",
        "ports/1/rate": "2.5 Gb/sec (1X SDR)",
        "ports/1/link_layer": "Ethernet",
        "ports/1/lid": "0x0",
        "ports/1/sm_lid": "0x0",
        "ports/1/sm_sl": "0",
        "ports/1/lid_mask_count": "0",
        "ports/1/cap_mask": "0x00010000",
        "ports/1/pkeys/0": "0xffff",
    }.items():
        tree.file(f"{base}/{path}", text)
    for index in range(40):
        used = (LOCAL, MAPPED)[index] if index < 2 else ZERO
        tree.file(f"{base}/ports/1/gids/{index}", used)
        if index < 2:
            tree.file(f"{base}/ports/1/gid_attrs/types/{index}", "RoCE v2")
            tree.file(f"{base}/ports/1/gid_attrs/ndevs/{index}", netdev)
    for path, text in {
        "operstate": "up",
        "carrier": "1",
        "mtu": "1500",
        "dev_port": "0",
        "type": "1",
    }.items():
        tree.file(f"/sys/class/net/{netdev}/{path}", text)


def node(name: str = "rxe0", netdev: str = "eth0") -> Tree:
    tree = Tree()
    tree.folder("/sys/bus/pci/devices")
    tree.folder("/sys/kernel/config/rdma_cm")
    add(tree, name, netdev)
    return tree
