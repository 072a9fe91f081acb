# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import configparser
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.callback.changes import CallbackModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import silence
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed

ROOT = Path(__file__).parents[5]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> changed.Reported:
    mine = changed.Reported()
    monkeypatch.setattr("ansible_collections.ibready.cluster.plugins.callback.changes.TOLD", mine)
    return mine


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    mine: dict[str, str] = {}
    monkeypatch.setattr(silence, "SILENT", mine)
    return mine


def result(host: str, task: str, *, is_changed: bool = True, **told: Any) -> Any:
    return SimpleNamespace(
        result=told,
        is_changed=lambda: is_changed,
        host=SimpleNamespace(get_name=lambda: host),
        task=SimpleNamespace(get_name=lambda: task),
    )


def test_what_changed_is_counted_by_host_in_order(told: changed.Reported) -> None:
    callback = CallbackModule()
    callback.v2_playbook_on_start(None)
    for one in ("rdma : install", "rdma : load", "rdma : install"):
        callback.v2_runner_on_ok(result("n1", one))
    callback.v2_runner_on_ok(result("n2", "rdma : load", is_changed=False))
    assert told.to_dict() == {"n1": [{"task": "rdma : install", "times": 2}, {"task": "rdma : load", "times": 1}]}


def test_what_failed_half_way_has_changed_the_host(told: changed.Reported) -> None:
    callback = CallbackModule()
    callback.v2_playbook_on_start(None)
    callback.v2_runner_on_failed(result("n1", "rdma : install"))
    callback.v2_runner_on_failed(result("n2", "rdma : install", is_changed=False), True)
    assert told.to_dict() == {"n1": [{"task": "rdma : install", "times": 1}]}


def test_a_new_run_forgets_the_last(told: changed.Reported) -> None:
    told.begin(datetime.now(UTC))
    told.changed("n1", "x")
    told.begin(datetime.now(UTC))
    assert told.to_dict() == {}


TIMED_OUT = {"failed": True, "timedout": {"period": 300}}
WHY = "gave no answer for 300 s to: rdma : install"


@pytest.mark.parametrize("told", [TIMED_OUT, {"failed": True, "results": [{"rc": 0}, TIMED_OUT]}])
@pytest.mark.parametrize("ignored", [False, True])
def test_who_gave_no_answer_is_remembered_with_what_it_was_asked(
    silent: dict[str, str], told: dict[str, Any], ignored: bool
) -> None:
    callback = CallbackModule()
    callback.v2_runner_on_failed(result("n1", "rdma : install", is_changed=False, **told), ignored)
    callback.v2_runner_on_failed(result("n1", "Stop it", is_changed=False, **TIMED_OUT))
    callback.v2_runner_on_failed(result("n2", "rdma : install", is_changed=False, failed=True))
    callback.v2_runner_on_ok(result("n1", "Remember what stopped this host", is_changed=False))
    assert silent == {"n1": WHY}


@pytest.mark.parametrize("word", ["node", "packed"])
def test_who_says_what_it_is_is_there_again(silent: dict[str, str], word: str) -> None:
    callback = CallbackModule()
    silent.update(n1=WHY, n2=WHY)
    callback.v2_runner_on_ok(result("n1", "visit", is_changed=False, **{word: {}}))
    assert silent == {"n2": WHY}
    callback.v2_playbook_on_start(None)
    assert silent == {}


@pytest.mark.parametrize("odd", [{"timedout": 7}, {"timedout": {"period": "7"}}, {"results": "x"}, {"results": [1]}])
def test_what_a_node_says_of_time_is_read_with_care(odd: dict[str, Any]) -> None:
    assert silence.seconds(odd) == 0


def test_where_nobody_listened_nothing_is_claimed() -> None:
    assert changed.Reported().to_dict() is None


def test_the_checkout_has_it_enabled() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "ansible.cfg")
    enabled = settings["defaults"]["callbacks_enabled"].split(",")
    assert CallbackModule.CALLBACK_NAME in [one.strip() for one in enabled]


def test_work_of_the_controller_that_takes_too_long_says_nothing_of_a_host(silent: dict[str, str]) -> None:
    callback = CallbackModule()
    mine = result("n1", "Read the packages", is_changed=False, **TIMED_OUT)
    mine.task.delegate_to = "localhost"
    callback.v2_runner_on_failed(mine)
    assert silent == {}
