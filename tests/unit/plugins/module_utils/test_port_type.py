# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.rdma import port_type
from ansible_collections.ibready.cluster.plugins.module_utils._act.rdma.port_type import PortType

# The form of mstconfig 4.2x, from its manual.
EXTENDED = """\

Device #1:
----------

Device type:        ConnectX7
Device:             0000:18:00.0

Configurations:                          Default             Current             Next Boot
*       LINK_TYPE_P1                     IB(1)               IB(1)               ETH(2)
        LINK_TYPE_P2                     IB(1)               IB(1)               IB(1)
The '*' shows parameters with next value different from default/current value.
"""
SHORT = """\
Configurations:                                          Next Boot
        LINK_TYPE_P1                                     ETH(2)
"""


def test_each_port_has_a_type_now_and_after_the_next_boot() -> None:
    assert port_type.parse("d", EXTENDED) == (
        PortType("d", 1, "IB", "ETH"),
        PortType("d", 2, "IB", "IB"),
    )
    assert port_type.parse("d", SHORT) == (PortType("d", 1, "", "ETH"),)


def test_a_card_of_one_type_has_no_ports_to_set() -> None:
    text = "-E- The Device doesn't support LINK_TYPE_P1 parameter"
    assert port_type.parse("d", text) == ()


@pytest.mark.parametrize("text", ["", "-E- Failed to open the device", "LINK_TYPE_P1  Array[0]"])
def test_what_is_not_understood_is_no_answer(text: str) -> None:
    with pytest.raises(port_type.PortTypeError):
        port_type.parse("d", text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        port_type.parse("d", text)
    except port_type.PortTypeError:
        return


def test_one_function_of_each_card_is_asked(tmp_path: Path) -> None:
    for name, vendor, device, kind in (
        ("0000:18:00.0", "0x15b3", "0x1021", "0x020700"),
        ("0000:18:00.1", "0x15b3", "0x1021", "0x020700"),
        # Virtual functions: of this host, and handed to it by the host below.
        ("0000:18:01.0", "0x15b3", "0x1021", "0x020700"),
        ("0000:19:00.0", "0x15b3", "0x101e", "0x020700"),
        ("0000:3a:00.0", "0x15b3", "0x101d", "0x020000"),
        ("0000:3b:00.0", "0x15b3", "0x1021", "0x060400"),
        ("0000:4a:00.0", "0x10de", "0x2330", "0x030200"),
    ):
        home = tmp_path / "sys/bus/pci/devices" / name
        home.mkdir(parents=True)
        (home / "vendor").write_text(f"{vendor}\n")
        (home / "device").write_text(f"{device}\n")
        (home / "class").write_text(f"{kind}\n")
    (tmp_path / "sys/bus/pci/devices/0000:18:01.0/physfn").symlink_to("../0000:18:00.0")
    assert port_type.devices(str(tmp_path)) == ["0000:18:00.0", "0000:3a:00.0"]
