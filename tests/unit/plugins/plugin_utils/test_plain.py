# SPDX-License-Identifier: GPL-3.0-or-later
"""Strangers' texts for a terminal: bounded, and no line of theirs where Ansible's own begin."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import plain

LONG = "abcdefgh" * 8
ODD = st.lists(st.sampled_from([*"ab \t\n\r\x1b[0m\x9b\u202e\u2028\x85", "[ERROR]: "]), max_size=40).map("".join)


@given(text=ODD)
def test_of_a_block_the_first_line_alone_stands_at_the_edge(text: str) -> None:
    first, *lines = plain.block(text).split("\n")
    assert len(lines) == text.count("\n")
    assert all(line.isprintable() for line in (first, *lines))
    assert all(line == "" or line.startswith("    ") for line in lines)


@given(text=ODD)
def test_what_is_printed_has_ansible_s_colours_and_no_other_sequence(text: str) -> None:
    shown = plain._COLOR.sub("", plain.printed(text))
    assert all(letter.isprintable() or letter in "\n\t" for letter in shown)


@pytest.mark.parametrize(
    ("name", "most", "text", "shown"),
    [
        ("_LINES", 3, "a\nb\nc\nd\ne", "a\n    b\n    c\n    ... and 2 more lines"),
        ("_LONGEST", 60, f"a\n{LONG}", f"a\n    {LONG[:6]}... and 58 more characters"),
        ("_LONGEST", 60, LONG, f"{LONG[:10]}... and 54 more characters"),
    ],
)
def test_what_is_beyond_the_bounds_is_counted(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int, text: str, shown: str
) -> None:
    monkeypatch.setattr(plain, name, most)
    assert plain.block(text) == shown
    assert plain.block(shown) == shown


@given(text=ODD, spoken=st.sampled_from(["", "[WARNING]: ", "[ERROR]: "]))
def test_what_is_plain_stays_as_it_is(text: str, spoken: str) -> None:
    once = plain.printed(spoken + text)
    assert plain.printed(once) == once
    assert plain.block(plain.block(text)) == plain.block(text)
