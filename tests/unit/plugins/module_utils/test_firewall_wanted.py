# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import ipaddress
import itertools

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall import desired


@pytest.mark.parametrize(
    ("given_sources", "expected"),
    [
        (["10.1.0.11", "10.1.0.11"], ("10.1.0.11",)),
        (["10.1.0.13", "10.1.0.12"], ("10.1.0.12/31",)),
        (["10.1.0.12", "10.1.0.0/24"], ("10.1.0.0/24",)),
        (["fd00::2", "10.1.0.12"], ("10.1.0.12", "fd00::2")),
    ],
    ids=["twice", "two halves are a whole", "inside another", "version 4 first"],
)
def test_sources_are_as_few_as_can_be(given_sources: list[str], expected: tuple[str, ...]) -> None:
    assert desired.sources(given_sources) == expected


@given(st.lists(st.ip_addresses(v=4, network="10.0.0.0/24"), min_size=1))
def test_nothing_wider_than_what_was_given(addresses: list[ipaddress.IPv4Address]) -> None:
    found = [ipaddress.ip_network(one) for one in desired.sources(str(one) for one in addresses)]
    assert {one for network in found for one in network} == set(addresses)


@pytest.mark.parametrize(
    "refused",
    [
        "0.0.0.0/0",
        "::/0",
        "10.0.0.0/7",
        "127.0.0.1",
        "169.254.1.1",
        "0.0.0.0",
        "node1",
        "10.1.0.1/24",
    ],
)
def test_what_is_no_node_is_refused_by_name(refused: str) -> None:
    with pytest.raises(desired.WantedError, match=f"'{refused}'.*Next: "):
        desired.sources(["10.1.0.11", refused])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("22", (22, 22)), ("30000-30100", (30000, 30100)), ("1-65535", (1, 65535))],
)
def test_a_span(text: str, expected: tuple[int, int]) -> None:
    assert desired.span(text) == expected


@pytest.mark.parametrize("text", ["", "0", "65536", "9-8", "ssh", "22-", "-1", "1-2-3", "٢٢"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(desired.WantedError, match="port"):
        desired.span(text)


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9)).map(lambda one: (one[0], sum(one)))))
def test_merged_spans_hold_the_same_ports(spans: list[tuple[int, int]]) -> None:
    found = desired.merged(spans)
    ports = [port for first, last in found for port in range(first, last + 1)]
    assert ports == sorted({port for first, last in spans for port in range(first, last + 1)})
    assert all(before[1] + 1 < after[0] for before, after in itertools.pairwise(found))


def test_a_node_that_nobody_saw_keeps_its_addresses_and_one_that_left_loses_them() -> None:
    today = {
        "n1": {"addresses": ["10.1.0.11"], "complete": True},
        "n2": {"addresses": ["10.1.0.12"], "complete": False},
    }
    before = {"n1": ["10.9.0.11"], "n2": ["10.9.0.12"], "n3": ["10.1.0.13"]}
    assert desired.merge_nodes(today, before) == {"n1": ["10.1.0.11"], "n2": ["10.1.0.12", "10.9.0.12"]}


def test_a_node_without_its_addresses_is_named() -> None:
    with pytest.raises(desired.WantedError, match="node 'n1'"):
        desired.merge_nodes({"n1": ["10.1.0.11"]}, {})
