# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes as the API server tells them: foreign text, understood or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon import node
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.node import ClusterError
from tests.unit import api_server

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
LIST: dict[str, Any] = {"kind": "NodeList", "metadata": {}, "items": [api_server.node("node1")]}


def test_a_page_and_the_way_to_the_next() -> None:
    raw = {**LIST, "metadata": {"continue": "abc"}}
    found, more = node.page(json.dumps(raw))
    assert (more, [one.name for one in found], found[0].out) == ("abc", ["node1"], False)
    assert node.page(json.dumps({**LIST, "items": []})) == ([], "")


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[]",
        "{}",
        json.dumps(api_server.node("node1")),
        json.dumps({**LIST, "items": None}),
        json.dumps({**LIST, "items": [1]}),
        json.dumps({**LIST, "items": [{"metadata": {"name": "node1"}}]}),
        json.dumps({**LIST, "items": [api_server.node("node1", unschedulable="no")]}),
        json.dumps({**LIST, "items": [api_server.node("node1", taints=[{"key": "x"}])]}),
        json.dumps({**LIST, "items": [{**api_server.node("node1"), "spec": []}]}),
        json.dumps({**LIST, "items": [{**api_server.node("node1"), "status": {"conditions": {"a": 1}}}]}),
        "[" * 100_000,
    ],
)
def test_what_is_no_list_of_nodes_is_refused(raw: str) -> None:
    with pytest.raises(ClusterError):
        node.page(raw)


def test_a_node_whose_kubelet_is_silent_takes_no_pods() -> None:
    assert node.one(json.dumps(api_server.node("node1", ready=False))).out
    without = {**api_server.node("node1"), "status": {}}
    assert node.one(json.dumps(without)).out, "nobody said that it is ready"


@given(st.sampled_from(["metadata", "spec", "status", "kind"]), JSON)
def test_anything_in_a_nodes_place_is_a_node_or_refused(key: str, value: Any) -> None:
    try:
        found = node.one(json.dumps({**api_server.node("node1"), key: value}))
    except ClusterError:
        return
    assert found.name
    assert found.version


@given(JSON)
def test_any_annotation_is_ours_or_strange(value: Any) -> None:
    raw = api_server.node("node1", annotations={node.MARK: value if isinstance(value, str) else json.dumps(value)})
    found = node.one(json.dumps(raw))
    assert found.strange
    assert found.mark is None


@given(st.booleans(), st.booleans(), st.text(max_size=20), st.lists(st.text(max_size=20)))
def test_what_is_remembered_is_read_back(cordoned: bool, tainted: bool, at: str, checks: list[str]) -> None:
    kept = node.Mark(cordoned, tainted, at, tuple(checks))
    found = node.one(json.dumps(api_server.node("node1", annotations={node.MARK: kept.text()})))
    assert found.mark == kept
    assert not found.strange
