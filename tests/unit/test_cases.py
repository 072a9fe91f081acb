# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run leaves out is in that of another day."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests import cases


def item(name: str, **mark: Any) -> Any:
    return SimpleNamespace(
        nodeid=name, get_closest_marker=lambda _: SimpleNamespace(kwargs=mark.get("mark")) if mark else None
    )


ITEMS = [
    item("plain[0]"),
    *(item(f"walk[{at}]", mark={}) for at in range(9)),
    *(item(f"whole[{at}]", mark={"every": True}) for at in range(2)),
]


@pytest.fixture(autouse=True)
def by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "ALL", False)


def test_in_four_days_every_case_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    for day in range(4):
        monkeypatch.setattr(cases, "DAY", day)
        run, left = cases.sampled(ITEMS)
        names = {one.nodeid for one in run}
        assert names >= {"plain[0]", "walk[0]", "whole[0]", "whole[1]"}
        assert len(names) <= 3 + 4
        assert names.isdisjoint(one.nodeid for one in left)
        seen |= names
    assert seen == {one.nodeid for one in ITEMS}


def test_in_three_days_each_is_among_a_third(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    for day in range(3):
        monkeypatch.setattr(cases, "DAY", day)
        seen += cases.third(range(10))
    assert sorted(seen) == list(range(10))


def is_left_as_it_is(turn: int) -> bool:
    @cases.every_third_day(turn)
    def story() -> None: ...

    return not getattr(story, "pytestmark", ())


def test_in_three_days_every_long_story_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for day in range(3):
        monkeypatch.setattr(cases, "DAY", day)
        told.append([turn for turn in range(3) if is_left_as_it_is(turn)])
    assert told == [[0], [1], [2]]
