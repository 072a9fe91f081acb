# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp import words

TOKEN = b"0123456789abcdef"
SAID = words.says(TOKEN, 29500, b"node2")


def test_a_line_names_the_listener_and_fits_its_bounds() -> None:
    assert words.name_in(TOKEN, 29500, SAID) == "node2"
    assert len(words.says(TOKEN, 1, b"n" * 255)) == words.MOST


def test_the_token_is_not_in_what_is_said() -> None:
    assert TOKEN not in SAID


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(SAID[:-1], id="cut"),
        pytest.param(SAID + b"x", id="more"),
        pytest.param(SAID[:32] + b"node3", id="another name"),
        pytest.param(words.says(b"fedcba9876543210", 29500, b"node2"), id="another run's"),
        pytest.param(words.says(TOKEN, 29501, b"node2"), id="another port's"),
    ],
)
def test_nothing_else_is_taken_for_our_line(said: bytes) -> None:
    assert words.name_in(TOKEN, 29500, said) is None
