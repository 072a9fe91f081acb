# SPDX-License-Identifier: GPL-3.0-or-later
"""What mstflint says of a card, and what a site may ask for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.rdma import firmware
from ansible_collections.ibready.cluster.plugins.module_utils._act.rdma.firmware import Card, Image

# The form of mstflint 4.2x: what is on the flash runs, and what was written waits for a boot.
SAME = """\
Image type:            FS4
FW Version:            28.39.1002
FW Release Date:       12.11.2023
Product Version:       28.39.1002
Rom Info:              type=UEFI version=14.32.12 cpu=AMD64,AARCH64
                       type=PXE version=3.7.201 cpu=AMD64
Description:           UID                GuidsNumber
Base GUID:             b83fd20300aabbcc        4
Base MAC:              b83fd2aabbcc            4
Image VSD:             N/A
Device VSD:            N/A
PSID:                  MT_0000000838
Security Attributes:   secure-fw
"""
WAITS = SAME.replace("FW Release", "FW Version(Running):   28.38.1900\nFW Release", 1)
IMAGE = {"psid": "MT_0000000838", "version": "28.43.2026", "image": "fw.bin", "sha256": "a" * 64}


def test_what_the_flash_holds_is_told_from_what_runs() -> None:
    assert firmware.parse("d", SAME) == Card("d", "MT_0000000838", "28.39.1002", "28.39.1002")
    waits = firmware.parse("d", WAITS)
    assert (waits.flash, waits.running) == ("28.39.1002", "28.38.1900")
    assert waits.pending == "d (MT_0000000838) runs 28.38.1900, 28.39.1002 is on its flash"
    assert firmware.parse("d", SAME).pending == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-E- Cannot open Device: 0000:18:00.0. No such file or directory. MFE_CR_ERROR",
        SAME.replace("PSID:", "PSJD:"),
        SAME.replace("28.39.1002\nFW Rel", "N/A\nFW Rel"),
        WAITS.replace("28.38.1900", "none"),
    ],
)
def test_what_is_not_understood_is_no_answer(text: str) -> None:
    with pytest.raises(firmware.FirmwareError):
        firmware.parse("d", text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        firmware.parse("d", text)
    except firmware.FirmwareError:
        return


def test_a_card_is_behind_where_its_flash_differs_older_or_newer() -> None:
    asked = firmware.images([IMAGE])
    assert asked == (Image("MT_0000000838", "28.43.2026", "fw.bin", "a" * 64),)
    cards = [
        firmware.parse("d", SAME),
        Card("e", "MT_1", "1.1.1", "1.1.1"),
        Card("f", IMAGE["psid"], "28.99.1", "1.1.1"),
    ]
    told = firmware.with_wanted(cards, asked)
    assert [card.behind for card in told] == [
        "d (MT_0000000838) has 28.39.1002 instead of 28.43.2026",
        "",
        "f (MT_0000000838) has 28.99.1 instead of 28.43.2026",
    ]


@pytest.mark.parametrize(
    ("bent", "word"),
    [
        pytest.param({"psid": "../etc"}, "is no PSID", id="psid"),
        pytest.param({"version": "latest"}, "is no version", id="version"),
        pytest.param({"sha256": "A" * 64}, "is no sha256", id="sha256"),
        pytest.param({"image": ""}, "no file is named", id="no file"),
        pytest.param({"more": 1}, "say psid, version, image and sha256", id="another key"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_number(bent: dict[str, Any], word: str) -> None:
    with pytest.raises(firmware.FirmwareError, match="entry 2") as found:
        firmware.images([{**IMAGE, "psid": "MT_1"}, {**IMAGE, **bent}])
    assert word in str(found.value)


def test_two_images_for_a_board_are_refused() -> None:
    with pytest.raises(firmware.FirmwareError, match="named twice"):
        firmware.images([IMAGE, IMAGE])
