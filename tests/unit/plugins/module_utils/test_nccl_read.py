# SPDX-License-Identifier: GPL-3.0-or-later
"""How nccl.conf is read, line by line and file by file. Tried with the real libraries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import release

# One before and one behind every change of how lines are read.
OLDER = ("2.7.8", "2.8.3", "2.18.3", "2.22.3", "2.23.4")
NEWER = ("2.25.1", "2.26.2", "2.29.7", "2.30.3", "2.32.3")
RELEASES = tuple(release(one) for one in (*OLDER, *NEWER))
OLD, COMMENTS, NEW = release("2.18.3"), release("2.26.2"), release("2.32.3")
few = settings(max_examples=200, deadline=None, database=None)


def sets(text: str, version: conf.Release) -> dict[str, str]:
    return conf.settings(text, version)


@pytest.mark.parametrize("version", [OLD, COMMENTS, NEW])
@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("NCCL_X=1", "NCCL_X", "1"),
        (" NCCL_X=1", " NCCL_X", "1"),
        ("NCCL_X = 1", "NCCL_X ", " 1"),
        ("export NCCL_X=1", "export NCCL_X", "1"),
        ("NCCL_X=1 # note", "NCCL_X", "1 # note"),
        ('NCCL_X="a"', "NCCL_X", '"a"'),
        ("NCCL_X=a  ", "NCCL_X", "a  "),
        ("NCCL_X==ens1f0", "NCCL_X", "=ens1f0"),
        ("NCCL_X=", "NCCL_X", ""),
        ("NCCL_X=${HOME}\\", "NCCL_X", "${HOME}\\"),
        (" # NCCL_X=1", " # NCCL_X", "1"),
        ("NCCL_X=a\0b", "NCCL_X", "a"),
        ("NCCL_X=\udcff", "NCCL_X", "\udcff"),
    ],
)
def test_a_line_sets_what_stands_on_either_side_of_the_first_equals(
    line: str, name: str, value: str, version: conf.Release
) -> None:
    assert sets(line + "\n", version) == {name: value}
    assert sets(line, version) == {name: value}, "the last line needs no newline"


@pytest.mark.parametrize("version", [OLD, COMMENTS, NEW])
@pytest.mark.parametrize("line", ["", " ", "NCCL_X", "[section]", "NCCL_X: 1", "=1", "\0NCCL_X=1"])
def test_a_line_without_name_or_equals_sets_nothing_and_says_why(line: str, version: conf.Release) -> None:
    (read,) = conf.parse(f"{line}\n", version)
    assert (read.name, read.value, read.raw) == (None, None, line)
    assert read.why


def test_a_comment_is_one_from_2_26_on() -> None:
    assert sets("#X=1\n", release("2.25.1")) == {"#X": "1"}
    assert sets("# note\n#\n", release("2.25.1")) == {}
    assert sets("#X=1\n", COMMENTS) == {}
    assert conf.parse("# a\n", COMMENTS)[0].why == "a comment"


def test_a_carriage_return_stays_up_to_2_29() -> None:
    assert sets("NCCL_X=a\r\nNCCL_Y=b\r\n", release("2.29.7")) == {"NCCL_X": "a\r", "NCCL_Y": "b\r"}
    assert sets("NCCL_X=a\r\nNCCL_Y=b\r", release("2.30.3")) == {"NCCL_X": "a", "NCCL_Y": "b"}
    assert sets("NCCL_X=a\r\r\n", NEW) == {"NCCL_X": "a\r"}, "one of them only"


def test_the_first_line_wins_and_the_later_ones_say_which() -> None:
    lines = conf.parse("NCCL_X=1\nNCCL_Y=2\nNCCL_X=3\n", NEW)
    assert [(one.number, one.value, one.first) for one in lines] == [
        (1, "1", 0),
        (2, "2", 0),
        (3, "3", 1),
    ]
    assert sets("NCCL_X=1\nNCCL_X=3\n", NEW) == {"NCCL_X": "1"}


@pytest.mark.parametrize("version", [release("2.8.3"), OLD, NEW])
def test_a_value_is_cut_after_1023_bytes(version: conf.Release) -> None:
    assert sets(f"NCCL_X={'a' * 1023}\n", version) == {"NCCL_X": "a" * 1023}
    assert sets(f"NCCL_X={'a' * 1024}\n", version) == {"NCCL_X": "a" * 1023}
    # Bytes, and not characters.
    assert sets(f"NCCL_X={'ä' * 512}\n", version) == {"NCCL_X": "ä" * 511 + "\udcc3"}


def test_before_2_8_a_value_of_1024_bytes_is_undefined() -> None:
    (line,) = conf.parse(f"NCCL_X={'a' * 1024}", release("2.7.8"))
    assert (line.name, line.undefined) == (None, True)
    assert sets(f"NCCL_X={'a' * 1023}", release("2.7.8"))


def test_a_name_is_cut_after_1023_bytes_and_undefined_before_2_23() -> None:
    text = f"{'N' * 1024}=1\n"
    assert sets(text, release("2.23.4")) == {"N" * 1023: "1"}
    (line,) = conf.parse(text, release("2.22.3"))
    assert (line.name, line.undefined) == (None, True)
    assert sets(f"{'N' * 1023}=1\n", release("2.22.3")) == {"N" * 1023: "1"}


def test_from_2_30_a_long_line_goes_on_as_another_line() -> None:
    text = f"#{'x' * 4094}NCCL_X=1\nNCCL_Y=2\n"
    assert sets(text, release("2.29.7")) == {"NCCL_Y": "2"}
    assert sets(text, release("2.30.3")) == {"NCCL_X": "1", "NCCL_Y": "2"}
    assert [one.number for one in conf.parse(text, release("2.30.3"))] == [1, 1, 2]


@pytest.mark.parametrize("size", [4094, 4095, 4096])
def test_the_piece_of_4095_bytes_counts_the_newline(size: int) -> None:
    # 4095 bytes fill a piece, and the newline is read as an empty line.
    lines = conf.parse("#" * size + "\nNCCL_Y=2\n", release("2.30.3"))
    assert [len(one.raw) for one in lines] == {
        4094: [4094, 8],
        4095: [4095, 0, 8],
        4096: [4095, 1, 8],
    }[size]


def test_the_order_of_the_files_by_release() -> None:
    own, home = {"HOME": "/home/a"}, "/root"
    named = {**own, "NCCL_CONF_FILE": "/x/nccl.conf"}
    system = "/etc/nccl.conf"
    assert conf.paths(own, home, release("2.29.7")) == ("/root/.nccl.conf", system)
    assert conf.paths(own, home, release("2.30.3")) == ("/home/a/.nccl.conf", system)
    assert conf.paths(named, home, release("2.22.3")) == ("/root/.nccl.conf", system)
    assert conf.paths(named, home, release("2.23.4")) == ("/x/nccl.conf", system)
    assert conf.paths({**own, "NCCL_CONF_FILE": ""}, home, NEW) == ("/home/a/.nccl.conf", system)
    assert conf.paths({}, home, NEW) == (system,)
    assert conf.paths({}, "", OLD) == (system,)


def test_the_environment_goes_before_the_users_file_and_that_before_the_systems() -> None:
    environment = {"NCCL_A": "env", "NCCL_EMPTY": "", "HOME": "/root", "OTHER": "env"}
    files = (
        ("/root/.nccl.conf", "NCCL_A=user\nNCCL_B=user\nNCCL_B=again\nOTHER=user\n"),
        ("/etc/nccl.conf", "NCCL_EMPTY=1\nNCCL_B=etc\nNCCL_C=etc\n"),
    )
    found = conf.effective(environment, files, NEW)
    assert {name: one.value for name, one in found.items()} == {
        "NCCL_A": "env",
        "NCCL_B": "user",
        "NCCL_C": "etc",
        "NCCL_EMPTY": "",
        "OTHER": "env",
    }
    assert found["NCCL_B"].place == conf.Place("/root/.nccl.conf", 2, "user")
    assert found["NCCL_B"].hides == (
        conf.Place("/root/.nccl.conf", 3, "again"),
        conf.Place("/etc/nccl.conf", 2, "etc"),
    )
    assert found["NCCL_EMPTY"].place == conf.Place(conf.ENVIRONMENT, 0, "")
    assert found["NCCL_EMPTY"].hides == (conf.Place("/etc/nccl.conf", 1, "1"),)


FOREIGN = st.one_of(
    st.text(max_size=200),
    st.binary(max_size=200).map(conf.as_text),
    st.lists(
        st.sampled_from(("NCCL_X", "=", "#", "\n", "\r\n", " ", "\0", "1", "a" * 1020, "b" * 4000)),
        max_size=30,
    ).map("".join),
)


@few
@given(text=FOREIGN, version=st.sampled_from(RELEASES))
def test_no_text_is_too_strange(text: str, version: conf.Release) -> None:
    lines = conf.parse(text, version)
    assert all(len(conf.as_bytes(one.name or "")) <= 1023 for one in lines)
    assert all(len(conf.as_bytes(one.value or "")) <= 1023 for one in lines)
    assert all((one.name is None) == (one.value is None) == bool(one.why) for one in lines)
    numbers = [one.number for one in lines]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == text.count("\n") + (not text.endswith("\n") and text != "")


@few
@given(data=st.binary(max_size=300))
def test_every_byte_of_a_file_comes_back(data: bytes) -> None:
    assert conf.as_bytes(conf.as_text(data)) == data
    lines = conf.parse(conf.as_text(data), OLD)
    ended = b"\n" if data.endswith(b"\n") else b""
    assert b"\n".join(conf.as_bytes(one.raw) for one in lines) + ended == data or not data


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.23.4", (2, 23, 4)), ("2.23.4-1+cuda12.6", (2, 23, 4)), ("1:2.28.3-1", (2, 28, 3))],
)
def test_a_release_is_read_from_a_packages_version(text: str, numbers: conf.Release) -> None:
    assert release(text) == numbers


@pytest.mark.parametrize("text", ["", "2.23", "newest"])
def test_half_a_release_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="no release of NCCL"):
        release(text)
