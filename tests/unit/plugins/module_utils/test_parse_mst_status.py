# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mst_status, names
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mst_status import MstDevice

SHORT = """MST modules:
------------
    MST PCI module is not loaded
    MST PCI configuration module loaded

MST devices:
------------
/dev/mst/mt4129_pciconf0         - PCI configuration cycles access.
                                   domain:bus:dev.fn=0000:18:00.0 addr.reg=88 data.reg=92
                                   Chip revision is: 00
/dev/mst/mt4129_pci_cr0          - PCI direct access.
                                   domain:bus:dev.fn=0000:18:00.0 bar=0xf7400000 size=0x100000
                                   Chip revision is: 00
"""
LONG = """MST modules:
------------
    MST PCI module is not loaded
    MST PCI configuration module is not loaded
PCI devices:
------------
DEVICE_TYPE             MST      PCI       RDMA            NET                       NUMA
NA                      NA       37:00.2   mlx5_3          net-net1,net-p1           0

ConnectX7(rev:0)        NA       37:00.0   mlx5_1                                    -1

BlueField2(rev:1)       /dev/mst/mt41686_pciconf0   82:00.0   net-ens1
                  1
"""


def test_the_short_listing_names_device_files() -> None:
    assert mst_status.facts(mst_status.parse(SHORT)) == {
        "devices": ["/dev/mst/mt4129_pciconf0", "/dev/mst/mt4129_pci_cr0"],
        "pciconf_loaded": True,
        "pci_loaded": False,
    }


def test_the_long_listing_gives_a_device_a_line_wrapped_ones_too() -> None:
    assert mst_status.parse(LONG).devices == (
        MstDevice("NA", "37:00.2", "mlx5_3", 0),
        MstDevice("NA", "37:00.0", "mlx5_1", -1),
        MstDevice("/dev/mst/mt41686_pciconf0", "82:00.0", "", 1),
    )


@pytest.mark.parametrize("bend", [str.splitlines, lambda text: [x.lstrip() for x in text.split("\n")]])
def test_lost_indentation_and_crlf_change_nothing(bend: object) -> None:
    lines = bend(SHORT)  # type: ignore[operator]
    assert mst_status.parse("\r\n".join(lines)) == mst_status.parse(SHORT)


def test_modules_that_are_not_loaded_are_no_error() -> None:
    text = "MST modules:\n------------\n    MST PCI module is not loaded\n"
    assert mst_status.facts(mst_status.parse(text)) == {"devices": [], "pci_loaded": False}


def test_the_tools_own_complaint_is_kept() -> None:
    parsed = mst_status.parse('MST modules:\n    -E- Unknown argument "--v"\n')
    assert parsed.error == '-E- Unknown argument "--v"'
    assert parsed.files == ()


@pytest.mark.parametrize("text", ["", "mst: command not found", "------------\n"])
def test_a_text_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        mst_status.parse(text)
    assert names.facts("mst_status", text)[0]["devices"] == []
