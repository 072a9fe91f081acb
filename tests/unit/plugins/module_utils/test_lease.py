# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time on a node, however runs cross each other."""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._between import lease
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state

A, B, C = (lease.Run(name, f"{name}@controller", "site.yml") for name in "abc")
HOUR = 3600.0
NOW = datetime(2025, 11, 23, 11, 41, 5, tzinfo=UTC)
LATER = NOW + timedelta(hours=1, seconds=1)
PLACE = "lease/changes.json"


def take(root: Path, run: lease.Run, at: datetime = NOW, **more: object) -> lease.Lease:
    return lease.take(str(root / PLACE), run, HOUR, at, **more)  # type: ignore[arg-type]


def give(root: Path, run: lease.Run) -> bool:
    return lease.give(str(root / PLACE), run.id)


def test_another_run_is_told_who_has_it_since_when_and_until_when(tmp_path: Path) -> None:
    mine = take(tmp_path, A)
    assert mine.run == "a"
    reported = take(tmp_path, B, NOW + timedelta(minutes=5))
    assert reported == mine
    assert reported.told() == (
        "another run is at work here: site.yml by a@controller since 2025-11-23 11:41:05+00:00, "
        "until 2025-11-23 12:41:05+00:00 at the latest"
    )
    assert not give(tmp_path, B)
    assert take(tmp_path, B) == mine
    assert give(tmp_path, A)
    assert take(tmp_path, B).run == "b"


def test_nobody_but_root_can_read_it_or_stand_in_its_way(tmp_path: Path) -> None:
    take(tmp_path, A)
    path = tmp_path / PLACE
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_run_that_takes_it_again_has_it_longer_since_the_same_time(tmp_path: Path) -> None:
    first = take(tmp_path, A)
    again = take(tmp_path, A, NOW + timedelta(minutes=30))
    assert (again.since, again.until > first.until) == (first.since, True)
    assert take(tmp_path, B, LATER).run == "a"


def test_a_lease_that_ran_out_is_anybodys_and_not_given_back_by_who_had_it(tmp_path: Path) -> None:
    take(tmp_path, A)
    assert take(tmp_path, B, LATER).run == "b"
    assert not give(tmp_path, A)
    # Who comes back from a long sleep finds the other, and does not go on.
    assert take(tmp_path, A, LATER).run == "b"


def test_it_is_taken_over_from_the_run_that_is_named_and_from_no_other(tmp_path: Path) -> None:
    take(tmp_path, A)
    assert take(tmp_path, B, over="c").run == "a"
    assert take(tmp_path, B, over="a").run == "b"
    # Two runs find A dead; the second finds B.
    assert take(tmp_path, C, over="a").run == "b"
    assert take(tmp_path, C, force=True).run == "c"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run": "a"}', '{"run": "a", "until": "soon"}', '{"more": 1}'])
def test_what_cannot_be_read_is_nobodys_but_by_consent(tmp_path: Path, text: str) -> None:
    take(tmp_path, A)
    (tmp_path / PLACE).write_text(text)
    for act in (lambda: take(tmp_path, B), lambda: give(tmp_path, B)):
        with pytest.raises(state.StateError, match=r"changes\.json .*Next: "):
            act()
    assert (tmp_path / PLACE).read_text() == text
    assert take(tmp_path, B, force=True).run == "b"


def test_giving_back_what_was_never_taken_leaves_no_trace(tmp_path: Path) -> None:
    assert not give(tmp_path, A)
    assert list(tmp_path.iterdir()) == []


def _contend(root: Path, name: str, won: multiprocessing.Queue[str]) -> None:
    run = lease.Run(name, name, "site.yml")
    if take(root, run).run == name:
        won.put(name)


def test_of_many_processes_one_gets_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for number in range(5):
        root, won = tmp_path / str(number), context.Queue()
        both = [context.Process(target=_contend, args=(root, f"{one}", won)) for one in range(8)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert won.get(timeout=10)
        assert won.empty()


def test_a_folder_that_another_process_has_is_waited_for_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(state.time, "sleep", waited.append)
    with (
        state.locked(str(tmp_path)),
        pytest.raises(state.StateError, match="another process has"),
        state.locked(str(tmp_path)),
    ):
        pass
    assert sum(waited) == pytest.approx(10)


class World:
    """Nodes, and the runs that are at work on each."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.at_work: dict[str, set[str]] = {}
        self.ended: dict[str, str] = {}

    def take(self, host: str, run: lease.Run) -> bool:
        return take(self.home / host, run).run == run.id

    def steps(self, run: lease.Run, hosts: tuple[str, ...]) -> Iterator[None]:
        """What playbooks/parts/lock.yml does, one visit to a host after the other, then the work."""
        first = min(hosts)
        yield
        answers = {first: self.take(first, run)}
        if answers[first]:
            for host in hosts:
                yield
                answers[host] = self.take(host, run)
        if all(answers.values()):
            for host in hosts:
                self.at_work.setdefault(host, set()).add(run.id)
                assert self.at_work[host] == {run.id}
            yield
            for host in hosts:
                self.at_work[host].remove(run.id)
        self.ended[run.id] = "done" if all(answers.values()) else "refused"
        for host in hosts:
            yield
            give(self.home / host, run)

    def play(self, runs: dict[lease.Run, tuple[str, ...]], order: Iterator[int]) -> None:
        """Let the runs go on in this order, a step at a time."""
        left = [self.steps(run, hosts) for run, hosts in runs.items()]
        while left:
            step = left[next(order, 0) % len(left)]
            if next(step, self) is self:
                left.remove(step)
        for host in set().union(*runs.values()):
            assert not os.path.exists(self.home / host / PLACE)


@pytest.fixture(autouse=True)
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand stories; what survives a loss of power is no part of them."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def test_of_two_that_begin_together_one_goes_on_and_the_other_ends(tmp_path: Path) -> None:
    """Two hosts, and every order of the runs' first eight visits."""
    whole = list(itertools.product((0, 1), repeat=8))
    for number, order in enumerate(whole):
        world = World(tmp_path / str(number))
        world.play({A: ("n1", "n2"), B: ("n2", "n1")}, iter(order))
        assert "done" in world.ended.values()
    assert len(whole) == 256


@settings(max_examples=150)
@given(data=st.data())
def test_no_two_are_at_work_on_a_host_and_none_is_refused_without_another(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    hosts = ("n1", "n2", "n3")
    same = data.draw(st.booleans())
    some = st.permutations(hosts).flatmap(
        lambda mixed: st.just(mixed) if same else st.integers(1, 3).map(lambda n: mixed[:n])
    )
    runs = {run: tuple(data.draw(some)) for run in (A, B, C)}
    world = World(tmp_path_factory.mktemp("world"))
    world.play(runs, iter(data.draw(st.lists(st.integers(0, 5), max_size=40))))
    if same:
        assert "done" in world.ended.values()
    for run, wanted in runs.items():
        others = set().union(*(hosts for other, hosts in runs.items() if other != run))
        if not others & set(wanted):
            assert world.ended[run.id] == "done"
