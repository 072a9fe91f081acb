# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run this is, and that a run of this machine that has ended is in nobody's way."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.run_lease import ActionModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import this_run
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import lease_told

Action = Callable[..., ActionBase]


def mark(pid: int) -> str:
    return " ".join((str(pid), this_run._begun(pid), *this_run._here()))


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield made
    made.kill()
    made.wait()


def test_all_workers_of_a_run_are_one_run_and_another_process_is_another(
    process: subprocess.Popen[bytes],
) -> None:
    here = this_run.identity()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        there = [pool.apply(this_run.identity) for _ in range(4)]
    assert there == [here] * 4
    assert here["run"] == mark(os.getpid()) != mark(process.pid)
    assert f"(process {os.getpid()})" in here["who"]


def test_a_process_that_lives_or_is_stopped_has_not_ended(
    process: subprocess.Popen[bytes],
) -> None:
    run = mark(process.pid)
    assert not this_run.ended(run)
    process.send_signal(signal.SIGSTOP)
    assert not this_run.ended(run)


def test_a_process_that_is_gone_a_zombie_or_another_one_by_now_has_ended(
    process: subprocess.Popen[bytes],
) -> None:
    run = mark(process.pid)
    pid, begun, *place = run.split()
    assert this_run.ended(" ".join((pid, str(int(begun) - 1), *place)))
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert this_run.ended(run)
    process.wait()
    assert this_run.ended(run)


@pytest.mark.parametrize("at", [2, 3])
def test_of_another_machine_boot_or_container_nothing_is_known(process: subprocess.Popen[bytes], at: int) -> None:
    words = mark(process.pid).split()
    process.kill()
    process.wait()
    words[at] = "other"
    assert not this_run.ended(" ".join(words))


@pytest.mark.parametrize("run", ["", "x", "1 2", "-1 2 3 4", "1 2 3 4 5", "\x00 1 2 3", "² 1 2 3"])
def test_what_is_no_mark_of_a_run_has_not_ended(run: str) -> None:
    assert not this_run.ended(run)
    assert not this_run.ended(" ".join((f"{run[:1]}x", "1", *this_run._here())))


@pytest.mark.parametrize("error", [PermissionError, None])
def test_where_processes_are_hidden_none_has_ended(
    process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, error: type[OSError] | None
) -> None:
    run = mark(process.pid)

    def hidden(_pid: int) -> int | None:
        if error:
            raise error
        return None

    monkeypatch.setattr(this_run, "begun", hidden)
    assert not this_run.ended(run)


class Node:
    """The answers of a host that another run has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, run: str) -> None:
        self.asked: list[dict[str, Any]] = []
        self.run = run
        monkeypatch.setattr(ActionModule, "_execute_module", self._answer)

    def _answer(self, **given: Any) -> dict[str, Any]:
        self.asked.append(given["module_args"])
        if given["module_args"].get("over") == self.run:
            return {"changed": True, "taken": True}
        return {"failed": True, "msg": "another run", "holder": {"run": self.run}}


def ask(action: Action) -> dict[str, Any]:
    done: dict[str, Any] = action(ActionModule, {}, {"state": "taken"}).run(task_vars={})
    return done


def test_a_host_is_taken_over_from_a_run_of_here_that_has_ended(
    action: Action, monkeypatch: pytest.MonkeyPatch, process: subprocess.Popen[bytes]
) -> None:
    node = Node(monkeypatch, mark(process.pid))
    assert ask(action)["failed"]
    assert len(node.asked) == 1
    assert node.asked[0]["run"] == this_run.identity()["run"]
    process.kill()
    process.wait()
    assert ask(action)["taken"]
    assert node.asked[-1]["over"] == node.run


@pytest.mark.parametrize("holder", [None, "gone", 7, [], {}, {"run": None}, {"run": {"x": 1}}])
def test_a_host_that_answers_nonsense_is_not_taken_over(
    action: Action, monkeypatch: pytest.MonkeyPatch, holder: object
) -> None:
    asked: list[object] = []

    def answer(*_: object, **_given: object) -> dict[str, object]:
        asked.append(1)
        return {"failed": True, "msg": "no", "holder": holder}

    monkeypatch.setattr(ActionModule, "_execute_module", answer)
    assert ask(action)["failed"]
    assert len(asked) == 1


HELD = {"what": "site.yml", "who": "eve@other", "since": "11:41", "until": "23:41"}


def test_the_message_names_run_hosts_and_times_once() -> None:
    hostvars: dict[str, Any] = {
        f"n{number}": {"ibready_lease": {"holder": {**HELD, "since": f"11:4{number}"}}} for number in range(7)
    }
    hostvars["n1"] = {"ibready_lease": {"taken": True}}
    hostvars["n8"] = {"ibready_lease": {"skipped": True}, "ibready_lease_first": {"holder": HELD}}
    hostvars["n9"] = {"ibready_lease": {"holder": {**HELD, "who": "mallory"}}}
    assert lease_told(hostvars, list(hostvars)) == (
        "site.yml by eve@other is at work since 11:40 on n0, n2, n3, n4, n5 and 2 more, until "
        "23:41 at the latest; site.yml by mallory is at work since 11:41 on n9, until 23:41 at "
        "the latest"
    )
    assert lease_told(hostvars, ["n1", "n7"]) == ""


@pytest.mark.parametrize("answer", [None, "x", 7, {"holder": "x"}, {"holder": None}, {}])
def test_an_answer_without_a_holder_says_nothing(answer: object) -> None:
    assert lease_told({"n1": {"ibready_lease": answer}}, ["n1"]) == ""


def test_a_hosts_words_are_cut_and_bring_no_line_or_escape() -> None:
    wild = {"who": "\x1b[2J\n{{ 1 }}" + "x" * 9999, "what": ["a"], "since": None}
    reported = lease_told({"n1": {"ibready_lease": {"holder": wild}}}, ["n1"])
    assert reported.isprintable()
    assert len(reported) < 400
