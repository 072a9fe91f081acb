# SPDX-License-Identifier: GPL-3.0-or-later
"""Each excuse is needed: two healthy parts differ in it, recorded ones where there are any. And none hides what a row
names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.host_leaves import PART_TOOLS
from ansible_collections.ibready.cluster.plugins.module_utils._data.leaf_excuses import EXCUSES, PASSING, WITHIN
from ansible_collections.ibready.cluster.plugins.module_utils._data.leaf_names import ROWS
from ansible_collections.ibready.cluster.plugins.module_utils._equals import compare, parts
from ansible_collections.ibready.cluster.plugins.module_utils._equals.compare import Part
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._parse import leaves
from tests.unit.corpus import CORPUS, text_of
from tests.unit.plugins.module_utils.test_equals import GPUS

RECORDINGS = Path(__file__).parents[3] / "recordings"
# By the manuals of nvidia-smi and mlxlink, which say what the value is; one part works, wears or has other optics.
BY_MANUAL = [
    ("nvidia-smi/fan_speed", "30 %", "42 %"),
    ("nvidia-smi/remapped_rows/remapped_row_corr", "0", "1"),
    ("nvidia-smi/retired_pages/double_bit_retirement/retired_pagelist", "", "0x1"),
    ("nvidia-smi/processes/process_info/pid", "nothing", "7194"),
    ("nvidia-smi/performance_state", "P0", "P2"),
    ("nvidia-smi/fabric/cliqueId", "0", "1"),
    ("nvidia-smi/mig_devices/mig_device/index", "nothing", "0"),
    ("nvidia-smi/gpu_recovery_action", "None", "Reset"),
    ("mlxlink/Module Info/Cable Type", "Optical Module (separated)", "Passive copper cable"),
    ("mlxlink/Troubleshooting Info/Status Opcode", "0", "1024"),
    ("mlxlink/Supported Info/Supported Cable Speed (Ext.)", "0x00000078 (NDR)", "0x00000038 (HDR)"),
    ("mlxlink/Physical Counters and BER Info/Raw Physical BER", "2E-9", "4E-9"),
    ("rdma/addresses", "10.2.1.5", "10.2.2.5"),
    ("mlxlink/Operational Info/Speed", "NDR", "HDR"),
    # The kernel's ABI documents of sysfs and ethtool(8): where a port is, what it counted, how it rests.
    ("PCI/current_link_speed", "2.5 GT/s PCIe", "32.0 GT/s PCIe"),
    ("PCI/resource/0x0000384000000000", "0x0000384000ffffff 0x000000000014220c", "nothing"),
    ("PCI/aer_dev_correctable/RxErr", "0", "3"),
    ("rdma/node_desc", "node1 mlx5_0", "node2 mlx5_0"),
    ("ethtool_stats/rx_packets", "1202934", "88124"),
    # nvidia-smi manual, "nvlink -e".
    ("nvlink_errors/Link 3 Replay Errors", "0", "1"),
    # IEEE 802.1AB: each port has its own neighbour.
    ("lldpctl/chassis/leaf2/id/value", "70:06:92:6e:33:02", "nothing"),
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
EVERY = BY_MANUAL + OF_HOSTS
WORDS = [word for words in EXCUSES.values() for word in words]
TOOLS = ("nvsmi_xml", *PART_TOOLS)


def healthy(tool: str) -> Iterator[str]:
    """The outputs of a tool that were recorded of healthy hosts."""
    for sidecar in (CORPUS / tool).glob("*.json"):
        if json.loads(sidecar.read_text()).get("verdict_hint") == "healthy":
            yield text_of(sidecar)
    yield from (path.read_text() for path in (RECORDINGS / tool).glob("*-healthy.txt"))


def parts_of(tool: str, text: str) -> list[Part]:
    """What a recorded output tells of each part, as of equals where it says that they are alike."""
    if tool == "nvsmi_xml":
        return parts.of(Told(text))  # type: ignore[arg-type]
    told = {id(block): block for block in leaves.of_blocks(text).values() if block}
    kinds = ("CA type", "vendor_part_id", "Link layer", "link_layer")
    return [
        Part((tool, *(block.get(key, "") for key in kinds)), str(at), (), {tool: block})
        for at, block in enumerate(told.values())
    ]


@cache
def recorded() -> dict[tuple[object, ...], set[str]]:
    """By kind of part and leaf, the values that healthy parts were seen to have."""
    found: dict[tuple[object, ...], set[str]] = {}
    for tool in TOOLS:
        for part in (part for text in healthy(tool) for part in parts_of(tool, text)):
            for source, text in part.texts.items():
                for path, value in text.items():
                    found.setdefault((part.kind, f"{source}/{path}"), set()).add(value)
    return found


def proved(word: str) -> bool:
    """Whether two healthy parts of one kind were recorded that differ in what this excuses."""
    differ = [str(leaf) for (_kind, leaf), values in recorded().items() if len(values) > 1]
    return any(re.search(word, compare.plain(leaf)) for leaf in differ)


@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus (set IBREADY_CORPUS)")
@pytest.mark.parametrize("word", WORDS)
def test_two_healthy_parts_differ_in_what_is_excused(word: str) -> None:
    """Recorded, where there are recordings that show it; by a manual, where there are none."""
    by_manual = [leaf for leaf, one, other in EVERY if one != other and re.search(word, compare.plain(leaf))]
    assert proved(word) or by_manual


@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus (set IBREADY_CORPUS)")
@pytest.mark.parametrize("leaf", [leaf for leaf, _one, _other in EVERY])
def test_a_manual_is_asked_where_no_recording_tells(leaf: str) -> None:
    assert not all(proved(word) for word in WORDS if re.search(word, compare.plain(leaf)))


@pytest.mark.parametrize("leaf", [leaf for leaf, _one, _other in EVERY])
def test_the_difference_is_excused(leaf: str) -> None:
    assert compare.excuse(leaf)


@pytest.mark.parametrize("word", PASSING)
def test_what_comes_and_goes_is_excused(word: str) -> None:
    assert any(re.search(word, compare.plain(leaf)) for leaf, one, other in EVERY if one != other)


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
    "rdma/pkeys/0",
    "net/mtu",
    "ibv_devinfo/phys_port_cnt/port/active_mtu",
    "ibstat/Firmware version",
    "PCI/sriov_numvfs",
    "nvlink_status/Link 3",
    "rdma/tc/1/traffic_class",
    "net/speed",
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

    def lost(self, *, missing: bool) -> list[str]:
        return []


@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus (set IBREADY_CORPUS)")
@pytest.mark.parametrize("tool", TOOLS)
def test_no_recorded_healthy_part_is_odd(tool: str) -> None:
    for text in healthy(tool):
        assert [(one.leaf, one.value, one.usual) for one in compare.outliers(parts_of(tool, text))] == []


@pytest.mark.skipif(not CORPUS.exists(), reason="no corpus (set IBREADY_CORPUS)")
def test_several_hosts_with_equal_parts_were_recorded() -> None:
    many = [len(parts_of(tool, text)) >= compare.LEAST for tool in TOOLS for text in healthy(tool)]
    assert sum(many) >= 10
