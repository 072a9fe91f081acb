# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp.ports import (
    near,
    parse_range,
    parse_reserved,
    spread,
)


def test_the_kernel_s_files_are_read() -> None:
    assert parse_range("32768\t60999\n") == (32768, 60999)
    assert parse_reserved("30000-30010,40000\n") == [(30000, 30010), (40000, 40000)]
    assert parse_reserved("\n") == []


@pytest.mark.parametrize("text", ["", "32768", "60999 32768", "0 5", "1 65536", "a b", "1 2 3"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"range|port numbers"):
        parse_range(text)


@pytest.mark.parametrize("text", ["x", "5-", "-5", "1-b"])
def test_what_is_no_port_is_not_passed_over(text: str) -> None:
    with pytest.raises(ValueError, match="neither a port nor a range"):
        parse_reserved(text)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(0, [], id="none"),
        pytest.param(1, [100], id="one"),
        pytest.param(2, [100, 200], id="both ends"),
        pytest.param(5, [100, 125, 150, 175, 200], id="evenly"),
    ],
)
def test_a_few_ports_lie_spread_over_the_range(count: int, expected: list[int]) -> None:
    assert spread(100, 200, count) == expected


@given(st.integers(1, 65535), st.integers(0, 65534), st.integers(2, 64))
def test_a_sample_is_within_the_range_and_has_both_ends(low: int, width: int, count: int) -> None:
    high = min(65535, low + width)
    found = spread(low, high, count)
    assert (found[0], found[-1]) == (low, high)
    assert len(set(found)) == len(found) <= count


def test_a_neighbour_is_taken_inside_the_range_and_never_a_reserved_one() -> None:
    assert list(islice(near(100, 100, 200, []), 4)) == [100, 101, 102, 103]
    assert list(islice(near(200, 100, 200, [(199, 200)]), 2)) == [198, 197]
    assert list(near(5, 5, 6, [(5, 6)])) == []
