# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of NCCL's variables, held against the facts where they are at hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import (
    nccl_left as left_set,
    nccl_names as names,
    nccl_spans as spans,
    nccl_values as values,
    nccl_variables as data,
    nccl_words as words,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import registry
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import release
from tests.unit.corpus import CORPUS

FACTS = CORPUS.parent / "facts/nccl_env.json"


def standing(name: str, version: str | None = None, known: set[str] | None = None) -> registry.Standing:
    return registry.standing(name, release(version) if version else None, known)


def test_every_variable_is_there_once_and_in_order() -> None:
    rows = (*data.GUIDE, *data.UNDOCUMENTED)
    assert len(data.VARIABLES) == len(rows) == 271
    assert [one.name for one in data.GUIDE] == sorted(one.name for one in data.GUIDE)
    assert len(names.BINARY_ONLY) == 39
    for one in rows:
        assert not one.last or release(one.first) <= release(one.last), one
        registry.default_at(one.name, None)
    other = (names.NEVER_READ, names.GUIDE_ONLY, names.BINARY_ONLY, names.ELSEWHERE)
    assert not any(data.VARIABLES.keys() & table.keys() for table in other)
    assert {one.old for one in names.RENAMED} <= data.VARIABLES.keys()
    assert all(data.VARIABLES[one.old].last for one in names.RENAMED)


def test_what_is_said_of_values_is_said_of_variables_of_that_sort() -> None:
    integers = (data.INT, data.FLAG)
    of_kind = {name: one.kind for name, one in data.VARIABLES.items()}
    assert {of_kind[name] for name in words.WORDS if name in of_kind} == {data.WORD, data.LIST}
    assert set(words.WORDS) >= {name for name, kind in of_kind.items() if kind in (data.WORD, data.LIST)}
    assert all(of_kind[name] in integers for name in spans.SPANS)
    assert all(of_kind[unwise.name] in integers and unwise.name in spans.SPANS for unwise in spans.UNWISE)
    assert {left.name for left in left_set.LEFT} <= of_kind.keys()
    assert all(of_kind[name] in integers for name, _ in values.MEANS)
    assert all(of_kind[name] == data.LEVEL for name in values.WITH_NVLINK)


def facts() -> dict[str, Any]:
    if not FACTS.exists():
        pytest.skip(f"no facts at {FACTS} (set IBREADY_CORPUS)")
    found: dict[str, Any] = json.loads(FACTS.read_text())
    return found


def number(tag: str) -> str:
    return tag[1:].split("-")[0]


def test_the_table_says_what_the_facts_say() -> None:
    reported = {one["name"]: one for one in facts()["variables"]}
    assert reported.keys() == data.VARIABLES.keys()
    documented = {one.name for one in data.GUIDE}
    for name, one in reported.items():
        row = data.VARIABLES[name]
        assert row.first == number(one["first_tag"]), name
        assert one["documented"] == (name in documented), name
        if not one["still_read_in_2_30_7"]:
            assert row.last == number(one["last_tag"]), name
        elif row.last:
            held = one["literal_in_wheel"]
            assert (row.last, held["2.31.2"], held["2.32.3"]) == ("2.31.2", True, False)
        if row.kind in (data.INT, data.FLAG) and name != "NCCL_P2P_DISABLE":
            for tag, default in one["default_history"]:
                assert registry.default_at(name, release(number(tag))) == str(default), name


def test_the_other_names_are_those_of_the_facts() -> None:
    reported = facts()
    assert {one["name"] for one in reported["never_read"]} == names.NEVER_READ.keys()
    assert {one["name"] for one in reported["documented_but_not_read"]} == names.GUIDE_ONLY.keys()
    assert {one["name"] for one in reported["binary_only_2_31_2_32"]} == names.BINARY_ONLY.keys()
    # One of the facts' names has a remark behind it.
    renamed = {(one["old"].split(" ")[0], one["new"]) for one in reported["renamed"]}
    assert renamed == {(one.old, one.new) for one in names.RENAMED}


@pytest.mark.parametrize(
    ("name", "version", "kind"),
    [
        ("NCCL_IB_HCA", "2.18.3", registry.READ),
        ("NCCL_IB_HCA", None, registry.READ),
        ("CUDA_LAUNCH_BLOCKING", "2.18.3", registry.READ),
        ("NCCL_CONF_FILE", "2.22.3", registry.NEW),
        ("NCCL_CONF_FILE", "2.23.4", registry.READ),
        ("NCCL_IB_CUDA_SUPPORT", "2.3.7", registry.READ),
        ("NCCL_IB_CUDA_SUPPORT", "2.4.2", registry.GONE),
        ("NCCL_IB_CUDA_SUPPORT", None, registry.GONE),
        ("NCCL_DEBUG_LEVELS", "2.31.2", registry.NEW),
        ("NCCL_DEBUG_LEVELS", "2.32.3", registry.READ),
        ("NCCL_TOPO_SCATTER_START_NET", "2.32.3", registry.GONE),
        ("NCCL_NCHANNELS", "2.18.3", registry.NEVER),
        ("NCCL_CHUNKSIZE", None, registry.NEVER),
        ("NCCL_MIN_NCHANNELS_BEFORE_SWITCH", None, registry.NEVER),
        ("NCCL_CHECKS_DISABLE", None, registry.NEVER),
        ("NCCL_IBEXT_DISABLE", None, registry.ELSEWHERE),
        ("NCCL_IB_GID_INDX", "2.18.3", registry.UNKNOWN),
        ("LD_LIBRARY_PATH", None, registry.FOREIGN),
    ],
)
def test_how_a_name_stands(name: str, version: str | None, kind: str) -> None:
    assert standing(name, version).kind == kind


def test_what_to_do_is_told_with_it() -> None:
    assert standing("NCCL_IB_CUDA_SUPPORT", "2.18.3").instead == "use NCCL_NET_GDR_LEVEL instead"
    assert "NCCL_MIN_CTAS" in standing("NCCL_NCHANNELS").instead
    assert "PyTorch" in standing("NCCL_BLOCKING_WAIT").instead
    assert "nothing like it" in standing("NCCL_IB_MTU").instead
    assert "though the guide" in standing("NCCL_CHECKS_DISABLE").says
    assert "no library was read" in standing("NCCL_IB_GID_INDX").says


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("NCCL_IB_GID_INDX", "NCCL_IB_GID_INDEX"),
        ("NCCL_SOCKET_INTERFACE", "NCCL_SOCKET_IFNAME"),
        ("nccl_debug", "NCCL_DEBUG"),
        ("NCCL-DEBUG", "NCCL_DEBUG"),
        ("IB_HCA", "NCCL_IB_HCA"),
        ("NCCL_SOCKET_IFNAMES", "NCCL_SOCKET_IFNAME"),
        ("NCCL_FROBNICATE", ""),
        ("N" * 1000, ""),
    ],
)
def test_the_nearest_right_name(wrong: str, right: str) -> None:
    assert registry.nearest(wrong, None) == right


def test_a_name_that_this_release_lacks_is_proposed_as_such() -> None:
    reported = "write NCCL_MNNVL_ENABLE, if that is meant"
    assert standing("NCCL_MNNVL_ENABL", "2.21.5").instead == reported
    assert "which this release lacks" in standing("NCCL_MNNVL_ENABL", "2.18.3").instead
    assert registry.nearest("NCCL_MNNVL_ENABL", {"NCCL_DEBUG"}) == ""


def test_the_installed_library_knows_best() -> None:
    held = {"NCCL_NEXT_YEARS", "NCCL_IB_HCA", "NCCL_GRAPH"}
    assert standing("NCCL_NEXT_YEARS", "2.40.1", held).kind == registry.READ
    assert standing("NCCL_IB_HCA", "2.40.1", held).kind == registry.READ
    assert standing("NCCL_IB_TC", "2.40.1", held).kind == registry.ABSENT
    assert standing("NCCL_IB_HCAS", "2.40.1", held).says == ("the installed library does not hold the name")
    # A part of the log is called so.
    assert standing("NCCL_GRAPH", "2.32.3", held).kind == registry.GONE
    # What it cannot know.
    assert standing("CUDA_LAUNCH_BLOCKING", "2.32.3", held).kind == registry.READ


def test_of_a_release_after_the_table_nothing_is_certain() -> None:
    assert standing("NCCL_IB_GID_INDX", "2.32.3").certain
    assert not standing("NCCL_IB_GID_INDX", "2.33.1").certain
    assert not standing("NCCL_FROBNICATE", "2.32.3").certain
