# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and sections of ``nvidia-smi -q``, in lower case, and the fields of Gpu that they fill."""

from __future__ import annotations

TOP = {"driver version": "driver", "cuda version": "cuda", "attached gpus": "attached_gpus"}
# Fields of Gpu by their key, which is in lower case here and says enough without its section.
KEYS = {
    "product name": "name",
    "product architecture": "architecture",
    "gpu uuid": "uuid",
    "serial number": "serial",
    "minor number": "minor",
    "vbios version": "vbios",
    "module id": "module_id",
    "device id": "device_id",
    "persistence mode": "persistence",
    "addressing mode": "addressing_mode",
    "virtualization mode": "virtualization",
    "compute mode": "compute_mode",
    "gpu recovery action": "recovery",
    "reset required": "reset_required",
    "drain and reset recommended": "drain_recommended",
    "sram threshold exceeded": "sram_threshold",
    "channel repair pending": "channel_repair",
    "tpc repair pending": "tpc_repair",
    "unrepairable memory": "unrepairable",
    "single bit ecc": "retired_single",
    "double bit ecc": "retired_double",
    "pending page blacklist": "retired_pending",
    "pending page retirement": "retired_pending",
    "remapping failure occurred": "remapped_failure",
    "replays since reset": "pcie_replays",
    "sub system id": "subsystem",
    "performance state": "performance",
}
# The same for keys that mean something only below their section.
SECTIONS: dict[str, dict[str, str]] = {
    "mig mode": {"current": "mig", "pending": "mig_pending"},
    "ecc mode": {"current": "ecc", "pending": "ecc_pending"},
    "volatile": {
        "sram uncorrectable": "volatile_sram",
        "sram uncorrectable parity": "volatile_parity",
        "sram uncorrectable sec-ded": "volatile_secded",
        "dram uncorrectable": "volatile_dram",
    },
    "aggregate": {
        "sram uncorrectable": "aggregate_sram",
        "sram uncorrectable parity": "aggregate_parity",
        "sram uncorrectable sec-ded": "aggregate_secded",
        "dram uncorrectable": "aggregate_dram",
    },
    "double bit volatile": {"total": "volatile_double_bit"},
    "double bit aggregate": {"total": "aggregate_double_bit"},
    "remapped rows": {
        "correctable error": "remapped_correctable",
        "uncorrectable error": "remapped_uncorrectable",
        "pending": "remapped_pending",
    },
    "bank remap availability histogram": {"none": "banks_without_spare"},
    "fb memory usage": {"total": "memory_total", "used": "memory_used"},
    "bar1 memory usage": {"total": "bar1_total", "used": "bar1_used"},
    "utilization": {"gpu": "utilization"},
    "gpu power readings": {
        "current power limit": "power_limit",
        "default power limit": "power_default",
    },
    "power readings": {"power limit": "power_limit", "default power limit": "power_default"},
    "temperature": {
        "gpu current temp": "temp",
        "gpu max operating temp": "temp_most",
        "gpu slowdown temp": "temp_slowdown",
        "gpu t.limit temp": "temp_margin",
        "gpu max operating t.limit temp": "temp_margin_most",
        "gpu slowdown t.limit temp": "temp_margin_slowdown",
        "memory current temp": "memory_temp",
        "memory max operating temp": "memory_temp_most",
    },
    "applications clocks": {"graphics": "app_graphics"},
    "default applications clocks": {"graphics": "default_app_graphics"},
    "pcie generation": {
        "max": "pcie_gen_max",
        "current": "pcie_gen",
        "device max": "pcie_device_gen_max",
        "host max": "pcie_host_gen_max",
    },
    "link width": {"max": "pcie_width_max", "current": "pcie_width"},
}
ECC_KINDS = ("volatile", "aggregate")
EVENTS = ("clocks event reasons", "clocks throttle reasons")
# What XML calls them, where lower case and underscores do not make it.
EVENT_NAMES = {"idle": "gpu_idle", "display_clock_setting": "display_clocks_setting"}
FABRIC_NAMES = {"CliqueId": "cliqueId", "ClusterUUID": "clusterUuid"}
# Sections that a GPU without such a thing shows as one line, and the fields that then hold it.
ABSENT = {
    "remapped rows": (
        "remapped_correctable",
        "remapped_uncorrectable",
        "remapped_pending",
        "remapped_failure",
        "banks_without_spare",
    ),
    "retired pages": ("retired_single", "retired_double", "retired_pending"),
    "ecc mode": ("ecc", "ecc_pending"),
    "mig mode": ("mig", "mig_pending"),
}
# A MIG device has sections of the same names as its GPU; with these its GPU goes on.
AFTER_MIG = ("accounting mode", "driver model", "serial number", "gpu uuid", "minor number", "pci")
# Sections of others than the GPU itself: of programs, and of the fabric, which has words of its own.
NOT_OF_GPU = ("fabric", "health", "processes", "accounted_processes", "accounted processes", "mig_devices")
LAST = "processes"  # what every driver shows last, or nearly so
PROGRAM = "process id"  # below it, of each
NO_PROGRAM = "none"
AFTER_FABRIC = (LAST, "capabilities")
# A line of these is no value that was wrapped.
HEADERS = frozenset((*SECTIONS, *EVENTS, *ABSENT, *AFTER_MIG, *AFTER_FABRIC, "fabric", "health", "mig device"))
