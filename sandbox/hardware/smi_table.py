# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole of ``nvidia-smi -q`` for one H100, once for both forms, text and XML.

A row is (XML tag, label, value); the value of a section is a list of rows. Names, order and
values are those of the real tool's output for an idle H100 SXM5 (driver 570 to 590).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from sandbox.hardware.board import Function

Row = tuple[str, str, Union[str, "Sequence[Row]"]]
_WIDTH = 50
_NO_CLUSTER = "00000000-0000-0000-0000-000000000000"
_EVENTS = (
    ("gpu_idle", "Idle", "Active"),
    ("applications_clocks_setting", "Applications Clocks Setting", "Not Active"),
    ("sw_power_cap", "SW Power Cap", "Not Active"),
    ("hw_slowdown", "HW Slowdown", "Not Active"),
    ("hw_thermal_slowdown", "HW Thermal Slowdown", "Not Active"),
    ("hw_power_brake_slowdown", "HW Power Brake Slowdown", "Not Active"),
    ("sync_boost", "Sync Boost", "Not Active"),
    ("sw_thermal_slowdown", "SW Thermal Slowdown", "Not Active"),
    ("display_clocks_setting", "Display Clock Setting", "Not Active"),
)
_SRAM_DRAM = (
    ("sram_correctable", "SRAM Correctable", "0"),
    ("sram_uncorrectable_parity", "SRAM Uncorrectable Parity", "0"),
    ("sram_uncorrectable_secded", "SRAM Uncorrectable SEC-DED", "0"),
    ("dram_correctable", "DRAM Correctable", "0"),
    ("dram_uncorrectable", "DRAM Uncorrectable", "0"),
)


def bus_id(function: Function) -> str:
    """As nvidia-smi writes it: a domain of eight digits, capitals."""
    return f"0000{function.address}".upper()


def gpu_uuid(node: str, index: int) -> str:
    """The same at every start, another on every node."""
    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{node}.gpu{index}.ibready.invalid')}"


def rows(
    function: Function,
    index: int,
    spec: Mapping[str, Any],
    version: str,
    *,
    node: str,
    persistence: bool,
    fabric: bool,
) -> list[Row]:
    """One GPU. ``version``: the driver's; ``fabric``: whether a fabric manager has set it up."""
    bus, device = function.address[5:7].upper(), function.address[8:10]
    generation, width = str(function.generation), f"{function.width}x"
    memory, bar1 = int(spec["memory_mib"]), int(spec["bar1_mib"])
    power = f"{spec['power_w']}.00 W"
    return [
        ("product_name", "Product Name", str(spec["name"])),
        ("product_brand", "Product Brand", "NVIDIA"),
        ("product_architecture", "Product Architecture", str(spec["architecture"])),
        ("persistence_mode", "Persistence Mode", "Enabled" if persistence else "Disabled"),
        ("addressing_mode", "Addressing Mode", "None"),
        ("mig_mode", "MIG Mode", _now("current_mig", "pending_mig", "Disabled")),
        ("driver_model", "Driver Model", _now("current_dm", "pending_dm", "N/A")),
        ("serial", "Serial Number", f"16530230{index:05d}"),
        ("uuid", "GPU UUID", gpu_uuid(node, index)),
        ("minor_number", "Minor Number", str(index)),
        ("vbios_version", "VBIOS Version", str(spec["vbios"])),
        (
            "gpu_virtualization_mode",
            "GPU Virtualization Mode",
            [
                ("virtualization_mode", "Virtualization Mode", "None"),
                ("host_vgpu_mode", "Host VGPU Mode", "N/A"),
            ],
        ),
        ("gpu_recovery_action", "GPU Recovery Action", "None"),
        ("gsp_firmware_version", "GSP Firmware Version", version),
        (
            "pci",
            "PCI",
            [
                ("pci_bus", "Bus", f"0x{bus}"),
                ("pci_device", "Device", f"0x{device}"),
                ("pci_domain", "Domain", f"0x{function.address[:4]}"),
                ("pci_device_id", "Device Id", f"0x{function.ids[2].upper()}10DE"),
                ("pci_bus_id", "Bus Id", bus_id(function)),
                (
                    "pci_gpu_link_info",
                    "GPU Link Info",
                    [
                        (
                            "pcie_gen",
                            "PCIe Generation",
                            [
                                ("max_link_gen", "Max", generation),
                                ("current_link_gen", "Current", generation),
                                ("device_current_link_gen", "Device Current", generation),
                                ("max_device_link_gen", "Device Max", generation),
                                ("max_host_link_gen", "Host Max", "N/A"),
                            ],
                        ),
                        (
                            "link_widths",
                            "Link Width",
                            [
                                ("max_link_width", "Max", width),
                                ("current_link_width", "Current", width),
                            ],
                        ),
                    ],
                ),
                ("replay_counter", "Replays Since Reset", "0"),
                ("replay_rollover_counter", "Replay Number Rollovers", "0"),
            ],
        ),
        ("performance_state", "Performance State", "P0"),
        (
            "clocks_event_reasons",
            "Clocks Event Reasons",
            [(f"clocks_event_reason_{tag}", label, value) for tag, label, value in _EVENTS],
        ),
        ("fb_memory_usage", "FB Memory Usage", _memory(memory, 0)),
        ("bar1_memory_usage", "BAR1 Memory Usage", _memory(bar1, 1)),
        ("compute_mode", "Compute Mode", "Default"),
        ("ecc_mode", "ECC Mode", _now("current_ecc", "pending_ecc", "Enabled")),
        ("ecc_errors", "ECC Errors", _ecc()),
        ("retired_pages", "Retired Pages", _retired()),
        ("remapped_rows", "Remapped Rows", _remapped()),
        ("temperature", "Temperature", [("gpu_temp", "GPU Current Temp", "34 C")]),
        (
            "gpu_power_readings",
            "GPU Power Readings",
            [
                ("power_draw", "Average Power Draw", "69.85 W"),
                ("current_power_limit", "Current Power Limit", power),
                ("requested_power_limit", "Requested Power Limit", power),
                ("default_power_limit", "Default Power Limit", power),
            ],
        ),
        ("fabric", "Fabric", _fabric(fabric)),
        ("processes", "Processes", "None"),
    ]


def _now(current: str, pending: str, value: str) -> list[Row]:
    return [(current, "Current", value), (pending, "Pending", value)]


def _memory(total: int, used: int) -> list[Row]:
    found = (("total", total), ("used", used), ("free", total - used))
    return [(tag, tag.capitalize(), f"{size} MiB") for tag, size in found]


def _ecc() -> list[Row]:
    return [
        ("volatile", "Volatile", list(_SRAM_DRAM)),
        (
            "aggregate",
            "Aggregate",
            [*_SRAM_DRAM, ("sram_threshold_exceeded", "SRAM Threshold Exceeded", "No")],
        ),
        ("channel_repair_pending", "Channel Repair Pending", "No"),
        ("tpc_repair_pending", "TPC Repair Pending", "No"),
        ("unrepairable_memory", "Unrepairable Memory", "No"),
    ]


def _retired() -> list[Row]:
    kinds = (
        ("multiple_single_bit_retirement", "Single Bit ECC"),
        ("double_bit_retirement", "Double Bit ECC"),
    )
    found: list[Row] = [(tag, label, "N/A") for tag, label in kinds]
    return [*found, ("pending_retirement", "Pending Page Blacklist", "N/A")]


def _remapped() -> list[Row]:
    banks = (("max", "2560"), ("high", "0"), ("partial", "0"), ("low", "0"), ("none", "0"))
    return [
        ("remapped_row_corr", "Correctable Error", "0"),
        ("remapped_row_unc", "Uncorrectable Error", "0"),
        ("remapped_row_pending", "Pending", "No"),
        ("remapped_row_failure", "Remapping Failure Occurred", "No"),
        (
            "row_remapper_histogram",
            "Bank Remap Availability Histogram",
            [(f"row_remapper_histogram_{tag}", tag.capitalize(), f"{count} bank(s)") for tag, count in banks],
        ),
    ]


def _fabric(done: bool) -> list[Row]:
    """An H100 tells no health; without a fabric manager it waits to be registered."""
    health = (
        ("summary", "Summary"),
        ("bandwidth", "Bandwidth"),
        ("route_recovery_in_progress", "Route Recovery in progress"),
        ("route_unhealthy", "Route Unhealthy"),
        ("access_timeout_recovery", "Access Timeout Recovery"),
        ("incorrect_configuration", "Incorrect Configuration"),
    )
    return [
        ("state", "State", "Completed" if done else "In Progress"),
        ("status", "Status", "Success" if done else "N/A"),
        ("cliqueId", "CliqueId", "0" if done else "N/A"),
        ("clusterUuid", "ClusterUUID", _NO_CLUSTER if done else "N/A"),
        ("health", "Health", [(tag, label, "N/A") for tag, label in health]),
    ]


def as_text(table: Sequence[Row], indent: int = 4) -> Iterator[str]:
    """The lines of ``nvidia-smi -q``."""
    for _tag, label, value in table:
        start = " " * indent + label
        if isinstance(value, str):
            yield f"{start:<{_WIDTH + 4}} : {value}"
        else:
            yield start
            yield from as_text(value, indent + 4)


def as_xml(table: Sequence[Row], indent: int = 2) -> Iterator[str]:
    """The lines of ``nvidia-smi -q -x``, which writes bus and ids without 0x."""
    tabs = "\t" * indent
    for tag, _label, value in table:
        if tag == "processes":
            yield f"{tabs}<processes>"
            yield f"{tabs}</processes>"
        elif tag.endswith("_bit_retirement"):
            yield f"{tabs}<{tag}>"
            yield f"{tabs}\t<retired_count>{value}</retired_count>"
            yield f"{tabs}</{tag}>"
        elif isinstance(value, str):
            yield f"{tabs}<{tag}>{value.removeprefix('0x')}</{tag}>"
        else:
            yield f"{tabs}<{tag}>"
            yield from as_xml(value, indent + 1)
            yield f"{tabs}</{tag}>"
