# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what every area must know of a host: PCI functions, DMI, kernel, hardware profile."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from typing import Any, Sequence

from ..._data.boards import Board
from ..._data.drivers import USABLE
from ..._data.gpus import Gpu
from ..._evidence import ask
from ..._evidence.sources import Evidence, Missing, Unavailable
from ..._expect import profiles
from ..._ground import strict
from ..._ground.reading import Reading
from ..._parse import nvsmi_xml, vpd
from . import kind as host_kind, network
from .facts import MARK_UNREADABLE, WATCHED_CLASSES, Machine, PciFunction

PCI = "/sys/bus/pci/devices"
# Written by the sandbox into its nodes, and by nobody else.
SANDBOX_MARK = "/etc/ibready-sandbox.json"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_BUS = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
_HEX = re.compile(r"0x([0-9a-fA-F]{4,6})")


def observe(evidence: Evidence, profile: str = "", ignore: Sequence[str] = ()) -> Machine:
    """The machine; ``profile`` (from the inventory) takes the place of what is recognised.

    ``ignore``: RDMA devices and ports that the inventory leaves out.
    """
    pci = pci_functions(evidence)
    product = ask.text(evidence, "/sys/class/dmi/id/product_name")
    vendor = ask.text(evidence, "/sys/class/dmi/id/sys_vendor")
    cpu = ask.file(evidence, "/proc/cpuinfo", host_kind.first_processor)
    kernel = ask.text(evidence, "/proc/sys/kernel/osrelease")
    gpus = _gpus(evidence, pci)
    switches = sum(function.is_nvswitch for function in pci.value or ())
    board = (
        profiles.board_by_name(profile)
        if profile
        else profiles.recognise(gpus.value or (), product.value or "", switches)
    )
    managers, marked, unclear = _switch_managers(evidence, pci, board, gpus)
    return Machine(
        pci=pci,
        gpus=gpus,
        product=product,
        kernel=kernel,
        vendor=vendor,
        bios=ask.text(evidence, "/sys/class/dmi/id/bios_version"),
        virtual=host_kind.virtual(cpu, vendor, product),
        container=host_kind.container(evidence),
        arch=host_kind.arch(evidence, cpu, kernel),
        switch_managers=managers,
        marked_managers=marked,
        unclear_managers=unclear,
        simulated=simulated(evidence),
        simulates_hardware=_simulates_hardware(evidence),
        memlock_ceiling=_memlock_ceiling(evidence),
        board=board,
        network=network.observe(evidence, pci.value or (), board, managers.value or marked, ignore),
    )


def pci_functions(evidence: Evidence) -> Reading[tuple[PciFunction, ...]]:
    """Every PCI function of the host, by address; unknown where one of them cannot be read."""
    try:
        return Reading(tuple(_function(evidence, entry) for entry in sorted(evidence.list(PCI))))
    except Unavailable as exc:
        return Reading(None, str(exc), exc.what == PCI and _no_bus(evidence, exc))
    except ValueError as exc:
        return Reading(None, str(exc))


def _no_bus(evidence: Evidence, exc: Unavailable) -> bool:
    """Whether the kernel was seen to know no PCI; where /sys is not mounted, or something that
    would be on the bus shows itself all the same, nobody could look."""
    if not (isinstance(exc, Missing) and ask.names(evidence, "/sys/bus").known):
        return False
    rdma = ask.names(evidence, "/sys/class/infiniband")
    driver = ask.names(evidence, "/sys/module/nvidia")
    return (rdma.missing or rdma.value == []) and driver.missing


def simulated(evidence: Evidence) -> str:
    """What of this host is simulated; "" on real hardware."""
    try:
        return read_mark(evidence)
    except Unavailable as exc:
        # A bundle that does not hold the mark says nothing about it; see Bundle.
        return "" if "not in the bundle" in exc.reason else MARK_UNREADABLE


def _mark(evidence: Evidence) -> dict[str, Any]:
    """The mark of a simulated node; empty where there is none, or none that can be read."""
    reported = simulated(evidence)
    if not reported or reported == MARK_UNREADABLE:
        return {}
    mark: dict[str, Any] = strict.loads(evidence.read(SANDBOX_MARK))
    return mark


def _simulates_hardware(evidence: Evidence) -> bool:
    """Whether the mark says so; a node whose mark cannot be read simulates nothing."""
    return _mark(evidence).get("hardware") is True


def _memlock_ceiling(evidence: Evidence) -> int | None:
    """The mark's word; a mark that says something else than a number of bytes says nothing."""
    ceiling = _mark(evidence).get("memlock_ceiling")
    return ceiling if isinstance(ceiling, int) and ceiling is not True and ceiling > 0 else None


def read_mark(evidence: Evidence) -> str:
    """What the sandbox's mark says, "" where there is none; Unavailable if it cannot be read.

    The sandbox's nodes are containers: on a host that is none, somebody left the file behind.
    """
    try:
        mark = strict.loads(evidence.read(SANDBOX_MARK))
    except Missing:
        return ""
    except ValueError:
        return MARK_UNREADABLE
    if not isinstance(mark, dict) or not (mark.get("what") or mark.get("simulated")):
        return MARK_UNREADABLE
    if not host_kind.container(evidence):
        return "" if host_kind.outside_containers(evidence) else MARK_UNREADABLE
    return str(mark.get("what") or "InfiniBand fabric")


def _function(evidence: Evidence, address: str) -> PciFunction:
    base = f"{PCI}/{address}"
    kind = _hex(evidence, f"{base}/class")
    if kind[:4] not in WATCHED_CLASSES:
        return PciFunction(address, kind, "", "")
    vendor = _hex(evidence, f"{base}/vendor")
    device = _hex(evidence, f"{base}/device")
    function = PciFunction(address, kind, vendor, device)
    if not function.watched:
        return function
    virtual, physical = _physical(evidence, f"{base}/physfn")
    return replace(
        function,
        numa_node=_numa(evidence, f"{base}/numa_node"),
        driver=_driver(evidence, f"{base}/driver"),
        path=_path(evidence, base, address),
        virtual=virtual,
        physical=physical,
    )


def _hex(evidence: Evidence, path: str) -> str:
    text = evidence.read(path).strip()
    match = _HEX.fullmatch(text)
    if match is None:
        raise ValueError(f"{path}: {text[:40]!r} is not a hexadecimal number")
    return match.group(1).lower()


def _numa(evidence: Evidence, path: str) -> int:
    try:
        return int(evidence.read(path))
    except (Unavailable, ValueError):
        return -1


def _driver(evidence: Evidence, path: str) -> str | None:
    target = ask.link(evidence, path)
    if target.value is not None:
        return posixpath.basename(target.value)
    return "" if target.missing else None


def _physical(evidence: Evidence, path: str) -> tuple[bool, str]:
    """Whether this is a virtual function, and of which one."""
    target = ask.link(evidence, path)
    if target.value is not None:
        return True, posixpath.basename(target.value)
    # A stranger's bundle may hold a copy of the directory where the host had a link to it.
    return not target.missing and ask.names(evidence, path).known, ""


def _path(evidence: Evidence, base: str, address: str) -> tuple[str, ...]:
    """The functions on the way down, from the link's text: ../../../devices/pci0000:00/A/B."""
    parts = (ask.link(evidence, base).value or "").split("/")
    # Behind a volume manager (VMD) a second bus begins, with ports of its own.
    starts = [at for at, part in enumerate(parts) if _BUS.fullmatch(part)]
    found = tuple(part for part in parts[starts[-1] if starts else 0 :] if _ADDRESS.fullmatch(part))
    return found if found and found[-1] == address else ()


def _gpus(evidence: Evidence, pci: Reading[tuple[PciFunction, ...]]) -> Reading[tuple[Gpu | None, ...]]:
    """From the bus; where it cannot be read (a bundle of command outputs), from nvidia-smi."""
    if pci.value is not None:
        return Reading(
            tuple(
                profiles.gpu_by_id(function.device)
                for function in pci.value
                if function.is_gpu and not function.virtual
            )
        )
    if pci.missing:
        return Reading(())  # no PCI bus at all
    reported = ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=USABLE)
    if reported.value is not None:
        return Reading(tuple(profiles.gpu_by_name(gpu.name) for gpu in reported.value.gpus))
    return Reading(None, f"{pci.why}; {reported.why}")


def _switch_managers(
    evidence: Evidence,
    pci: Reading[tuple[PciFunction, ...]],
    board: Board | None,
    gpus: Reading[tuple[Gpu | None, ...]],
) -> tuple[Reading[tuple[str, ...]], tuple[str, ...], tuple[str, ...]]:
    """The HCA functions that carry the mark of a switch manager in their product data (VPD): all of
    them, unknown where one's data cannot be read; those surely marked; those that may be.

    Asked only where the board has such, or no table has its GPUs: reading product data takes an HCA
    tens of milliseconds.
    """
    if pci.value is None:
        return Reading(None, pci.why, pci.missing), (), ()
    if not (board.nvlsm if board else None in (gpus.value or ())):
        return Reading(()), (), ()
    found = []
    unclear = []
    why = ""
    for function in pci.value:
        if not function.is_hca or function.virtual:
            continue
        data = ask.data(evidence, f"{PCI}/{function.address}/vpd").map(vpd.parse)
        if data.value is None:
            if board and not data.missing:
                unclear.append(function.address)
                why = why or data.why
        elif data.value.is_switch_manager:
            found.append(function.address)
    managers = Reading(None, why) if unclear else Reading(tuple(found))
    return managers, tuple(found), tuple(unclear)
