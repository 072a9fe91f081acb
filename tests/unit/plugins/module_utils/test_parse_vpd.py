# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import struct

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import vpd


def resource(tag: int, body: bytes) -> bytes:
    return struct.pack("<BH", tag, len(body)) + body


def keyword(name: str, text: bytes) -> bytes:
    return name.encode() + bytes((len(text),)) + text


NAME = resource(0x82, b"NVIDIA ConnectX-7")
FIELDS = resource(0x90, keyword("PN", b"MCX750500B-0D00_FF ") + keyword("SN", b"MT25X\0\0"))
MARK = resource(0x91, keyword("VA", b"SW_MNG"))
END = b"\x78"


def test_product_data_of_an_hca() -> None:
    parsed = vpd.parse(NAME + FIELDS + END + b"SW_MNG beyond the end")
    assert parsed.name == "NVIDIA ConnectX-7"
    assert parsed.fields == {"PN": "MCX750500B-0D00_FF", "SN": "MT25X"}
    assert not parsed.is_switch_manager


@pytest.mark.parametrize(
    "data",
    [
        NAME + FIELDS + MARK + END,
        resource(0x82, b"CX7 SW_MNG") + END,
        NAME + resource(0x90, keyword("V1", b"x SW_MNG y")),
    ],
)
def test_the_way_to_nvlink_switches_is_marked(data: bytes) -> None:
    assert vpd.parse(data).is_switch_manager


def test_data_that_is_cut_gives_what_is_there() -> None:
    whole = NAME + FIELDS + END
    assert vpd.parse(whole[:-20]).name == "NVIDIA ConnectX-7"
    assert vpd.parse(whole[:10]).name == "NVIDIA"


@pytest.mark.parametrize("at", range(len(NAME)))
def test_the_beginning_of_a_name_is_no_name(at: int) -> None:
    with pytest.raises(ParseError, match=r"is cut|no name of a product"):
        vpd.product(NAME[:at])
    assert vpd.product(NAME) == vpd.product(NAME + FIELDS[:at]) == "NVIDIA ConnectX-7"


@pytest.mark.parametrize("data", [FIELDS + END, resource(0x82, b" \0 ") + FIELDS + END, b"", END])
def test_product_data_without_a_name(data: bytes) -> None:
    with pytest.raises(ParseError, match="no name of a product"):
        vpd.product(data)


@pytest.mark.parametrize("data", [b"", b"\0" * 256, b"\xff" * 256, END, b"\x82"])
def test_no_product_data(data: bytes) -> None:
    with pytest.raises(ParseError, match="no product data"):
        vpd.parse(data)
