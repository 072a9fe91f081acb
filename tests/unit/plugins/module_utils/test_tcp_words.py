# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp import words

TOKEN = b"0123456789abcdef"
OTHER = b"fedcba9876543210"
ASKED = words.ask(TOKEN, bytes(16))
SAID = words.answer(TOKEN, ASKED, 29500, b"node2")


def test_an_answer_names_the_listener_and_fits_its_bounds() -> None:
    assert len(ASKED) == words.ASK
    assert words.is_ask(TOKEN, ASKED)
    assert words.name_in(TOKEN, ASKED, 29500, SAID) == "node2"
    longest = words.answer(TOKEN, ASKED, 1, b"n" * 255)
    assert len(longest) == words.ANSWER_MOST


def test_the_token_is_not_in_what_is_said() -> None:
    assert TOKEN not in ASKED + SAID


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(ASKED, id="an echo"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="another service"),
        pytest.param(SAID[:-1], id="cut"),
        pytest.param(SAID[:-1] + b"3", id="another name"),
        pytest.param(words.answer(OTHER, ASKED, 29500, b"node2"), id="another run"),
        pytest.param(words.answer(TOKEN, ASKED, 29501, b"node2"), id="another port"),
        pytest.param(words.answer(TOKEN, words.ask(TOKEN, b"x" * 16), 29500, b"node2"), id="an old answer"),
    ],
)
def test_nothing_else_is_taken_for_our_answer(said: bytes) -> None:
    assert words.name_in(TOKEN, ASKED, 29500, said) is None


@pytest.mark.parametrize("said", [b"", ASKED[:-1], ASKED + b"x", words.ask(OTHER, bytes(16))])
def test_nothing_else_is_taken_for_our_question(said: bytes) -> None:
    assert not words.is_ask(TOKEN, said)
