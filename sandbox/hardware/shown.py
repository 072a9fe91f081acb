# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node sees of its simulated kernel: /proc/modules, /sys/module, bound drivers, RDMA
devices, /proc/driver/nvidia, /sys/kernel/mm/memory_peers, device files."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from sandbox.hardware import pci
from sandbox.hardware.board import NVSWITCH, Function
from sandbox.hardware.kernel import PEERMEM, RUN, Kernel
from sandbox.hardware.tree import Tree, below, relative, remove

MODULES = "/sys/module"
PEERS = "/sys/kernel/mm/memory_peers"
# What the fabric's agent writes for each HCA.
AGENT = "/srv/simulated-sysfs/infiniband"
_NVIDIA = "/proc/driver/nvidia"
_SWITCHES = "/proc/driver/nvidia-nvswitch/devices"
_RDMA = "/sys/class/infiniband"
_UMAD = "/sys/class/infiniband_mad"
_VERBS = "/sys/class/infiniband_verbs"
# Character devices of the NVIDIA driver; nobody in a container may open them.
_MAJOR, _CONTROL, _MODESET = 195, 255, 254
# Files of RDMA devices can be opened and do nothing: the null device's number.
_NULL = os.makedev(1, 3)
_OPEN_LICENSE = "Dual MIT/GPL"
_BUILD = "Release Build  (simulated@ibready-sandbox)"


def show(kernel: Kernel) -> None:
    """Bring all of it to what is loaded now."""
    tree = Tree()
    known = below(kernel.root, f"{RUN}/shown")
    # At the first time: what the machine's own kernel has of these.
    ours = {*kernel.settings["modules"], *kernel.settings["follows"]["nvidia"], "nvidia"}
    before = set(known.read_text().split()) if known.is_file() else ours
    for name in before - set(kernel.loaded):
        remove(below(kernel.root, f"{MODULES}/{name}"))
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(" ".join(kernel.loaded))
    _modules(kernel, tree)
    _drivers(kernel, tree)
    _rdma(kernel, tree)
    _nvidia(kernel, tree)
    _peer_memory(kernel, tree)
    tree.write(kernel.root)
    _device_files(kernel)


def lsmod(kernel: Kernel) -> str:
    """What node/kernel_says.sh prints as lsmod does: the last one that was loaded first."""
    lines = []
    for name in reversed(kernel.loaded):
        users = kernel.users(name)
        lines.append(f"{name} {_size(name)} {len(users)} {','.join(users)}".rstrip() + "\n")
    return "".join(lines)


def proc_modules(kernel: Kernel) -> str:
    """The same in the form of /proc/modules."""
    lines = []
    for name, entry in reversed(kernel.loaded.items()):
        users = kernel.users(name)
        named = ",".join(users) + "," if users else "-"
        taint = "" if "/kernel/" in entry.path else " (OE)"
        lines.append(f"{name} {_size(name)} {len(users)} {named} Live 0x0000000000000000{taint}\n")
    return "".join(lines)


def _size(name: str) -> int:
    return 16384 + 4096 * len(name)


def _modules(kernel: Kernel, tree: Tree) -> None:
    for name, entry in kernel.loaded.items():
        home = f"{MODULES}/{name}"
        tree.folder(f"{home}/parameters")
        tree.file(f"{home}/initstate", "live")
        tree.file(f"{home}/refcnt", str(len(kernel.users(name))))
        for key in ("version", "srcversion"):
            if entry.fields.get(key):
                tree.file(f"{home}/{key}", entry.fields[key])
    # /proc/modules is a mount of this very file, where the machine's kernel has that name.
    tree.file(f"{RUN}/modules", proc_modules(kernel).encode())
    tree.file(f"{RUN}/lsmod", lsmod(kernel).encode())


def _drivers(kernel: Kernel, tree: Tree) -> None:
    for function in kernel.board.functions:
        remove(below(kernel.root, f"{function.place}/driver"))
        for module, kinds in kernel.settings["drivers"].items():
            for driver in kinds.values():
                remove(below(kernel.root, f"{pci.DRIVERS}/{driver}/{function.address}"))
                if module not in kernel.loaded:
                    remove(below(kernel.root, f"{pci.DRIVERS}/{driver}"))
        module = kernel.bound.get(function.address, "")
        if module:
            pci.bind(tree, function.place, kernel.settings["drivers"][module][function.kind])


def _rdma(kernel: Kernel, tree: Tree) -> None:
    """The devices that mlx5_ib makes of the HCAs, and the classes of the RDMA core."""
    for place in (_RDMA, _UMAD, _VERBS):
        remove(below(kernel.root, place))
    if "ib_core" in kernel.loaded:
        tree.folder(_RDMA)
    if "ib_uverbs" in kernel.loaded:
        tree.file(f"{_VERBS}/abi_version", "6")
    if "ib_umad" in kernel.loaded:
        tree.file(f"{_UMAD}/abi_version", "5")
    for number, hca in enumerate(kernel.board.hcas):
        home = f"{hca.place}/infiniband"
        remove(below(kernel.root, home))
        if "mlx5_ib" not in kernel.loaded or kernel.bound.get(hca.address) != "mlx5_core":
            continue
        tree.link(f"{home}/{hca.name}", f"{AGENT}/{hca.name}")
        tree.link(f"{_RDMA}/{hca.name}", relative(f"{_RDMA}/{hca.name}", f"{home}/{hca.name}"))
        if "ib_uverbs" in kernel.loaded:
            # Without the device's own abi_version libibverbs passes it by: there are no verbs.
            tree.file(f"{_VERBS}/uverbs{number}/ibdev", hca.name)
        if "ib_umad" in kernel.loaded:
            tree.file(f"{_UMAD}/umad{number}/ibdev", hca.name)
            tree.file(f"{_UMAD}/umad{number}/port", "1")


def _nvidia(kernel: Kernel, tree: Tree) -> None:
    remove(below(kernel.root, _NVIDIA))
    remove(below(kernel.root, _SWITCHES.rpartition("/")[0]))
    driver = kernel.loaded.get("nvidia")
    if driver is None:
        return
    kind = "Open Kernel Module for x86_64"
    if driver.fields.get("license") != _OPEN_LICENSE:
        kind = "x86_64 Kernel Module"
    said = f"NVRM version: NVIDIA UNIX {kind}  {driver.version}  {_BUILD}"
    tree.file(f"{_NVIDIA}/version", f"{said}\nGCC version: none, it is simulated")
    for number, entry in enumerate(_bound(kernel)):
        model = f"Model: \t\t {kernel.board.spec['gpu']['name']} (simulated)"
        minor = f"Device Minor: \t {number}\nBus Location: \t {entry.address}"
        tree.file(f"{_NVIDIA}/gpus/{entry.address}/information", f"{model}\n{minor}")
    for item in kernel.board.of(NVSWITCH):
        if kernel.bound.get(item.address) == "nvidia":
            tree.folder(f"{_SWITCHES}/{item.address}")


def _bound(kernel: Kernel) -> list[Function]:
    return [gpu for gpu in kernel.board.gpus if kernel.bound.get(gpu.address) == "nvidia"]


def _peer_memory(kernel: Kernel, tree: Tree) -> None:
    remove(below(kernel.root, PEERS))
    if not any(entry.exports_peer_memory for entry in kernel.loaded.values()):
        return
    tree.folder(PEERS)
    peermem = kernel.loaded.get(PEERMEM)
    for client in ("nv_mem", "nv_mem_nc") if peermem else ():
        tree.file(f"{PEERS}/{client}/version", peermem.version if peermem else "")


def _device_files(kernel: Kernel) -> None:
    """/dev/nvidia* and /dev/infiniband/*: there while their drivers are loaded."""
    there = {}
    if "nvidia" in kernel.loaded:
        there = {f"nvidia{at}": os.makedev(_MAJOR, at) for at in range(len(_bound(kernel)))}
        there["nvidiactl"] = os.makedev(_MAJOR, _CONTROL)
    if "nvidia_modeset" in kernel.loaded:
        there["nvidia-modeset"] = os.makedev(_MAJOR, _MODESET)
    verbs = below(kernel.root, _VERBS)
    there |= {f"infiniband/{path.name}": _NULL for path in verbs.glob("uverbs*")}
    if "rdma_ucm" in kernel.loaded:
        there["infiniband/rdma_cm"] = _NULL
    for name in set(_device_names(kernel)) - set(there):
        remove_device(below(kernel.root, f"/dev/{name}"))
    for name, number in there.items():
        place = below(kernel.root, f"/dev/{name}")
        if not place.exists() and below(kernel.root, "/dev").is_dir():
            # Where even making one is refused, nothing that the checks read is lost.
            with contextlib.suppress(OSError):
                place.parent.mkdir(exist_ok=True)
                os.mknod(place, stat.S_IFCHR | 0o666, number)
                place.chmod(0o666)


def _device_names(kernel: Kernel) -> list[str]:
    gpus = [f"nvidia{at}" for at in range(len(kernel.board.gpus))]
    rdma = [f"infiniband/uverbs{at}" for at in range(len(kernel.board.hcas))]
    return [*gpus, "nvidiactl", "nvidia-modeset", *rdma, "infiniband/rdma_cm"]


def remove_device(place: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        place.unlink()
