# SPDX-License-Identifier: GPL-3.0-or-later
"""Each excuse is needed: two healthy equal parts differ in it. And none hides what a row names."""

from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.leaf_excuses import EXCUSES, WITHIN
from ansible_collections.ibready.cluster.plugins.module_utils._data.leaf_names import ROWS
from ansible_collections.ibready.cluster.plugins.module_utils._equals import compare, parts
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from tests.unit.corpus import CORPUS
from tests.unit.plugins.module_utils.test_equals import GPUS

# A leaf, and what two healthy parts of one host have. Recorded: eight H100, eight B200, four GB200 and GB300.
RECORDED = [
    ("nvidia-smi/board_id", "0x8f00", "0x9000"),
    ("nvidia-smi/board_part_number", "692-2G520-0200-000", "965-2G520-A800-000"),
    ("nvidia-smi/clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap", "770461242 us", "0 us"),
    ("nvidia-smi/gpu_memory_power_readings/average_power_draw", "22.33 W", "21.36 W"),
    ("nvidia-smi/inforom_bbx_flush/latest_duration", "61655 us", "60789 us"),
    ("nvidia-smi/inforom_bbx_flush/latest_timestamp", "2026/08/20 23:33:00.497", "2026/08/20 23:32:58.037"),
    ("nvidia-smi/minor_number", "0", "1"),
    ("nvidia-smi/pci/pci_bus", "8F", "90"),
    ("nvidia-smi/pdi", "0x0000000000000001", "0x0000000000000003"),
    ("nvidia-smi/platformInfo/gpu_fabric_guid", "0x0000000000000002", "0x0000000000000004"),
    ("nvidia-smi/pci/replay_counter", "150", "144"),
    ("nvidia-smi/pci/rx_util", "869 KB/s", "868 KB/s"),
    ("nvidia-smi/serial", "1650000000001", "1650000000002"),
    ("nvidia-smi/temperature/gpu_temp", "39 C", "53 C"),
    ("nvidia-smi/uuid", "GPU-00000000-0000-0000-0000-000000000000", "GPU-00000001-0000-0000-0000-000000000001"),
]
# By the manuals of nvidia-smi and mlxlink, which say what the value is; one part works, wears or has other optics.
BY_MANUAL = [
    ("nvidia-smi/fan_speed", "30 %", "42 %"),
    ("nvidia-smi/ecc_errors/aggregate/dram_correctable", "0", "3"),
    ("nvidia-smi/remapped_rows/remapped_row_corr", "0", "1"),
    ("nvidia-smi/retired_pages/double_bit_retirement/retired_pagelist", "", "0x1"),
    ("nvidia-smi/fb_memory_usage/used", "0 MiB", "70412 MiB"),
    ("nvidia-smi/fb_memory_usage/free", "81559 MiB", "11147 MiB"),
    ("nvidia-smi/processes/process_info/pid", "nothing", "7194"),
    ("nvidia-smi/clocks/sm_clock", "345 MHz", "1980 MHz"),
    ("nvidia-smi/performance_state", "P0", "P2"),
    ("nvidia-smi/clocks_event_reasons/clocks_event_reason_gpu_idle", "Active", "Not Active"),
    ("nvidia-smi/fabric/cliqueId", "0", "1"),
    ("nvidia-smi/mig_devices/mig_device/index", "nothing", "0"),
    ("nvidia-smi/pci/pci_gpu_link_info/pcie_gen/current_link_gen", "5", "1"),
    ("nvidia-smi/gpu_recovery_action", "None", "Reset"),
    ("mlxlink/Module Info/Cable Type", "Optical Module (separated)", "Passive copper cable"),
    ("mlxlink/Troubleshooting Info/Status Opcode", "0", "1024"),
    ("mlxlink/Supported Info/Supported Cable Speed (Ext.)", "0x00000078 (NDR)", "0x00000038 (HDR)"),
    ("mlxlink/Physical Counters and BER Info/Raw Physical BER", "2E-9", "4E-9"),
    ("mlxlink/Operational Info/State", "Active", "Polling"),
    ("rdma/state", "4: ACTIVE", "1: DOWN"),
    ("rdma/addresses", "10.2.1.5", "10.2.2.5"),
]
# Of two hosts, by the kernel's documents, machine-id(5) and timedatectl(1).
OF_HOSTS = [
    ("/etc/machine-id", "4c4c4544003957108035b4c04f564d31", "4c4c4544003957108035b4c04f564d32"),
    ("/proc/sys/kernel/hostname", "node1", "node2"),
    ("/etc/os-release/VERSION", "24.04.2 LTS (Noble Numbat)", "24.04.3 LTS (Noble Numbat)"),
    ("/proc/cpuinfo/cpu MHz", "2000.000", "3799.998"),
    ("timedatectl/TimeUSec", "Thu 2025-11-20 13:00:00 UTC", "Thu 2025-11-20 13:00:04 UTC"),
    ("timedatectl/NTPSynchronized", "yes", "no"),
    ("/sys/class/net/eth0/carrier", "1", "0"),
    ("/sys/class/net/eth0/operstate", "up", "down"),
    ("/sys/class/net/eth0/dev_port", "0", "1"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000", "3800000"),
    ("/proc/sys/kernel/osrelease", "6.8.0-88-generic", "6.8.0-71-generic"),
    ("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_total_time_ms", "0", "17"),
]
EVERY = RECORDED + BY_MANUAL + OF_HOSTS
WORDS = [word for words in EXCUSES.values() for word in words]


@pytest.mark.parametrize("word", WORDS)
def test_two_healthy_parts_differ_in_what_is_excused(word: str) -> None:
    assert any(re.search(word, compare.plain(leaf)) for leaf, one, other in EVERY if one != other)


@pytest.mark.parametrize("leaf", [leaf for leaf, _one, _other in EVERY])
def test_the_difference_is_excused(leaf: str) -> None:
    assert compare.excuse(leaf)


NAMED = [
    "mlxlink/Operational Info/Loopback Mode",
    "mlxlink/Operational Info/FEC",
    "mlnx_qos/buffer",
    "mlnx_qos/Receive buffer size (bytes)",
    "mlnx_qos/tc 3",
    "mlnx_qos/DCBX mode",
    "rdma/sm_lid",
    "nvidia-smi/clocks/mem_clock",
    "nvidia-smi/clocks/graphics_clock",
    "nvidia-smi/gpu_power_readings/default_power_limit",
    "rdma/interfaces",
    "PCI config/device control",
    "mlnx_qos/prio 3",
    *(f"nvidia-smi/{leaf}" for leaf in GPUS),
    "/sys/class/net/eth0/speed",
    "/proc/cpuinfo/microcode",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
    "/sys/module/nvidia/version",
    "/sys/module/mlx5_core/version",
    "mlnx_qos/Priority trust state",
    "timedatectl/NTP",
]


# What was hidden by a part of a word: "count" of accounting.
@pytest.mark.parametrize("leaf", ["nvidia-smi/accounting_mode", "nvidia-smi/accounting_mode_buffer_size"])
def test_no_part_of_a_word_excuses(leaf: str) -> None:
    assert not compare.excuse(leaf)


# It is at both ends of a direct cable, and of a splitter at more.
def test_the_number_of_a_cable_is_no_identity() -> None:
    assert compare.excuse("mlxlink/Module Info/Vendor Serial Number") == "told elsewhere"


@pytest.mark.parametrize("leaf", NAMED)
def test_no_excuse_hides_what_a_row_names(leaf: str) -> None:
    assert leaf in WITHIN or not compare.excuse(leaf)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.leaf))
def test_a_row_names_a_leaf_that_there_is(row: object) -> None:
    assert any(re.fullmatch(row.leaf, compare.plain(leaf)) for leaf in NAMED)  # type: ignore[attr-defined]


class Told:
    """What nvidia-smi said, as Cached has it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def answers(self) -> list[tuple[tuple[str, ...], object]]:
        return [(("run", "nvsmi_xml"), Output(0, self.text, ""))]


HOSTS = sorted(
    path for path in (CORPUS / "nvsmi_xml").glob("*.txt") if path.read_text(errors="replace").count("<gpu id") > 3
)


@pytest.mark.skipif(not HOSTS, reason="no corpus (set IBREADY_CORPUS)")
def test_recorded_healthy_hosts_have_no_odd_gpu() -> None:
    assert len(HOSTS) >= 5
    for path in HOSTS:
        gpus = parts.of(Told(path.read_text(errors="replace")), parts.GPU)  # type: ignore[arg-type]
        assert len(gpus) >= 4, path.name
        assert [(one.leaf, one.value) for one in compare.outliers(gpus)] == [], path.name
