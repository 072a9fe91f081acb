# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what every area must know of a host: PCI functions, DMI, kernel, hardware profile."""

from __future__ import annotations

import json
import posixpath
import re

from ansible_collections.ibready.cluster.plugins.module_utils import _profiles
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpus import Gpu
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Missing,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import (
    Machine,
    PciFunction,
)
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvsmi_xml

PCI = "/sys/bus/pci/devices"
# Written by the sandbox into its nodes, and by nobody else.
SANDBOX_MARK = "/etc/ibready-sandbox.json"
# A mark that cannot be read must not pass for real hardware.
_MARK_UNREADABLE = "unreadable sandbox mark"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_HEX = re.compile(r"0x([0-9a-fA-F]{4,6})")


def observe(evidence: Evidence, profile: str = "") -> Machine:
    """The machine; ``profile`` (from the inventory) takes the place of what is recognised."""
    pci = pci_functions(evidence)
    product = _ask.text(evidence, "/sys/class/dmi/id/product_name")
    gpus = _gpus(evidence, pci)
    switches = sum(one.is_nvswitch for one in pci.value or ())
    board = (
        _profiles.board_by_name(profile)
        if profile
        else _profiles.recognise(gpus.value or (), product.value or "", switches)
    )
    return Machine(
        pci=pci,
        gpus=gpus,
        product=product,
        kernel=_ask.text(evidence, "/proc/sys/kernel/osrelease"),
        simulated=simulated(evidence),
        board=board,
    )


def pci_functions(evidence: Evidence) -> Reading[tuple[PciFunction, ...]]:
    """Every PCI function of the host, by address; unknown where one of them cannot be read."""
    try:
        return Reading(tuple(_function(evidence, one) for one in sorted(evidence.list(PCI))))
    except Unavailable as exc:
        return Reading(None, str(exc), isinstance(exc, Missing))
    except ValueError as exc:
        return Reading(None, str(exc))


def simulated(evidence: Evidence) -> str:
    """What of this host is simulated; "" on real hardware."""
    try:
        mark = json.loads(evidence.read(SANDBOX_MARK))
    except Missing:
        return ""
    except Unavailable as exc:
        # A bundle that does not hold the mark says nothing about it; see Bundle.
        return "" if "not in the bundle" in exc.reason else _MARK_UNREADABLE
    except ValueError:
        return _MARK_UNREADABLE
    what = mark.get("what") if isinstance(mark, dict) else None
    return str(what or "InfiniBand fabric")


def _function(evidence: Evidence, address: str) -> PciFunction:
    base = f"{PCI}/{address}"
    return PciFunction(
        address=address,
        class_code=_hex(evidence, f"{base}/class"),
        vendor=_hex(evidence, f"{base}/vendor"),
        device=_hex(evidence, f"{base}/device"),
        numa_node=_numa(evidence, f"{base}/numa_node"),
        driver=_driver(evidence, f"{base}/driver"),
        path=_path(evidence, base, address),
        virtual=_ask.link(evidence, f"{base}/physfn").known,
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
    target = _ask.link(evidence, path)
    if target.value is not None:
        return posixpath.basename(target.value)
    return "" if target.missing else None


def _path(evidence: Evidence, base: str, address: str) -> tuple[str, ...]:
    """The functions on the way down, from the link's text: ../../../devices/pci0000:00/A/B."""
    target = _ask.link(evidence, base).value or ""
    found = tuple(part for part in target.split("/") if _ADDRESS.fullmatch(part))
    return found if found and found[-1] == address else ()


def _gpus(
    evidence: Evidence, pci: Reading[tuple[PciFunction, ...]]
) -> Reading[tuple[Gpu | None, ...]]:
    """From the bus; where it cannot be read (a bundle of command outputs), from nvidia-smi."""
    if pci.value is not None:
        return Reading(tuple(_profiles.gpu_by_id(one.device) for one in pci.value if one.is_gpu))
    if pci.missing:
        return Reading(())  # no PCI bus at all
    told = _ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse)
    if told.value is not None:
        return Reading(tuple(_profiles.gpu_by_name(one.name) for one in told.value.gpus))
    return Reading(None, f"{pci.why}; {told.why}")
