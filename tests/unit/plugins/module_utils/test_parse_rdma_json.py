# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import rdma_json
from ansible_collections.ibready.cluster.plugins.module_utils._parse.rdma_json import Link, Queue
from tests.unit.parsers import SAMPLES

RXE = {"ifname": "rxe0", "port": 1, "state": "ACTIVE", "netdev": "eth0"}
NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True)


def test_links_are_told_with_their_interface() -> None:
    found = rdma_json.parse_links((SAMPLES / "rdma_json.parse_links.txt").read_text())
    assert found == (Link("mlx5_0", 1, "ACTIVE"), Link("rxe0", 1, "ACTIVE", "eth0"))


def test_of_queue_pairs_only_those_in_use_are_told() -> None:
    found = rdma_json.parse_queues((SAMPLES / "rdma_json.parse_queues.txt").read_text())
    assert found == (
        Queue("rxe0", "RC", "ib_write_bw", 812),
        Queue("rxe0", "RC", "xprtrdma", 0),
    )


def test_a_host_without_a_device_is_no_error() -> None:
    assert rdma_json.parse_links("[ ]\n") == ()
    assert rdma_json.parse_queues("[]") == ()


@pytest.mark.parametrize(
    ("bent", "word"),
    [
        ({"ifname": ""}, "without ifname"),
        ({"ifname": 3}, "ifname is no text"),
        ({"port": None}, "without port"),
        ({"port": 0}, "without port"),
        ({"port": True}, "port is no number"),
        ({"state": ""}, "without state"),
        ({"netdev": ["eth0"]}, "netdev is no text"),
    ],
)
def test_a_link_that_says_too_little_is_an_error(bent: dict[str, Any], word: str) -> None:
    with pytest.raises(ParseError, match=word):
        rdma_json.parse_links(json.dumps([{**RXE, **bent}]))


def test_one_link_twice_and_a_queue_pair_without_a_type_are_errors() -> None:
    with pytest.raises(ParseError, match="told of twice"):
        rdma_json.parse_links(json.dumps([RXE, RXE]))
    with pytest.raises(ParseError, match="without a type"):
        rdma_json.parse_queues(json.dumps([{"ifname": "rxe0", "lqpn": 17}]))


@given(st.dictionaries(NAMES, st.tuples(st.integers(1, 255), NAMES | st.none()), max_size=8))
def test_whatever_links_there_are_all_are_told(links: dict[str, tuple[int, str | None]]) -> None:
    text = json.dumps(
        [
            {"ifname": name, "port": port, "state": "DOWN", **({"netdev": on} if on else {})}
            for name, (port, on) in links.items()
        ]
    )
    assert rdma_json.parse_links(text) == tuple(
        Link(name, port, "DOWN", on or "") for name, (port, on) in links.items()
    )


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_no_text_of_others_is_taken_for_links(text: str) -> None:
    try:
        found = rdma_json.parse_links(text)
    except ParseError:
        return
    assert found == ()
