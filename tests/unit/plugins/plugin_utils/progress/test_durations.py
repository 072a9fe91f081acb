# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress import durations

RUN = {"playbook": "site.yml", "hosts": 3}
DONE = [(("plan", "Plan", "1", "", "1"), 2.0), (("converge", "Converge", "1", "rdma", "1"), 61.04)]


def test_sections_follow_each_other_and_are_told_apart_when_met_again() -> None:
    made = durations.Sections()
    for at, what in ((0, "a"), (1, "a"), (5, "b"), (6, "a")):
        made.enter((what,), at)
    made.end(10)
    made.end(11)
    assert made.done == [(("a", "1"), 5), (("b", "1"), 1), (("a", "2"), 4)]


def test_what_is_kept_is_read_back_for_the_same_kind_of_run(tmp_path: Path) -> None:
    path = tmp_path / durations.NAME
    durations.keep(path, RUN, DONE)
    durations.keep(path, {**RUN, "hosts": 4}, DONE[:1])
    durations.keep(path, RUN, DONE)
    assert list(durations.read(path, RUN).items()) == [DONE[0], (DONE[1][0], 61.0)]
    assert durations.read(path, {**RUN, "hosts": 4}) == dict(DONE[:1])
    assert durations.read(path, {**RUN, "hosts": 5}) == {}
    assert len(json.loads(path.read_text())["runs"]) == 2


def test_only_so_many_kinds_are_kept(tmp_path: Path) -> None:
    path = tmp_path / durations.NAME
    for number in range(durations.KEEP + 5):
        durations.keep(path, {"hosts": number}, DONE)
    assert len(json.loads(path.read_text())["runs"]) == durations.KEEP
    assert durations.read(path, {"hosts": 0}) == {}


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=4)),
    lambda one: st.one_of(st.lists(one, max_size=3), st.dictionaries(st.text(max_size=8), one)),
)


@given(JSON)
def test_a_file_that_is_not_ours_is_no_basis(tmp_path_factory: pytest.TempPathFactory, raw: Any) -> None:
    path = tmp_path_factory.mktemp("drawn") / durations.NAME
    for text in (json.dumps(raw), json.dumps({"schema": durations.SCHEMA, "runs": raw})):
        path.write_text(text)
        assert durations.read(path, RUN) == {}
    durations.keep(path, RUN, DONE)
    assert durations.read(path, RUN)


@pytest.mark.parametrize("section", [["a", 1.0], [["a"], "1"], [["a"], -1.0], [["a"], 1e300], [[1], 1.0], [["a"]]])
def test_a_bent_section_is_no_basis(tmp_path: Path, section: Any) -> None:
    path = tmp_path / durations.NAME
    runs = [{"run": RUN, "sections": [section]}]
    path.write_text(json.dumps({"schema": durations.SCHEMA, "runs": runs}))
    assert durations.read(path, RUN) == {}
