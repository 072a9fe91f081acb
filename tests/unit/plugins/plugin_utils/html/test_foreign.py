# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import text

EVERY = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("node1\ttab\nline", "node1\ttab\nline"),
        ("a\r\nb\rc", "a\nb\\x0dc"),
        ("\x00\x1b[31m\x7f\x85", "\\x00\\x1b[31m\\x7f\\x85"),
        ("exe\u202etxt\u2066", "exe\\u202etxt\\u2066"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("节点 π 🟢 <b>", "节点 π 🟢 <b>"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(said: str, shown: str) -> None:
    assert text(said) == shown


@given(EVERY)
def test_no_text_turns_hides_or_breaks_the_page(said: str) -> None:
    shown = text(said)
    shown.encode()
    for one in shown:
        assert one in "\n\t" or unicodedata.category(one) not in ("Cc", "Cs", "Zl", "Zp"), one
        assert unicodedata.bidirectional(one) not in (*("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),)


@given(EVERY)
def test_what_is_shown_is_shown_the_same_again(said: str) -> None:
    assert text(text(said)) == text(said)
