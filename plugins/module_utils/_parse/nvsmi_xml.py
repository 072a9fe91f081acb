# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi -q -x`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from .._ground.text import ParseError, clean_lines
from . import _nvsmi
from ._nvsmi import Gpu, Nvsmi, Pcie, address
from ._nvsmi_keys import ABSENT, NOT_OF_GPU

if TYPE_CHECKING:
    from xml.etree import ElementTree

__all__ = ["NOTHING", "Gpu", "Nvsmi", "Pcie", "address", "facts", "parse"]

_TOOL = "nvsmi_xml"
_BEGIN, _END = "<nvidia_smi_log", "</nvidia_smi_log>"
NOTHING: dict[str, Any] = {"driver": None, "cuda": None, "attached_gpus": None, "gpus": []}

# Fields of Gpu (and of what it is made from) by their place below <gpu>; the first that is there.
_PLACES: dict[str, tuple[str, ...]] = {
    "name": ("product_name",),
    "architecture": ("product_architecture",),
    "uuid": ("uuid",),
    "serial": ("serial",),
    "minor": ("minor_number",),
    "vbios": ("vbios_version",),
    "module_id": ("platformInfo/module_id", "module_id"),
    "device_id": ("pci/pci_device_id",),
    "persistence": ("persistence_mode",),
    "addressing_mode": ("addressing_mode",),
    "virtualization": ("gpu_virtualization_mode/virtualization_mode",),
    "compute_mode": ("compute_mode",),
    "mig": ("mig_mode/current_mig",),
    "mig_pending": ("mig_mode/pending_mig",),
    "recovery": ("gpu_recovery_action",),
    "reset_required": ("gpu_reset_status/reset_required",),
    "drain_recommended": ("gpu_reset_status/drain_and_reset_recommended",),
    "memory_total": ("fb_memory_usage/total",),
    "memory_used": ("fb_memory_usage/used",),
    "bar1_total": ("bar1_memory_usage/total",),
    "bar1_used": ("bar1_memory_usage/used",),
    "utilization": ("utilization/gpu_util",),
    "power_limit": ("gpu_power_readings/current_power_limit", "power_readings/power_limit"),
    "power_default": (
        "gpu_power_readings/default_power_limit",
        "power_readings/default_power_limit",
    ),
    "ecc": ("ecc_mode/current_ecc",),
    "ecc_pending": ("ecc_mode/pending_ecc",),
    "volatile_sram": ("ecc_errors/volatile/sram_uncorrectable",),
    "volatile_parity": ("ecc_errors/volatile/sram_uncorrectable_parity",),
    "volatile_secded": ("ecc_errors/volatile/sram_uncorrectable_secded",),
    "volatile_dram": ("ecc_errors/volatile/dram_uncorrectable",),
    "volatile_double_bit": ("ecc_errors/volatile/double_bit/total",),
    "aggregate_sram": ("ecc_errors/aggregate/sram_uncorrectable",),
    "aggregate_parity": ("ecc_errors/aggregate/sram_uncorrectable_parity",),
    "aggregate_secded": ("ecc_errors/aggregate/sram_uncorrectable_secded",),
    "aggregate_dram": ("ecc_errors/aggregate/dram_uncorrectable",),
    "aggregate_double_bit": ("ecc_errors/aggregate/double_bit/total",),
    "sram_threshold": ("ecc_errors/aggregate/sram_threshold_exceeded",),
    "channel_repair": ("ecc_errors/channel_repair_pending",),
    "tpc_repair": ("ecc_errors/tpc_repair_pending",),
    "unrepairable": ("ecc_errors/unrepairable_memory",),
    "retired_single": ("retired_pages/multiple_single_bit_retirement/retired_count",),
    "retired_double": ("retired_pages/double_bit_retirement/retired_count",),
    "retired_pending": ("retired_pages/pending_retirement", "retired_pages/pending_blacklist"),
    "remapped_correctable": ("remapped_rows/remapped_row_corr",),
    "remapped_uncorrectable": ("remapped_rows/remapped_row_unc",),
    "remapped_pending": ("remapped_rows/remapped_row_pending",),
    "remapped_failure": ("remapped_rows/remapped_row_failure",),
    "banks_without_spare": ("remapped_rows/row_remapper_histogram/row_remapper_histogram_none",),
    "pcie_gen_max": ("pci/pci_gpu_link_info/pcie_gen/max_link_gen",),
    "pcie_gen": ("pci/pci_gpu_link_info/pcie_gen/current_link_gen",),
    "pcie_device_gen_max": ("pci/pci_gpu_link_info/pcie_gen/max_device_link_gen",),
    "pcie_host_gen_max": ("pci/pci_gpu_link_info/pcie_gen/max_host_link_gen",),
    "pcie_width_max": ("pci/pci_gpu_link_info/link_widths/max_link_width",),
    "pcie_width": ("pci/pci_gpu_link_info/link_widths/current_link_width",),
    "pcie_replays": ("pci/replay_counter",),
    "subsystem": ("pci/pci_sub_system_id",),
    "performance": ("performance_state",),
    "app_graphics": ("applications_clocks/graphics_clock",),
    "default_app_graphics": ("default_applications_clocks/graphics_clock",),
    "temp": ("temperature/gpu_temp",),
    "temp_most": ("temperature/gpu_temp_max_gpu_threshold",),
    "temp_slowdown": ("temperature/gpu_temp_slow_threshold",),
    "temp_margin": ("temperature/gpu_temp_tlimit",),
    "temp_margin_most": ("temperature/gpu_temp_max_gpu_tlimit_threshold",),
    "temp_margin_slowdown": ("temperature/gpu_temp_slow_tlimit_threshold",),
    "memory_temp": ("temperature/memory_temp",),
    "memory_temp_most": ("temperature/gpu_temp_max_mem_threshold",),
}
# Elements that hold a plain "N/A" on a GPU without them, and the fields that then hold it.
_ABSENT = {
    **{section.replace(" ", "_"): fields for section, fields in ABSENT.items()},
    "ecc_errors": ("volatile_sram", "volatile_dram", "aggregate_sram", "aggregate_dram"),
}
_EVENTS = (
    ("clocks_event_reasons", "clocks_event_reason_"),
    ("clocks_throttle_reasons", "clocks_throttle_reason_"),
)
# XML forbids them, and a process may carry them in its name.
_CONTROL = {code: " " for code in range(32) if chr(code) not in "\t\n"}


def parse(text: str) -> Nvsmi:
    """Read the output of ``nvidia-smi -q -x``; raise ParseError where there is no whole XML."""
    lines = clean_lines(text)
    root = _log(lines)
    driver, cuda, attached_gpus = (_text(root, key) for key in ("driver_version", "cuda_version", "attached_gpus"))
    return _nvsmi.log(lines, driver, cuda, attached_gpus, tuple(_gpu(match) for match in root.findall("gpu")))


def elements(text: str) -> list[ElementTree.Element]:
    """The element of each GPU, for who reads all that is in it; ParseError as of parse."""
    return _log(clean_lines(text)).findall("gpu")


def _log(lines: list[str]) -> ElementTree.Element:
    whole = "\n".join(lines)
    begin, end = whole.find(_BEGIN), whole.find(_END)
    if begin < 0 or (0 <= end < begin):
        raise _nvsmi.no_facts(_TOOL, lines, "no XML log begins in this output")
    first_line = whole.count("\n", 0, begin) + 1
    # What stands before the root is left out: a DTD could only define entities.
    if "<!ENTITY" in whole[:begin]:
        raise ParseError(_TOOL, first_line, "", "its DTD defines entities")
    after = "" if end < 0 else whole[end + len(_END) :]
    if _BEGIN in after:
        line_no = whole.count("\n", 0, end + len(_END) + after.find(_BEGIN)) + 1
        raise ParseError(_TOOL, line_no, _BEGIN, "a second log begins here")
    xml = whole[begin:] if end < 0 else whole[begin : end + len(_END)]
    return _root(xml, first_line, lines)


def facts(parsed: Nvsmi) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "driver": parsed.driver or None,
        "cuda": parsed.cuda or None,
        "attached_gpus": parsed.attached_gpus,
        "gpus": [_gpu_facts(gpu) for gpu in parsed.gpus],
        "inforom_corrupted": list(parsed.inforom),
        "unreachable": [{"bus_id": bus_id, "said": said} for bus_id, said in parsed.unreachable],
    }


def _gpu_facts(gpu: Gpu) -> dict[str, Any]:
    reported: dict[str, Any] = {
        "bus_id": gpu.bus_id,
        "name": gpu.name,
        "uuid": gpu.uuid,
        "mig": gpu.mig or None,
        "fabric": gpu.fabric,
    }
    if gpu.fabric_health is not None:
        reported["fabric_health"] = gpu.fabric_health
    return reported


def _root(xml: str, first_line: int, lines: list[str]) -> ElementTree.Element:
    # Of use on a host with GPUs alone.
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(xml.translate(_CONTROL))
    except ElementTree.ParseError as exc:
        line_no = min(first_line + exc.position[0] - 1, len(lines))
        reason = str(exc).partition(":")[0]
        raise ParseError(_TOOL, line_no, lines[line_no - 1], f"not whole: {reason}") from exc
    except ValueError as exc:  # half a character
        raise ParseError(_TOOL, first_line, _BEGIN, str(exc)) from exc
    if root.tag != "nvidia_smi_log":
        raise ParseError(_TOOL, first_line, root.tag, "not the log of nvidia-smi")
    if root.find("driver_version") is None and root.find("gpu") is None:
        raise ParseError(_TOOL, first_line, _BEGIN, "it tells of no driver and no GPU")
    return root


def _gpu(element: ElementTree.Element) -> Gpu:
    texts = {"bus_id": element.get("id") or _text(element, "pci/pci_bus_id")}
    for tag, names in _ABSENT.items():
        found = element.find(tag)
        if found is not None and not len(found):
            texts.update(dict.fromkeys(names, _words(found)))
    for name, places in _PLACES.items():
        for place in places:
            found = element.find(place)
            if found is not None:
                texts[name] = _words(found)
                break
    programs = element.find("processes")
    if programs is not None:
        texts["programs"] = _words(programs) or str(len(programs.findall("process_info")))
    fabric = element.find("fabric")
    health = element.find("fabric/health")
    return _nvsmi.gpu(
        texts, _events(element), _children(fabric, but="health"), _children(health), sick=dict(_sick(element))
    )


def _sick(element: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Every field of the GPU itself, known or not, that holds no value but an error."""
    for child in element:
        if child.tag in NOT_OF_GPU:
            continue
        if len(child):
            yield from _sick(child)
        elif child.text and _nvsmi.no_answer(_words(child)):
            yield child.tag, _words(child)


def _events(element: ElementTree.Element) -> dict[str, str] | None:
    for tag, start in _EVENTS:
        found = element.find(tag)
        if found is not None and len(found):
            return {child.tag[len(start) :]: _words(child) for child in found if child.tag.startswith(start)}
    return None


def _children(element: ElementTree.Element | None, but: str = "") -> dict[str, str] | None:
    if element is None or not len(element):
        return None
    return {child.tag: _words(child) for child in element if child.tag != but}


def _text(element: ElementTree.Element, place: str) -> str:
    found = element.find(place)
    return "" if found is None else _words(found)


def _words(element: ElementTree.Element) -> str:
    return " ".join((element.text or "").split())
