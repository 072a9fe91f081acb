# SPDX-License-Identifier: GPL-3.0-or-later
"""The PCI bus of a node below /sys, as a kernel lays it out, and the firmware's name of the board.

No device driver is bound yet: the modules do that (kernel.py). Root ports and switches have theirs,
which is built into every kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.hardware.board import GPU, HCA, Board, Function
from sandbox.hardware.pci_config import SPEEDS, config, vpd
from sandbox.hardware.tree import Tree, relative

DEVICES = "/sys/bus/pci/devices"
DRIVERS = "/sys/bus/pci/drivers"
# Ids of an Intel root port and of a Broadcom switch's ports.
_ROOT, _SWITCH = ("060400", "8086", "352a"), ("060400", "1000", "c030")
_MIB = 1 << 20
# Flags of 64-bit prefetchable memory, as the kernel prints them.
_FLAGS = 0x14220C
_COUNTERS = {
    "correctable": ("COR", ("RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr")),
    "fatal": ("FATAL", ("Undefined", "DLP", "SDES", "TLP", "CmpltTO", "UnsupReq")),
    "nonfatal": ("NONFATAL", ("Undefined", "DLP", "SDES", "TLP", "CmpltTO", "UnsupReq")),
}
# What HCAs ask for in one read, and everything else.
_HCA_REQUEST, _REQUEST = 4096, 512


def render(board: Board) -> Tree:
    """Everything below /sys that does not depend on the loaded modules."""
    tree = Tree()
    tree.folder("/sys/bus/pci/slots")
    for name, text in board.spec["dmi"].items():
        tree.file(f"/sys/class/dmi/id/{name}", text)
    for function in board.functions:
        for depth in range(1, len(function.path)):
            _function(tree, function.path[:depth], _ROOT if depth == 1 else _SWITCH, function.numa, _REQUEST)
        request = _HCA_REQUEST if function.kind == HCA else _REQUEST
        _function(tree, function.path, function.ids, function.numa, request)
        _links(tree, function)
        if function.kind == GPU:
            tree.file(f"{function.place}/resource", _resource(board.spec["gpu"], int(function.name[3:])))
        if function.kind == HCA:
            tree.file(f"{function.place}/vpd", _product_data(board.spec["hca"]))
            tree.file(f"{function.place}/sriov_numvfs", "0")
    return tree


def numa(nodes: int, cpus: int) -> Tree:
    """/sys/devices/system/node of a host whose CPUs belong to all nodes in equal parts."""
    tree, base = Tree(), "/sys/devices/system/node"
    for which in ("online", "possible", "has_cpu", "has_memory", "has_normal_memory"):
        tree.file(f"{base}/{which}", f"0-{nodes - 1}" if nodes > 1 else "0")
    for number in range(nodes):
        row = " ".join("10" if number == other else "21" for other in range(nodes))
        tree.file(f"{base}/node{number}/distance", row)
        first, after = number * cpus // nodes, (number + 1) * cpus // nodes
        tree.file(f"{base}/node{number}/cpulist", f"{first}-{after - 1}" if after > first else "")
    return tree


def bind(tree: Tree, place: str, driver: str) -> None:
    """The two links by which sysfs shows that a driver has taken a function over."""
    home, address = f"{DRIVERS}/{driver}", place.rpartition("/")[2]
    tree.link(f"{place}/driver", relative(f"{place}/driver", home))
    tree.link(f"{home}/{address}", relative(f"{home}/{address}", place))


def _function(tree: Tree, path: tuple[str, ...], ids: tuple[str, str, str], node: int, request: int) -> None:
    place = f"/sys/devices/pci{path[0][:7]}/" + "/".join(path)
    kind, vendor, device = ids
    tree.link(f"{DEVICES}/{path[-1]}", relative(f"{DEVICES}/{path[-1]}", place))
    tree.link(f"{place}/subsystem", relative(f"{place}/subsystem", "/sys/bus/pci"))
    for name, text in {
        "class": f"0x{kind}",
        "vendor": f"0x{vendor}",
        "device": f"0x{device}",
        "numa_node": str(node),
        "enable": "1",
        "modalias": f"pci:v0000{vendor.upper()}d0000{device.upper()}bc{kind[:2]}sc{kind[2:4]}",
        "uevent": f"PCI_ID={vendor.upper()}:{device.upper()}\nPCI_SLOT_NAME={path[-1]}",
    }.items():
        tree.file(f"{place}/{name}", text)
    tree.file(f"{place}/config", config(ids, request))
    for which, (total, names) in _COUNTERS.items():
        lines = [*(f"{name} 0" for name in names), f"TOTAL_ERR_{total} 0"]
        tree.file(f"{place}/aer_dev_{which}", "\n".join(lines))
    if kind.startswith("0604"):
        bind(tree, place, "pcieport")


def _links(tree: Tree, function: Function) -> None:
    """Every function on the way trains at what the device at its end can do."""
    for depth in range(1, len(function.path) + 1):
        place = f"/sys/devices/pci{function.path[0][:7]}/" + "/".join(function.path[:depth])
        for which in ("current", "max"):
            tree.file(f"{place}/{which}_link_speed", SPEEDS[function.generation])
            tree.file(f"{place}/{which}_link_width", str(function.width))


def _resource(spec: Mapping[str, Any], index: int) -> str:
    """Registers, the whole memory, and a third BAR; then what the GPU does not use."""
    memory = int(spec["bar1_mib"]) * _MIB
    start = 0x380000000000 + index * 0x10000000000
    lines = []
    for at, size in (
        (start + 2 * memory, 16 * _MIB),
        (start, memory),
        (start + 2 * memory + 32 * _MIB, 32 * _MIB),
    ):
        lines += [_region(at, at + size - 1, _FLAGS), _region(0, 0, 0)]
    return "\n".join([*lines, *[_region(0, 0, 0)] * 7])


def _region(*numbers: int) -> str:
    return " ".join(f"0x{number:016x}" for number in numbers)


def _product_data(spec: Mapping[str, Any]) -> bytes:
    return vpd(str(spec["product"]), {"PN": "SIMULATED", "SN": "SIMULATED0000"})
