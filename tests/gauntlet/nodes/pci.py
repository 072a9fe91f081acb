# SPDX-License-Identifier: GPL-3.0-or-later
"""The PCI bus of a simulated node below /sys, as a kernel lays it out."""

from __future__ import annotations

from tests.gauntlet.node import SPEEDS, Node
from tests.gauntlet.tree import Tree

DEVICES = "/sys/bus/pci/devices"


def place(path: list[str]) -> str:
    """The directory of the last function of a path from the root port down."""
    return f"/sys/devices/pci{path[0][:7]}/" + "/".join(path)


def add(tree: Tree, node: Node) -> None:
    """GPUs, HCAs, NVSwitches and the bridges above them; DMI and the CPU's hypervisor flag."""
    tree.file("/sys/class/dmi/id/product_name", node.product)
    tree.file("/sys/class/dmi/id/sys_vendor", node.vendor)
    tree.file("/proc/sys/kernel/osrelease", node.kernel)
    tree.folder("/sys/bus/pci/slots")
    for card in node.cards:
        _function(tree, card.path, "030200", "10de", node.gpu_device, card.numa, "nvidia")
        _link(tree, card.path, card.generation, card.width)
    for hca in node.hcas:
        kind = "020700" if hca.layer == "InfiniBand" else "020000"
        _function(tree, hca.path, kind, "15b3", hca.device, hca.numa, "mlx5_core")
        _link(tree, hca.path, hca.generation, hca.width)
    for address in node.switches:
        root = f"0000:{int(address[5:7], 16) - 1:02x}:01.0"
        _function(tree, [root, address], "068000", "10de", node.switch_device, 0, "nvidia-nvswitch")
        _link(tree, [root, address], 4, 2)


def _function(
    tree: Tree, path: list[str], kind: str, vendor: str, device: str, numa: int, driver: str
) -> None:
    for depth in range(1, len(path)):
        above = path[:depth]
        maker = ("8086", "352a") if depth == 1 else ("1000", "c030")
        _one(tree, above, "060400", *maker, numa, "pcieport")
    _one(tree, path, kind, vendor, device, numa, driver)


def _one(
    tree: Tree, path: list[str], kind: str, vendor: str, device: str, numa: int, driver: str
) -> None:
    base = place(path)
    up = "../" * (len(path) + 2)
    tree.symlink(f"{DEVICES}/{path[-1]}", "../../../" + base[len("/sys/") :])
    tree.file(f"{base}/class", f"0x{kind}")
    tree.file(f"{base}/vendor", f"0x{vendor}")
    tree.file(f"{base}/device", f"0x{device}")
    tree.file(f"{base}/numa_node", str(numa))
    if driver:
        tree.symlink(f"{base}/driver", f"{up}bus/pci/drivers/{driver}")


def _link(tree: Tree, path: list[str], generation: int, width: int) -> None:
    """Every function on the way trains at what the device at its end can do."""
    for depth in range(1, len(path) + 1):
        base = place(path[:depth])
        for which in ("current", "max"):
            tree.file(f"{base}/{which}_link_speed", SPEEDS[generation])
            tree.file(f"{base}/{which}_link_width", str(width))
