# SPDX-License-Identifier: GPL-3.0-or-later
"""The PCI bus of a simulated node below /sys, as a kernel lays it out.

``node.more["pci"]`` bends single functions, by address: ``speed`` and ``max_speed`` (of SPEEDS, by
generation), ``width``, ``max_width``, ``acs``, ``payload``, ``request``, ``command``, ``link``, ``driver``,
``bar``, ``fatal``, ``nonfatal``, ``correctable`` (counters), ``numa``, ``vfs``. ``node.more["products"]``: the name in
the product data of an HCA.
"""

from __future__ import annotations

from typing import Any

from sandbox.hardware import pci_config
from sandbox.hardware.pci_config import SPEEDS, config
from tests.gauntlet.node import Hca, Node
from tests.gauntlet.tree import Tree

DEVICES = "/sys/bus/pci/devices"
_GIB = 1 << 30
# Flags of 32-bit and 64-bit prefetchable memory, as the kernel prints them.
_SMALL, _LARGE = 0x40200, 0x14220C
_COUNTERS = {
    "correctable": ("RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr"),
    "fatal": ("Undefined", "DLP", "SDES", "TLP", "CmpltTO", "UnsupReq"),
    "nonfatal": ("Undefined", "DLP", "SDES", "TLP", "CmpltTO", "UnsupReq"),
}
_TOTALS = {"correctable": "COR", "fatal": "FATAL", "nonfatal": "NONFATAL"}


def place(path: list[str]) -> str:
    """The directory of the last function of a path from the root port down."""
    return f"/sys/devices/pci{path[0][:7]}/" + "/".join(path)


def add(tree: Tree, node: Node) -> None:
    """GPUs, HCAs, NVSwitches and the bridges above them; DMI and the CPU's hypervisor flag."""
    tree.file("/sys/class/dmi/id/product_name", node.product)
    tree.file("/sys/class/dmi/id/sys_vendor", node.vendor)
    tree.file("/sys/class/dmi/id/bios_version", node.more.get("bios", "2.4a"))
    tree.file("/proc/sys/kernel/osrelease", node.kernel)
    tree.file("/proc/cpuinfo", _cpuinfo(node))
    tree.file("/proc/uptime", "864000.52 190080000.12")
    tree.folder("/sys/bus/pci/slots")
    for one in (0, 1):
        row = " ".join("10" if one == other else "21" for other in (0, 1))
        tree.file(f"/sys/devices/system/node/node{one}/distance", row)
    for card in node.cards:
        ids = ("030200", "10de", node.gpu_device)
        _function(tree, node, card.path, ids, card.numa, "nvidia")
        _link(tree, node, card.path, card.generation, card.width)
        tree.file(f"{place(card.path)}/resource", _gpu_resource(node, card.index, card.address))
    for hca in node.hcas:
        kind = "020700" if hca.layer == "InfiniBand" else "020000"
        ids = (kind, "15b3", hca.device)
        _function(tree, node, hca.path, ids, hca.numa, "mlx5_core", request=4096)
        _link(tree, node, hca.path, hca.generation, hca.width)
        _adapter(tree, node, hca)
    for address in node.switches:
        path = [f"0000:{int(address[5:7], 16) - 1:02x}:01.0", address]
        _function(tree, node, path, ("068000", "10de", node.switch_device), 0, "nvidia-nvswitch")
        _link(tree, node, path, 4, 2)


def _bent(node: Node, address: str) -> dict[str, Any]:
    found: dict[str, Any] = node.more.get("pci", {}).get(address, {})
    return found


def _function(
    tree: Tree,
    node: Node,
    path: list[str],
    ids: tuple[str, str, str],
    numa: int,
    driver: str,
    request: int = 512,
) -> None:
    for depth in range(1, len(path)):
        above = path[:depth]
        maker = ("060400", "8086", "352a") if depth == 1 else ("060400", "1000", "c030")
        _one(tree, node, above, maker, numa, "pcieport", 512)
    _one(tree, node, path, ids, numa, driver, request)


def _one(
    tree: Tree,
    node: Node,
    path: list[str],
    ids: tuple[str, str, str],
    numa: int,
    driver: str,
    request: int,
) -> None:
    base, bent = place(path), _bent(node, path[-1])
    kind, vendor, device = ids
    up = "../" * (len(path) + 2)
    driver = bent.get("driver", driver)
    tree.symlink(f"{DEVICES}/{path[-1]}", "../../../" + base[len("/sys/") :])
    tree.file(f"{base}/class", f"0x{kind}")
    tree.file(f"{base}/vendor", f"0x{vendor}")
    tree.file(f"{base}/device", f"0x{device}")
    tree.file(f"{base}/numa_node", str(bent.get("numa", numa)))
    if driver:
        tree.symlink(f"{base}/driver", f"{up}bus/pci/drivers/{driver}")
    tree.file(f"{base}/config", config(ids, bent.get("request", request), **_registers(bent)))
    for which, names in _COUNTERS.items():
        counted = {**dict.fromkeys(names, 0), **bent.get(which, {})}
        lines = [f"{name} {count}" for name, count in counted.items()]
        total = f"TOTAL_ERR_{_TOTALS[which]} {sum(counted.values())}"
        tree.file(f"{base}/aer_dev_{which}", "\n".join([*lines, total]))


def _registers(bent: dict[str, Any]) -> dict[str, int]:
    return {name: bent[name] for name in ("payload", "acs", "command", "link") if name in bent}


def _link(tree: Tree, node: Node, path: list[str], generation: int, width: int) -> None:
    """Every function on the way trains at what the device at its end can do.

    A switch's uplink is made for the GPU below it, which comes first, whatever its rail is.
    """
    for depth in range(1, len(path) + 1):
        base, bent = place(path[:depth]), _bent(node, path[depth - 1])
        if depth < len(path) - 1 and f"{base}/max_link_speed" in tree.files:
            continue
        most = bent.get("max_speed", generation), bent.get("max_width", width)
        now = bent.get("speed", most[0]), bent.get("width", most[1])
        for which, (speed, lanes) in (("current", now), ("max", most)):
            tree.file(f"{base}/{which}_link_speed", SPEEDS.get(speed, f"{speed} GT/s PCIe"))
            tree.file(f"{base}/{which}_link_width", str(lanes))


def _gpu_resource(node: Node, index: int, address: str) -> str:
    memory = 1 << (node.memory_mib * (1 << 20) - 1).bit_length()
    start = 0x380000000000 + index * 0x10000000000
    size = _bent(node, address).get("bar", memory)
    bars = [
        (start + 2 * memory, 16 << 20, _LARGE),
        (start, size, _LARGE),
        (start + 2 * memory + (32 << 20), 32 << 20, _LARGE),
    ]
    lines = []
    for at, length, flags in bars:
        end = at + length - 1 if length else 0
        region = (at, end, flags) if length else (0, 0, 0)
        lines += [" ".join(f"0x{one:016x}" for one in region), " ".join(["0x" + "0" * 16] * 3)]
    return "\n".join([*lines, *[" ".join(["0x" + "0" * 16] * 3)] * 7])


_PRODUCTS = {"BlueField-3": "Nvidia BlueField-3 B3140H E-series HHHL SuperNIC, 400GbE(default mode)/NDR IB"}


def _adapter(tree: Tree, node: Node, hca: Hca) -> None:
    """What an HCA has beside any function: virtual functions and product data."""
    base = place(hca.path)
    tree.file(
        f"{base}/vpd",
        vpd(
            node.more.get("products", {}).get(hca.name, _PRODUCTS.get(hca.model, f"NVIDIA {hca.model}")),
            hca.role == "nvswitch",
        ),
    )
    if not node.virtual:
        tree.file(f"{base}/sriov_numvfs", str(_bent(node, hca.address).get("vfs", 0)))


def vpd(name: str, switch_manager: bool) -> bytes:
    """Product data: the name, a few keywords, the end tag."""
    fields = {"PN": "MCX750500B", "SN": "MT2500X00000"}
    if switch_manager:
        fields["VC"] = "SW_MNG"
    return pci_config.vpd(name, fields)


def _cpuinfo(node: Node) -> str:
    if node.machine == "aarch64":
        one = "processor\t: {}\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"
    else:
        flags = "fpu vme de pse lm sse4_2 avx512f" + (" hypervisor" if node.virtual else "")
        one = "processor\t: {}\nvendor_id\t: GenuineIntel\nflags\t\t: " + flags + "\n"
    return "\n".join(one.format(index) for index in range(2))
