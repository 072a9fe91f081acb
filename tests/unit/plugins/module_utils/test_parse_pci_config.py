# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import pci_config, vpd
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_config import Config


def space(size: int = 4096, control: int = 0x5020, acs: int | None = 0x1D) -> bytearray:
    """A function with power management, PCI Express (128 << 1, 128 << 5) and ACS."""
    data = bytearray(4096)
    struct.pack_into("<HHHH", data, 0, 0x15B3, 0x1021, 0x0547, 0x0010)
    data[0x34] = 0x40
    data[0x40:0x42] = bytes((0x01, 0x60))
    data[0x60:0x62] = bytes((0x10, 0x00))
    struct.pack_into("<H", data, 0x68, control)
    struct.pack_into("<I", data, 0x100, 0x14810001)
    if acs is not None:
        struct.pack_into("<IHH", data, 0x148, 0x0001000D, 0x5F, acs)
    return data[:size]


def test_a_whole_space() -> None:
    assert pci_config.parse(bytes(space())) == Config(0x15B3, 4096, 256, 4096, 0x1D, aspm=0)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        pytest.param(64, Config(0x15B3, 64), id="without root"),
        pytest.param(256, Config(0x15B3, 256, 256, 4096, aspm=0), id="no extended space"),
        pytest.param(0x69, Config(0x15B3, 0x69), id="cut within the capability"),
        pytest.param(0x14A, Config(0x15B3, 0x14A, 256, 4096, aspm=0), id="cut within ACS"),
    ],
)
def test_a_space_that_is_cut(size: int, told: Config) -> None:
    parsed = pci_config.parse(bytes(space(size)))
    assert parsed == told
    assert parsed.header_only is (size == 64)
    assert parsed.extended is (size > 256)


@pytest.mark.parametrize(
    ("command", "off"),
    [(0x0543, ("bus mastering",)), (0x0545, ("memory decode",)), (0x0006, ())],
)
def test_what_the_command_register_switches_off(command: int, off: tuple[str, ...]) -> None:
    data = space()
    struct.pack_into("<H", data, 4, command)
    assert pci_config.parse(bytes(data)).off == off


def test_a_function_that_is_gone_reads_as_ones() -> None:
    parsed = pci_config.parse(b"\xff" * 4096)
    assert not parsed.answers
    assert parsed.max_payload is None


def test_no_capabilities_and_lists_that_go_round() -> None:
    plain = space()
    plain[6] = 0
    assert pci_config.parse(bytes(plain)).max_payload is None
    circle = space()
    circle[0x60] = 0x05
    circle[0x61] = 0x40
    struct.pack_into("<I", circle, 0x148, 0x14810001)
    assert pci_config.parse(bytes(circle)) == Config(0x15B3, 4096)


def test_a_null_capability_leads_on() -> None:
    data = space()
    struct.pack_into("<I", data, 0x100, 0x14800000)
    assert pci_config.parse(bytes(data)).acs == 0x1D


def test_less_than_a_header_is_no_space() -> None:
    with pytest.raises(ParseError, match="holds 63 bytes"):
        pci_config.parse(bytes(63))


@given(st.binary(max_size=600))
def test_any_bytes_are_facts_or_an_error(data: bytes) -> None:
    for parse in (pci_config.parse, vpd.parse):
        with contextlib.suppress(ParseError):
            parse(data)


@given(st.binary(min_size=64, max_size=64), st.binary(min_size=600, max_size=600))
def test_any_pointers_end(head: bytes, rest: bytes) -> None:
    pci_config.parse(head[:6] + b"\x10" + head[7:] + rest)
