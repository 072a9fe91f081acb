# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written is read again by a reader that knows only the format's specification."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._agent.textfile import (
    COUNTER,
    GAUGE,
    Family,
    FormatError,
    render,
)
from tests.unit.prometheus_text import read

NAMES = st.from_regex(r"[a-z_:][a-z0-9_:]{0,8}x", fullmatch=True)
VALUES = st.one_of(st.integers(0, 2**64), st.floats(allow_nan=False, allow_infinity=False))
LABELS = st.dictionaries(st.sampled_from(["device", "port", "what"]), st.text(st.characters(codec="utf-8")), max_size=3)


@given(
    st.dictionaries(
        NAMES,
        st.tuples(
            st.text(st.characters(codec="utf-8")),
            st.lists(st.tuples(LABELS, VALUES), unique_by=lambda one: str(sorted(one[0].items()))),
        ),
        max_size=4,
    )
)
def test_what_is_written_is_read_again(
    raw: dict[str, tuple[str, list[tuple[dict[str, str], float]]]],
) -> None:
    families = [Family(name, words, GAUGE, samples) for name, (words, samples) in raw.items()]
    assert read(render(families)) == {
        (name, frozenset(labels.items())): float(value)
        for name, (_, samples) in raw.items()
        for labels, value in samples
    }


def test_what_utf8_cannot_hold_breaks_no_file() -> None:
    one = Family("a", "help")
    one.add(1, subject="mlx5\udcff")
    render([one]).encode("utf-8")


@pytest.mark.parametrize(
    ("families", "why"),
    [
        ([Family("1a", "x")], "is no name"),
        ([Family("a", "x"), Family("a", "y")], "is there twice"),
        ([Family("a", "x", COUNTER)], "a is a counter"),
        ([Family("a_total", "x")], "a_total is a gauge"),
        ([Family("a", "x", GAUGE, [({"b-c": ""}, 1)])], "is no label"),
        ([Family("a", "x", GAUGE, [({"__b": ""}, 1)])], "is no label"),
        ([Family("a", "x", GAUGE, [({}, float("nan"))])], "is no number"),
        ([Family("a", "x", GAUGE, [({"b": "c"}, 1), ({"b": "c"}, 2)])], "is there twice"),
    ],
)
def test_what_the_collector_would_refuse_is_refused(families: list[Family], why: str) -> None:
    with pytest.raises(FormatError, match=why):
        render(families)
