# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of names as Slurm writes them."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm import hostlist

NAMES = st.from_regex(hostlist.NAME, fullmatch=True).filter(lambda name: len(name) < 40)
NUMBERED = st.builds(
    lambda prefix, number: f"{prefix}{number}", st.sampled_from(["node", "n-1-", "x0", "r1n0"]), st.integers(0, 120)
)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["node1", "node2", "node3"], "node[1-3]"),
        (["node9", "node10", "node11"], "node[9-11]"),
        (["node09", "node10"], "node[09-10]"),
        (["node1", "node01"], "node[01,1]"),
        (["node7"], "node7"),
        (["login", "node1", "node3"], "login,node[1,3]"),
        (["rack1-a", "rack2-a"], "rack1-a,rack2-a"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
        (["1", "2"], "1,2"),
    ],
)
def test_names_are_folded(names: list[str], text: str) -> None:
    assert hostlist.fold(names) == text
    assert sorted(hostlist.expand(text)) == sorted(names)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["gpu01.a.example", "gpu02.a.example", "login.a.example"], "login.a.example,gpu[01-02].a.example"),
        (["n1.a", "n2.a", "n1.b", "n3"], "n[1-2].a,n1.b,n3"),
        (["10.0.0.1", "10.0.0.2"], "10.0.0.[1-2]"),
    ],
)
def test_for_people_names_of_a_domain_are_folded_too(names: list[str], text: str) -> None:
    assert hostlist.shown(names) == text


@given(st.lists(st.one_of(NAMES, NUMBERED), min_size=1, max_size=40, unique=True))
def test_what_was_folded_is_expanded_to_the_same(names: list[str]) -> None:
    assert sorted(hostlist.expand(hostlist.fold(names))) == sorted(names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("linux[00-02]", ["linux00", "linux01", "linux02"]),
        ("lx[15,18,32-33]", ["lx15", "lx18", "lx32", "lx33"]),
        ("rack[0-1]_blade[0-1]", ["rack0_blade0", "rack0_blade1", "rack1_blade0", "rack1_blade1"]),
        ("alpha,beta", ["alpha", "beta"]),
        ("cn[1-2]-ib", ["cn1-ib", "cn2-ib"]),
    ],
)
def test_what_slurm_documents_is_read(text: str, names: list[str]) -> None:
    assert hostlist.expand(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "a,",
        "a,,b",
        "node[",
        "node]",
        "node[]",
        "node[2-1]",
        "node[1-]",
        "node[a-b]",
        "a b",
        "a[1[2]]",
        "a[0-99999]",
        "a[0-999][0-999]",
        "a[0-40000,0-40000]",
        "[0-65000],b[0-65000]",
        "a=b",
        "näme",
    ],
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"name|range|bracket"):
        hostlist.expand(text)


def test_many_ranges_in_one_pair_of_brackets_end_at_the_bound_of_one() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 65536 names"):
            hostlist.expand(f"a[{','.join(['0-65000'] * 16)}]")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@given(st.text(alphabet="an0129-[],. _", max_size=60))
def test_foreign_text_is_a_list_or_refused(text: str) -> None:
    try:
        names = hostlist.expand(text)
    except ValueError:
        return
    assert names
    assert all(names)
    assert not {"[", "]", ",", " "} & {*"".join(names)}


def test_people_count_node2_before_node10() -> None:
    assert sorted(["node10", "node2", "a"], key=hostlist.natural) == ["a", "node2", "node10"]
