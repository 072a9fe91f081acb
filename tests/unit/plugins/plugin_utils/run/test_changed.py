# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import configparser
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.callback.changes import CallbackModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed

ROOT = Path(__file__).parents[5]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> changed.Reported:
    mine = changed.Reported()
    monkeypatch.setattr("ansible_collections.ibready.cluster.plugins.callback.changes.TOLD", mine)
    return mine


def result(host: str, task: str, *, is_changed: bool = True) -> Any:
    return SimpleNamespace(
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


def test_where_nobody_listened_nothing_is_claimed() -> None:
    assert changed.Reported().to_dict() is None


def test_the_checkout_has_it_enabled() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "ansible.cfg")
    enabled = settings["defaults"]["callbacks_enabled"].split(",")
    assert CallbackModule.CALLBACK_NAME in [one.strip() for one in enabled]
