# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from ansible.executor.playbook_executor import PlaybookExecutor
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress import state

BOOKS = {path.stem: path for places in ("*.yml", "parts/*.yml") for path in state.PLAYBOOKS.glob(places)}


def plays(book: str) -> list[str]:
    read = yaml.safe_load(BOOKS[book].read_text())
    return [one["name"] for one in read if "hosts" in one]


def test_every_exception_is_about_a_play_that_is_there() -> None:
    assert set(state.BOOKS) <= set(BOOKS)
    for book, name in state.PLAYS:
        assert name in plays(book)


@pytest.mark.parametrize(
    ("book", "found"),
    [
        ("converge", ["plan", "converge", "converge"]),
        ("judge", ["verify"]),
        ("verify", ["report"]),
        ("site", ["converge"]),
        ("report", ["report"]),
        ("bench", ["bench", "bench", "bench"]),
    ],
)
def test_a_play_of_ours_is_of_a_phase(book: str, found: list[str]) -> None:
    path = f"{BOOKS[book]}:4"
    assert [state.phase(path, name) for name in plays(book)] == found


@pytest.mark.parametrize("path", ["", "/srv/converge.yml:4", "converge.yml:1"])
def test_a_foreign_play_is_its_own(path: str) -> None:
    assert state.phase(path, "Plan") == "Plan"


SIZES = st.one_of(st.integers(-2, 7), st.integers(0, 120).map(lambda one: f"{one}%"))


@given(st.integers(0, 40), st.lists(SIZES, max_size=4))
def test_batches_are_counted_as_ansible_makes_them(hosts: int, serial: list[Any]) -> None:
    inventory = SimpleNamespace(get_hosts=lambda *_args, **_more: list(range(hosts)))
    play = SimpleNamespace(hosts="all", order=None, serial=serial)
    executor = cast("Any", SimpleNamespace(_inventory=inventory))
    made = PlaybookExecutor._get_serialized_batches(executor, play)
    assert state.batches(hosts, serial) == max(len(made), 1)
