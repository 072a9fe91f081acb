# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read back of a Spectrum-X host: configuration and register of an HCA, and its congestion control."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mstconfig, mstreg, spcx_cc
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mstconfig import Value
from ansible_collections.ibready.cluster.plugins.module_utils._parse.spcx_cc import Programs
from tests.unit.parsers import SAMPLES

CONFIG = (SAMPLES / "mstconfig.txt").read_text()
REGISTER = (SAMPLES / "mstreg.txt").read_text()
# As posted of a BlueField-3, asked without -e for one parameter.
NEXT_ALONE = """
Device #1:
----------

Device type:        BlueField3
Name:               900-9D3B6-00CV-A_Ax
Description:        NVIDIA BlueField-3 B3220 P-Series FHHL DPU; 200GbE (default mode) / NDR200 IB
Device:             bc:00.1

Configurations:                                          Next Boot
        ATS_ENABLED                                 False(0)
"""
# As the tests of NVIDIA's NIC configuration operator quote it: narrower columns, no name.
OLDER = """
Device #1:
----------

Device type:    ConnectX4
Device:         3b:00.0

Configurations:                              Default         Current         Next Boot
*        KEEP_IB_LINK_UP_P2                  False(0)        True(1)         True(1)
         ESWITCH_HAIRPIN_DESCRIPTORS         Array[0..7]     Array[0..7]     Array[0..7]
*        MEMIC_SIZE_LIMIT                    _256KB(1)       _256KB(1)       DISABLED(0)
The '*' shows parameters with next value different from default/current value.
"""


def test_now_and_next_are_read() -> None:
    values = mstconfig.parse(CONFIG).parameters
    assert values["USER_PROGRAMMABLE_CC"] == Value(0, 1, "False(0)")
    assert values["TX_SCHEDULER_LOCALITY_MODE"] == Value(2, 2, "ACCUMULATIVE(2)")
    assert values["ROCE_RTT_RESP_DSCP_P1"] == Value(48, 48, "48")
    assert values["LINK_TYPE_P1"] == Value(2, 2, "ETH(2)")  # RO stands before it
    assert values["PCI_ATOMIC_MODE"].now == 0  # a word as wide as its column
    assert values["MODULE_SPLIT_M0"] == Value(None, None, "Array[0..15]")


def test_other_columns_are_read() -> None:
    assert mstconfig.parse(NEXT_ALONE).parameters == {"ATS_ENABLED": Value(None, 0, "")}
    assert mstconfig.parse(OLDER).parameters["MEMIC_SIZE_LIMIT"] == Value(1, 0, "_256KB(1)")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("-E- Failed to open the device\n", id="the tool's complaint"),
        pytest.param(CONFIG.partition("Configurations")[0], id="cut before the first parameter"),
        pytest.param(CONFIG.replace("Device:  ", "Devils:  "), id="of no device"),
        pytest.param(CONFIG + CONFIG, id="of two devices"),
    ],
)
def test_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        mstconfig.parse(text)


def test_a_number_that_was_cut_is_left_out() -> None:
    at = CONFIG.index("48                   48") + len("48                   4")
    assert "ROCE_RTT_RESP_DSCP_P1" not in mstconfig.parse(CONFIG[:at]).parameters


def test_columns_that_do_not_fit_give_no_number() -> None:
    bent = CONFIG.replace("0                    48                   48 ", "0                    48 ")
    assert mstconfig.parse(bent).parameters["ROCE_RTT_RESP_DSCP_P1"] == Value()


@pytest.mark.parametrize("word", ["True(1", "1)", "(1)", "True()", "True(1))", "0x", "-1", "N/A", "Array[0..3]"])
def test_what_is_no_number_gives_none(word: str) -> None:
    bent = CONFIG.replace("True(1)              True(1)", f"True(1)              {word}", 1)
    assert mstconfig.parse(bent).parameters["ROCE_ADAPTIVE_ROUTING_EN"] == Value(1, None, "True(1)")


def test_two_values_of_one_name_are_refused() -> None:
    line = "        MULTIPATH_DSCP    DEVICE_DEFAULT(0)    {0}    {0}\n"
    same, other = CONFIG + line.format("DEVICE_DEFAULT(0)"), CONFIG + line.format("DSCP(1)")
    assert mstconfig.parse(same) == mstconfig.parse(CONFIG)
    with pytest.raises(ParseError, match="another value"):
        mstconfig.parse(other)
    rule = REGISTER.rstrip().splitlines()[-1]
    with pytest.raises(ParseError, match="another number"):
        mstreg.parse(REGISTER.rstrip()[: -len(rule)] + f"roce_tx_window_en | 0x00000000\n{rule}\n")


@given(st.integers(0, len(CONFIG)), st.sampled_from(["", "\n", " \n", "\x1b[0m\n"]))
def test_a_cut_configuration_shows_the_same_or_nothing(at: int, end: str) -> None:
    """However much is missing, and however the cut ends: no other number than that of the whole."""
    whole = mstconfig.parse(CONFIG).parameters
    try:
        cut = mstconfig.parse(CONFIG[:at] + end).parameters
    except ParseError:
        return
    for name, value in cut.items():
        if name in whole:
            assert value.now in (None, whole[name].now)
            assert value.next in (None, whole[name].next) or _in_a_number(at)


def _in_a_number(at: int) -> bool:
    """What ends within a number and has a line's end all the same is a number."""
    return CONFIG[at - 1].isdigit() and CONFIG[at].isdigit()


@given(st.integers(0, len(REGISTER)), st.sampled_from(["", "\n"]))
def test_a_cut_register_shows_the_same_or_nothing(at: int, end: str) -> None:
    try:
        cut = mstreg.parse(REGISTER[:at] + end).fields
    except ParseError:
        return
    assert cut == mstreg.parse(REGISTER).fields


def test_a_register_is_read() -> None:
    found = mstreg.parse(REGISTER).fields
    assert (found["adaptive_routing_forced_en"], found["roce_slow_restart_en"], len(found)) == (1, 0, 19)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("-E- Failed to send access register\n", "no register"),
        (REGISTER[:-62], "ends before its last line"),
        (REGISTER.replace("| 0x00000001", "| one", 1), "no field and its number"),
        (REGISTER.replace("roce_adp_retrans_en  ", "roce adp retrans en  ", 1), "no field and its number"),
    ],
)
def test_no_whole_register_is_refused(text: str, word: str) -> None:
    with pytest.raises(ParseError, match=word):
        mstreg.parse(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1 /sbin/init\n", Programs((), True)),
        ("3120 /lib/systemd/systemd --user\n", Programs((), False)),
        ("1 init\n7 doca_spcx_cc -d=mlx5_0\n", Programs(("mlx5_0",), True)),
        ("7 /opt/x/doca_spcx_cc --log 50 --device mlx5_1 -v\n", Programs(("mlx5_1",), False)),
        ("1 /lib/systemd/systemd --device mlx5_9\n", Programs((), True)),
    ],
)
def test_processes_are_read(text: str, found: Programs) -> None:
    assert spcx_cc.parse(text) == found


@pytest.mark.parametrize(
    "text", ["", "what\n", "7 doca_spcx_cc\n", "7 doca_spcx_cc --verbose\n", "1 init\n7 doca_spcx_cc -d mlx5_1"]
)
def test_no_list_of_processes_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        spcx_cc.parse(text)
