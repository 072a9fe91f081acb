# SPDX-License-Identifier: GPL-3.0-or-later
"""The constraints of NVIDIA_REQUIRE_CUDA: blanks are OR, commas AND, and what is not known stays so."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse._cuda_require import least, met, parse

# As NVIDIA's images of CUDA 12.4 and newer word it, shortened.
IMAGE = "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=nvidia,driver>=535,driver<536"


@pytest.mark.parametrize(
    ("host", "holds"),
    [
        ({"cuda": "12.4", "driver": "550.54.14", "brand": "geforce"}, True),
        ({"cuda": "12.3", "driver": "545.23.08", "brand": "nvidia"}, False),
        ({"cuda": "12.2", "driver": "535.183.06", "brand": "nvidia"}, True),
        ({"cuda": "12.2", "driver": "535.183.06", "brand": "tesla"}, False),
        ({"cuda": "12.2", "driver": "535.183.06"}, None),
        ({"cuda": "12.2", "driver": "536.0", "brand": "nvidia"}, False),
        ({"cuda": "11.4", "driver": "470.42.01", "brand": "tesla"}, True),
        ({"driver": "550.54.14", "brand": "nvidia"}, None),
        ({"cuda": "12.10"}, True),
        ({}, None),
    ],
)
def test_alternatives_of_what_holds_together(host: dict[str, str], holds: bool | None) -> None:
    assert met(parse(IMAGE), host) is holds


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        ("driver=535", False),
        ("driver=535.183.06", True),
        ("driver!=535.183.6", False),
        ("driver>535.183", True),
        ("driver>535.183.06", False),
        ("driver<=535.183.06", True),
        ("driver<535.183.06", False),
        ("brand!=tesla", True),
        ("brand=nvidia", True),
        ("cuda>=v12.2", True),
        ("  cuda>=13.0   driver>=535  ", True),
        ("cuda>=13.0,driver>=535", False),
        # A property of which nothing is known of the host, and one that nobody knows.
        ("arch>=9.0", None),
        ("arch>=9.0,cuda>=13.0", False),
        ("arch>=9.0 cuda>=12.0", True),
        ("colour=green", None),
        ("brand>=nvidia", None),
    ],
)
def test_every_operator(constraint: str, holds: bool | None) -> None:
    host = {"driver": "535.183.06", "brand": "nvidia", "cuda": "12.2"}
    assert met(parse(constraint), host) is holds


@pytest.mark.parametrize(
    "text",
    ["", "  ", ",", "cuda", "cuda>=", ">=12.4", "cuda>=new", "cuda==12.4", "cuda~12", "driver>=1.2.3.4.5", "x" * 70000],
)
def test_what_is_no_constraint_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


def test_the_oldest_cuda_that_is_asked_for() -> None:
    assert least(parse(IMAGE)) == "12.4"
    assert least(parse("brand=tesla,cuda>=12.4")) == ""
    assert least(parse("cuda<12.4")) == ""


_factors = st.builds(
    "{}{}{}".format,
    st.sampled_from(("cuda", "driver")),
    st.sampled_from((">=", "<=", "<", ">", "=", "!=")),
    st.sampled_from(("12.2", "535", "535.183.06", "99")),
)
_terms = st.lists(_factors, min_size=1, max_size=3).map(",".join)


@given(st.lists(_terms, min_size=1, max_size=4))
def test_another_alternative_never_takes_away(terms: list[str]) -> None:
    host = {"driver": "535.183.06", "cuda": "12.2"}
    each = [met(parse(term), host) for term in terms]
    assert met(parse(" ".join(terms)), host) is any(each)
    # What is not known of a host is never an answer that knowing it would turn.
    assert met(parse(" ".join(terms)), {"driver": "535.183.06"}) in (None, any(each))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except ParseError:
        return
    assert met(found, {}) is None
