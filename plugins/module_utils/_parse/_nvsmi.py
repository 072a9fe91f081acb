# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``nvidia-smi -q`` tells of a host's GPUs, whichever of its two forms was read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, Mapping

from .._ground import text as ground
from .._ground.text import ParseError, to_int

NOT_THERE = "N/A"
# What stands in a field, or in place of everything, where the driver cannot reach a GPU.
LOST = ("gpu is lost", "fallen off the bus", "gpu is not accessible")
NEEDS_RESET = ("gpu requires reset", "requires a reset")
# What stands in a field that the GPU does not answer for, without the brackets of some drivers.
NO_ANSWER = ("unknown error", "err!", *LOST, *NEEDS_RESET)

_NUMBER = re.compile(r"([0-9]{1,18})(?:\.[0-9]{1,6})?(?: ?[A-Za-z%()]{1,9})?")
_DEGREES = re.compile(r"(-?[0-9]{1,4}) ?C")
_DEVICE_ID = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{4})10[dD][eE]")
_BUS_ID = re.compile(r"(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?:\.([0-7]))?")
_BUS_ID_IN_LINE = re.compile(r"(?:[0-9A-Fa-f]{4}|[0-9A-Fa-f]{8}):[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]")
_INFOROM = "inforom is corrupted at gpu"
_HANDLES = ("unable to determine the device handle for", "unable to detect the device handle for")


@dataclass(frozen=True)
class Pcie:
    """The PCIe link of a GPU as the driver sees it; None where it was not shown as a number."""

    gen_max: int | None = None  # what GPU and host can do together
    gen: int | None = None  # falls while the GPU idles
    device_gen_max: int | None = None
    host_gen_max: int | None = None
    width_max: int | None = None
    width: int | None = None
    replays: int | None = None


@dataclass(frozen=True)
class Gpu:
    """One GPU. Texts as printed ("N/A" where the GPU has no such thing), "" where not shown.

    ``clocks_events``: what holds the clocks back, by name ("hw_slowdown": "Not Active"); None where
    not shown. ``fabric`` and ``fabric_health`` use the names of the XML ("state", "status",
    "cliqueId", "clusterUuid"; "summary", "bandwidth", ...), ``fabric_labels`` those of the text
    form, both in one. ``trouble``: "GPU is lost" and the like, where that stands for a value;
    ``sick``: fields for which it did not answer, by their names, with what stands there.
    ``whole``: its end was there, so that what was not shown is nothing that this driver shows.
    """

    bus_id: str = ""
    name: str = ""
    architecture: str = ""
    uuid: str = ""
    serial: str = ""
    minor: str = ""
    vbios: str = ""
    pci_device_id: str = ""  # four hexadecimal digits, lower case, without the vendor
    module_id: str = ""
    persistence: str = ""
    addressing_mode: str = ""
    virtualization: str = ""
    compute_mode: str = ""
    mig: str = ""
    mig_pending: str = ""
    recovery: str = ""
    reset_required: str = ""
    drain_recommended: str = ""
    memory_total_mib: int | None = None
    memory_used: str = ""
    programs: str = ""  # how many it lists
    bar1_total_mib: int | None = None
    bar1_used: str = ""
    utilization: str = ""
    pcie: Pcie = field(default_factory=Pcie)
    clocks_events: dict[str, str] | None = None
    power_limit: str = ""
    power_default: str = ""
    ecc: str = ""
    ecc_pending: str = ""
    volatile_sram: str = ""  # uncorrectable errors since the driver was loaded
    volatile_dram: str = ""
    aggregate_sram: str = ""  # uncorrectable errors in the GPU's life
    aggregate_dram: str = ""
    sram_threshold: str = ""
    channel_repair: str = ""
    tpc_repair: str = ""
    unrepairable: str = ""
    retired_single: str = ""
    retired_double: str = ""
    retired_pending: str = ""
    remapped_correctable: str = ""
    remapped_uncorrectable: str = ""
    remapped_pending: str = ""
    remapped_failure: str = ""
    banks_without_spare: str = ""
    fabric: dict[str, str] | None = None
    fabric_health: dict[str, str] | None = None
    fabric_labels: dict[str, str] | None = None
    subsystem: str = ""  # whose card it is, as printed
    performance: str = ""  # P0 is the fastest state
    app_graphics: str = ""  # application clocks, now and as they come
    default_app_graphics: str = ""
    temp: str = ""  # degrees Celsius; those of "margin" are how far below the first limit it is
    temp_most: str = ""
    temp_slowdown: str = ""
    temp_margin: str = ""
    temp_margin_most: str = ""
    temp_margin_slowdown: str = ""
    memory_temp: str = ""
    memory_temp_most: str = ""
    trouble: str = ""
    sick: tuple[tuple[str, str], ...] = ()
    whole: bool = True

    @property
    def address(self) -> str:
        """The PCI address as the kernel writes it: ``0000:8f:00.0``."""
        return address(self.bus_id)


@dataclass(frozen=True)
class Nvsmi:
    """All that was read. ``attached_gpus`` is what nvidia-smi counts, ``gpus`` what it describes.

    ``inforom``: bus ids of GPUs whose infoROM it calls corrupted. ``unreachable``: bus id and words
    for each GPU that it could not open.
    """

    driver: str = ""
    cuda: str = ""
    attached_gpus: int | None = None
    gpus: tuple[Gpu, ...] = ()
    inforom: tuple[str, ...] = ()
    unreachable: tuple[tuple[str, str], ...] = ()

    @property
    def excerpt(self) -> bool:
        """Whether this is no more than what a search for one section found."""
        return bool(self.gpus) and not self.driver and not any(gpu.bus_id for gpu in self.gpus)


@dataclass(frozen=True)
class Remarks:
    """What nvidia-smi says between the facts."""

    inforom: tuple[str, ...] = ()
    unreachable: tuple[tuple[str, str], ...] = ()


# The fields of Gpu that hold a text as it was printed.
_TEXTS = frozenset(field.name for field in fields(Gpu) if field.type == "str")


def gpu(
    texts: Mapping[str, str],
    clocks_events: dict[str, str] | None,
    fabric: dict[str, str] | None,
    fabric_health: dict[str, str] | None,
    fabric_labels: dict[str, str] | None = None,
    whole: bool = True,
    sick: Mapping[str, str] | None = None,
) -> Gpu:
    """A GPU from the texts that stood beside the names of its fields (and of Pcie's).

    ``sick``: by the names of the output, what stands in fields that it does not answer for.
    """
    sick = sick or {}
    known: dict[str, Any] = {name: text for name, text in texts.items() if name in _TEXTS}
    device = _DEVICE_ID.fullmatch(texts.get("device_id", ""))
    for kind in ("volatile", "aggregate"):
        known[kind + "_sram"] = _sum(texts, kind + "_sram", kind + "_parity", kind + "_secded")
        # GPUs before Turing count by bits and not by kind of memory.
        if not known.get(kind + "_dram") and kind + "_double_bit" in texts:
            known[kind + "_dram"] = texts[kind + "_double_bit"]
            known[kind + "_sram"] = known[kind + "_sram"] or NOT_THERE
    return Gpu(
        **known,
        pci_device_id=device.group(1).lower() if device else "",
        memory_total_mib=number(texts.get("memory_total", "")),
        bar1_total_mib=number(texts.get("bar1_total", "")),
        pcie=Pcie(**{field.name: number(texts.get("pcie_" + field.name, "")) for field in fields(Pcie)}),
        clocks_events=clocks_events,
        fabric=fabric,
        fabric_health=fabric_health,
        fabric_labels=fabric_labels,
        trouble=_trouble({**texts, **sick}),
        sick=tuple((name, text) for name, text in sick.items() if not _trouble({name: text})),
        whole=whole,
    )


def number(text: str) -> int | None:
    """``16`` of ``16x``, ``81559`` of ``81559 MiB``; None where it is no number."""
    match = _NUMBER.fullmatch(text)
    return int(match.group(1)) if match else None


def no_answer(text: str) -> bool:
    """Whether it stands for a value that the GPU did not give: ``[Unknown Error]``, ``ERR!``."""
    return text.strip("[] ").rstrip(".").lower() in NO_ANSWER


def degrees(text: str) -> int | None:
    """``-2`` of ``-2 C``; None where it is no temperature."""
    match = _DEGREES.fullmatch(text)
    return int(match.group(1)) if match else None


def count(text: str) -> int | None:
    """``8``; None where it is none."""
    try:
        return to_int(text)
    except ValueError:
        return None


def address(bus_id: str) -> str:
    """``0000:8f:00.0`` of ``00000000:8F:00.0``; what is no bus id stays as it is."""
    match = _BUS_ID.fullmatch(bus_id.strip())
    if match is None:
        return bus_id
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus}:{device}.{function or '0'}".lower()


def log(lines: list[str], driver: str, cuda: str, attached_gpus: str, gpus: tuple[Gpu, ...]) -> Nvsmi:
    """All that was read, from the texts of its fields and with the warnings between them."""
    said = remarks(lines)
    return Nvsmi(driver, cuda, count(attached_gpus), gpus, said.inforom, said.unreachable)


def no_facts(tool: str, lines: list[str], reason: str) -> ParseError:
    """The error for a text without facts, with its first lines as what nvidia-smi says instead."""
    return ground.no_facts(tool, lines, reason, said=tuple(line.strip() for line in lines if line.strip())[:5])


def remarks(lines: list[str]) -> Remarks:
    """The warnings of nvidia-smi, wherever they stand."""
    inforom: dict[str, None] = {}
    unreachable: dict[str, str] = {}
    for line in lines:
        small = line.lower()
        if _INFOROM in small:
            inforom[_bus_id(line)] = None
        elif any(sign in small for sign in _HANDLES):
            unreachable[_bus_id(line)] = line.strip()
    return Remarks(tuple(inforom), tuple(unreachable.items()))


def _bus_id(line: str) -> str:
    match = _BUS_ID_IN_LINE.search(line)
    return match.group() if match else ""


def _sum(texts: Mapping[str, str], whole: str, *parts: str) -> str:
    """The count of ``whole``, or of its parts together; what is no number stands for all."""
    if whole in texts:
        return texts[whole]
    total = 0
    for part in parts:
        text = texts.get(part, "")
        found = number(text)
        if found is None:
            return text
        total += found
    return str(total)


def _trouble(texts: Mapping[str, str]) -> str:
    """The worst thing that stands in place of a value."""
    small = {text.lower(): text for text in texts.values()}
    for bad in LOST + NEEDS_RESET:
        for text, printed in small.items():
            if bad in text:
                return printed
    return ""


def fabric_wrong(parsed: Nvsmi) -> tuple[str, ...]:
    """What nvidia-smi says against the NVLink fabric, a sentence a GPU; () where no fabric is shown."""
    found: list[str] = []
    for number, gpu in enumerate(parsed.gpus):
        fabric, health = gpu.fabric or {}, gpu.fabric_health or {}
        state, status = fabric.get("state", ""), fabric.get("status", "")
        summary = health.get("summary", "")
        if state.lower() == "completed" and status.lower() not in ("", "n/a", "success"):
            found.append(f"GPU {number}: its registration with the NVLink fabric failed: {status}")
        elif summary.lower() == "unhealthy":
            found.append(f"GPU {number}: the driver calls the NVLink fabric unhealthy")
    return tuple(found)
