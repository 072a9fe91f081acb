# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.hcas import HCAS
from ansible_collections.ibready.cluster.plugins.module_utils._rails import hcas


@pytest.mark.parametrize(
    ("ca_type", "firmware", "chip", "most"),
    [
        ("MT4129", "28.39.1002", "ConnectX-7", 400.0),
        ("MT41692", "32.39.3804", "BlueField-3", 400.0),
        ("MT4126", "28.37.1014", "ConnectX-7", 0.0),
        ("MT4126", "", "MT4126", 0.0),
        # No model is known by a number that nobody says.
        ("MT4126", "0.1.1", "MT4126", 0.0),
        ("MT4126", "1.1.1", "MT4126", 0.0),
        ("MT9999", "", "MT9999", 0.0),
        ("InfiniPath_QLE7340", "", "InfiniPath_QLE7340", 0.0),
        ("", "", "", 0.0),
        ("MT" + "9" * 40, "", "MT" + "9" * 40, 0.0),
    ],
)
def test_a_model_is_known_by_its_type_or_its_firmware(ca_type: str, firmware: str, chip: str, most: float) -> None:
    assert (hcas.chip(ca_type, firmware), hcas.most_gbps(ca_type)) == (chip, most)


def test_every_model_is_there_once_and_says_where_it_is_known_from() -> None:
    assert len({one.pci_id for one in HCAS}) == len(HCAS)
    assert len({one.name for one in HCAS}) == len(HCAS)
    for one in HCAS:
        assert one.source
        assert one.confidence in ("confirmed", "medium", "recalled")
        assert int(one.pci_id, 16)
