# SPDX-License-Identifier: GPL-3.0-or-later
"""A text without a pattern's words does not match it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._data.pasted_words import WORDS as PASTED
from ansible_collections.ibready.cluster.plugins.module_utils._ground import literal

PATTERNS = sorted({row.pattern for row in nccl_log.KNOWN})


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"one \d+ twenty", (" twenty",)),
        (r"(?:abc|def)\d", ("abc", "def")),
        (r"abc|\d", ()),
        (r"x(?:abcd)?", ()),
        (r"(?:abcd)+", ("abcd",)),
        (r"(?i)abcd", ()),
        (r"(?i:abcd)", ()),
        (r"a\.b c", ("a.b c",)),
    ],
)
def test_words_of_a_pattern(pattern: str, words: tuple[str, ...]) -> None:
    assert literal.words(pattern) == words


def test_every_message_of_nccl_has_words() -> None:
    assert [pattern for pattern in PATTERNS if not literal.words(pattern)] == []


@settings(max_examples=400)
@given(st.data())
def test_what_matches_has_one_of_the_words(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PATTERNS))
    found = re.search(pattern, data.draw(st.from_regex(pattern)))
    assert found is not None
    assert literal.sieve([pattern], str)(found.group()) == [pattern]


def test_a_sieve_keeps_the_order_and_what_tells_no_word() -> None:
    some = literal.sieve([r"first \d", r"\d+", r"second|third"], str)
    assert some("a third") == [r"\d+", r"second|third"]
    assert some("first of the second") == [r"first \d", r"\d+", r"second|third"]
    assert some("") == [r"\d+"]


def test_words_of_failure_are_looked_for_in_small_letters() -> None:
    assert [word for row in PASTED for word in literal.words(row) if word != word.casefold()] == []


@given(
    st.text(max_size=60) | st.sampled_from(PASTED).flatmap(lambda row: st.from_regex(re.compile(row, re.IGNORECASE)))
)
def test_no_word_of_failure_is_lost_by_its_sieve(line: str) -> None:
    def told(rows: list[str]) -> list[str]:
        return [row for row in rows if re.search(row, line, re.IGNORECASE)]

    assert told(literal.sieve(PASTED, str)(line.casefold())) == told(list(PASTED))
