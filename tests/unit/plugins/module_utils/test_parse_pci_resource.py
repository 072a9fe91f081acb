# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import pci_resource
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_resource import Bar

EMPTY = "0x0000000000000000 0x0000000000000000 0x0000000000000000"
REGISTERS = "0x000038c000000000 0x000038c000ffffff 0x000000000014220c"
MEMORY = "0x000038a000000000 0x000038bfffffffff 0x000000000014220c"
IO = "0x0000000000003000 0x000000000000307f 0x0000000000040101"
UNSET = "0x0000000000000000 0x0000001fffffffff 0x000000002014220c"


def resource(*lines: str) -> str:
    return "\n".join([*lines, *[EMPTY] * (13 - len(lines))]) + "\n"


def test_memory_bars_are_told_with_size_and_place() -> None:
    assert pci_resource.parse(resource(REGISTERS, EMPTY, MEMORY, IO)) == (
        Bar(0x38C000000000, 16 << 20, True),
        Bar(0x38A000000000, 128 << 30, True),
    )


def test_a_bar_without_an_address_keeps_its_size_or_vanishes() -> None:
    assert pci_resource.parse(resource(UNSET)) == (Bar(0, 128 << 30, False),)
    assert pci_resource.parse(resource()) == ()


@pytest.mark.parametrize(
    ("text", "line_no"),
    [
        ("", 0),
        (resource(MEMORY)[:280], 5),
        (resource(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, MEMORY)[:336], 6),
        (resource("0x12 memory 0x200"), 1),
        (resource(MEMORY, "0x12"), 2),
        (resource("0x" + "f" * 17 + " 0x0 0x0"), 1),
    ],
)
def test_a_cut_or_strange_text_is_an_error_that_names_the_line(text: str, line_no: int) -> None:
    with pytest.raises(ParseError) as error:
        pci_resource.parse(text)
    assert error.value.line_no == line_no


@pytest.mark.parametrize(
    ("text", "speed"),
    [("2.5 GT/s", 2.5), ("8 GT/s", 8.0), ("32.0 GT/s PCIe\n", 32.0), ("64.0 GT/s PCIe", 64.0)],
)
def test_speeds_of_old_and_new_kernels(text: str, speed: float) -> None:
    assert pci_resource.speed(text) == speed


@pytest.mark.parametrize("text", ["Unknown", "Unknown speed", "", "7 GT/s", "32.0 GT/s PCIe x16"])
def test_no_speed(text: str) -> None:
    with pytest.raises(ValueError, match="no speed"):
        pci_resource.speed(text)


@pytest.mark.parametrize(("text", "width"), [("16\n", 16), ("1", 1), ("32", 32)])
def test_widths(text: str, width: int) -> None:
    assert pci_resource.width(text) == width


@pytest.mark.parametrize("text", ["0", "63", "255", "x16", "", "1" * 9])
def test_no_width(text: str) -> None:
    with pytest.raises(ValueError, match="no width"):
        pci_resource.width(text)


def test_error_counters_of_old_and_new_kernels() -> None:
    assert pci_resource.errors("RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3\n") == {
        "RxErr": 3,
        "BadTLP": 0,
        "TOTAL_ERR_COR": 3,
    }
    old = "Receiver Error 2\r\nReplay Timer Timeout 1\r\n\r\nTOTAL_ERR_COR 3\r\n".replace("\r\n\r\n", "\n")
    assert pci_resource.errors(old)["Replay Timer Timeout"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "no total"), ("RxErr 3\nBadTLP 0", "no total"), ("RxErr many\n", "not a counter")],
)
def test_counters_that_are_cut_or_strange(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        pci_resource.errors(text)


@given(st.text(max_size=300))
def test_any_text_is_facts_or_an_error(text: str) -> None:
    for read in (pci_resource.parse, pci_resource.errors, pci_resource.speed, pci_resource.width):
        with contextlib.suppress(ValueError):  # ParseError is one
            read(text)
