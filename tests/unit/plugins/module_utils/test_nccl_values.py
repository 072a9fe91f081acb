# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import values
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, release
from ansible_collections.ibready.cluster.plugins.module_utils._parse.strtoll import number

few = settings(max_examples=300, deadline=None, database=None)


def made(name: str, value: str, version: str | None = None) -> values.Made:
    return values.made(name, value, release(version) if version else None)


def strtoll(text: str) -> tuple[int | None, str]:
    """What C makes of it: the number, None where it is out of range, and what follows."""
    libc = ctypes.CDLL(None, use_errno=True)
    # The one without the 0b of newer C, which the shipped libraries do not have either.
    function = libc.strtoll
    function.restype = ctypes.c_longlong
    function.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int]
    end = ctypes.c_char_p()
    data = text.encode("utf-8")
    ctypes.set_errno(0)
    value = function(data, ctypes.byref(end), 0)
    return (None if ctypes.get_errno() else value), (end.value or b"").decode("utf-8")


NUMBERS = st.one_of(
    st.text(alphabet="0123456789abcdefxX+- \t#,.\"'", max_size=25),
    st.integers(-(2**66), 2**66).map(str),
    st.integers(-(2**66), 2**66).map(lambda one: f"{one:#x}, {one}"),
    st.sampled_from((str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1))),
    st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
)


@few
@given(text=NUMBERS)
def test_a_number_is_read_as_the_c_library_reads_it(text: str) -> None:
    read = number(text)
    assert (read.value, read.rest) == strtoll(text)


@pytest.mark.parametrize("text", ["9" * 5000, "0x" + "f" * 5000, "0" * 5000 + "7"])
def test_a_very_long_number_costs_nothing(text: str) -> None:
    assert number(text).value in (None, 7)


@pytest.mark.parametrize(
    ("text", "effective", "kind"),
    [
        ("22", "22", ""),
        ("0x16", "22", ""),
        ("-1", "-1", "unusual-value"),
        (" 22 ", "22", ""),
        ("", "20", ""),
        ('"22"', "0", "word-for-integer"),
        ("true", "0", "word-for-integer"),
        ("yes", "0", "word-for-integer"),
        ("22 # c", "22", "integer-tail"),
        ("4M", "4", "integer-tail"),
        ("1.5", "1", "integer-tail"),
        ("0,3,5,7", "0", "list-for-integer"),
        ("3,5", "3", "list-for-integer"),
        ("024", "20", "octal"),
        ("9999999999999999999999", "20", "out-of-range"),
        ("32", "32", "unusual-value"),
    ],
)
def test_what_becomes_of_a_number(text: str, effective: str, kind: str) -> None:
    found = made("NCCL_IB_TIMEOUT", text)
    assert (found.effective, found.kind) == (effective, kind)
    assert bool(found.differs) == bool(kind)


def test_a_wrong_number_says_what_comes_of_it() -> None:
    assert "NCCL reads 0 (no timeout at all)" in made("NCCL_IB_TIMEOUT", '"22"').differs
    assert "InfiniBand and RoCE stay on" in made("NCCL_IB_DISABLE", "true").differs
    assert made("NCCL_IB_DISABLE", "yes").meant == "1"


def test_a_no_is_read_as_0_by_luck() -> None:
    assert made("NCCL_NVLS_ENABLE", "false").harmless
    assert not made("NCCL_IB_GID_INDEX", "none").harmless


@pytest.mark.parametrize(
    ("version", "default"),
    [("2.13.4", "14"), ("2.14.3", "18"), ("2.22.3", "18"), ("2.23.4", "20"), (None, "20")],
)
def test_an_empty_number_is_the_default_of_its_time(version: str | None, default: str) -> None:
    assert made("NCCL_IB_TIMEOUT", "", version) == values.Made(default)


@pytest.mark.parametrize("level", ["LOC", "PIX", "PXB", "PHB", "SYS"])
@pytest.mark.parametrize("name", ["NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL"])
def test_a_level_is_taken(name: str, level: str) -> None:
    assert made(name, level) == values.Made(level)


@pytest.mark.parametrize(
    ("name", "value", "effective", "harmless"),
    [
        ("NCCL_P2P_LEVEL", "NVL", "NVL", False),
        ("NCCL_NET_GDR_LEVEL", "NVL", "NVL", True),
        ("NCCL_NET_GDR_LEVEL", "phb", "PXB or P2C", False),
        ("NCCL_NET_GDR_LEVEL", '"PHB"', "PXB or P2C", False),
        ("NCCL_NET_GDR_LEVEL", "PHB ", "PXB or P2C", False),
        ("NCCL_NET_GDR_LEVEL", "C2C", None, True),
        ("NCCL_P2P_LEVEL", "99", "SYS", True),
    ],
)
def test_what_becomes_of_another_level(name: str, value: str, effective: str | None, harmless: bool) -> None:
    found = made(name, value)
    assert (found.effective, found.harmless) == (effective, harmless)
    assert bool(found.differs) == (value != "NVL" or name == "NCCL_NET_GDR_LEVEL")


@pytest.mark.parametrize("name", ["NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL"])
def test_the_numbers_that_the_guide_lists_are_levels(name: str) -> None:
    levels = [made(name, str(number)) for number in range(6)]
    assert levels == [values.Made(level) for level in ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")]


def test_before_2_6_a_level_is_a_number() -> None:
    assert made("NCCL_P2P_LEVEL", "2", "2.5.7") == values.Made("2")
    assert made("NCCL_P2P_LEVEL", "SYS", "2.5.7").kind == "word-for-integer"
    assert made("NCCL_NET_GDR_LEVEL", "phb", "2.21.5").effective == "PXB"


@pytest.mark.parametrize(
    ("name", "value", "effective", "right"),
    [
        ("NCCL_SOCKET_FAMILY", "AF_INET6", "AF_INET6", True),
        ("NCCL_SOCKET_FAMILY", "IPv6", "nothing", False),
        ("NCCL_IB_ADDR_FAMILY", "af_inet6", "AF_INET", False),
        ("NCCL_DEBUG", "info", "INFO", True),
        ("NCCL_DEBUG", "INFO,ENV", "none", False),
        ("NCCL_LAUNCH_MODE", "PARALLEL", "PARALLEL", True),
        ("NCCL_NET_MERGE_LEVEL", "NONE", None, False),
        ("NCCL_COMM_ID", "10.0.0.1:50000", "10.0.0.1:50000", True),
        ("NCCL_COMM_ID", "[fe80::1%eth0]:50000", "[fe80::1%eth0]:50000", True),
        ("NCCL_COMM_ID", "10.0.0.1", None, False),
        ("NCCL_IB_ADDR_RANGE", "10.0.0.0/8", "10.0.0.0/8", True),
        ("NCCL_IB_ADDR_RANGE", "10.0.0", None, False),
        ("NCCL_DEBUG_SUBSYS", "INIT,NET", "INIT,NET", True),
        ("NCCL_DEBUG_SUBSYS", "INIT, NET", None, False),
        ("NCCL_TOPO_FILE", "~/topo.xml", "~/topo.xml", False),
        ("NCCL_ALGO", "Ring", "Ring", True),
        ("NCCL_NO_SUCH", "anything", "anything", True),
    ],
)
def test_what_becomes_of_a_word(name: str, value: str, effective: str | None, right: bool) -> None:
    found = made(name, value)
    assert (found.effective, not found.differs) == (effective, right)


def test_a_word_of_later_is_none_yet() -> None:
    assert made("NCCL_DEBUG", "ATTN", "2.32.3").effective == "ATTN"
    assert "2.32.3 on" in made("NCCL_DEBUG", "ATTN", "2.31.2").differs


@pytest.mark.parametrize(
    ("version", "value", "effective"),
    [
        ("2.29.7", "true", "0"),
        ("2.30.7", "true", "true"),
        ("2.30.7", "1", "true"),
        ("2.30.7", "f", "false"),
        ("2.30.7", "yes", "false"),
        ("2.30.7", "1 # c", "false"),
    ],
)
def test_a_flag_that_became_typed(version: str, value: str, effective: str) -> None:
    assert made("NCCL_SET_THREAD_NAME", value, version).effective == effective


RELEASES = st.sampled_from((None, release("2.4.2"), release("2.18.3"), release("2.32.3")))
NUMERIC = ("NCCL_IB_TIMEOUT", "NCCL_IB_DISABLE", "NCCL_SET_THREAD_NAME")
WORDY = ("NCCL_P2P_LEVEL", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_TOPO_FILE", "X")
NAMES = st.sampled_from((*NUMERIC, *WORDY, "NCCL_COMM_ID", "NCCL_IB_ADDR_RANGE"))


@few
@given(name=NAMES, value=st.one_of(st.text(), NUMBERS), version=RELEASES)
def test_any_text_gives_an_answer(name: str, value: str, version: Release | None) -> None:
    found = values.made(name, value, version)
    assert bool(found.differs) == bool(found.kind)
