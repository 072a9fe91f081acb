# SPDX-License-Identifier: GPL-3.0-or-later
"""What playbooks hand from one host's results to another's task, where a host has failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

TASKS = Path(__file__).parents[4] / "playbooks/tasks"
LAUNCH = {"hosts": ["n1", "n2", "n3"]}


def words(file: str, name: str, option: str) -> str:
    """An option of a task of a playbook, as it is written there."""

    def found(tasks: list[Any]) -> Any:
        for one in tasks:
            if one.get("name") == name:
                return next(value[option] for value in one.values() if isinstance(value, dict))
            inner = found(one.get("block", []))
            if inner is not None:
                return inner
        return None

    text = found(yaml.safe_load((TASKS / file).read_text()))
    assert isinstance(text, str)
    return text


@pytest.fixture
def render(inventory: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    def over(text: str, shared: dict[str, Any], **hosts: dict[str, Any]) -> Any:
        variables = {**inventory(**hosts), **shared}
        return Templar(DataLoader(), variables).template(trust_as_template(text))

    return over


def test_a_host_that_was_lost_does_not_hide_what_became_of_the_job(
    render: Callable[..., Any],
) -> None:
    text = words("smoke_job.yml", "Wait for its end and judge it", "settings")
    seen: dict[str, Any] = {"n1": {"__smoke_prepared": {"settings": {"ucx": {}}}}}
    seen.update(n2={"__smoke_prepared": {"msg": "no user"}}, n3={})
    reported = render(text, {"ibready_launch": LAUNCH}, **seen)
    assert reported == {"n1": {"ucx": {}}, "n2": {}, "n3": {}}


@pytest.mark.parametrize(
    ("serving", "told"),
    [
        ({"gone": [{"tcp_port": 18700}]}, [{"tcp_port": 18700}]),
        ({"failed": True, "msg": "no systemd"}, []),
        ({"unreachable": True}, []),
    ],
)
def test_whatever_became_of_its_server_a_host_asks(
    render: Callable[..., Any], serving: dict[str, Any], told: list[Any]
) -> None:
    text = words("rdma_round.yml", "Move data to the other host", "gone")
    shared = {"__rdma_part": {"server": "n2"}}
    assert render(text, shared, n1={}, n2={"ibready_rdma_serving": serving}) == told
    assert render(text, shared, n1={}, n2={}) == []


def test_what_an_earlier_run_met_is_forgotten() -> None:
    assert words("rdma.yml", "Plan who moves data to whom", "ibready_rdma_error") == ""


@pytest.mark.parametrize(
    ("said", "runs"),
    [
        ({}, False),
        ({"ibready_incast": False}, False),
        ({"ibready_incast": "false"}, False),
        ({"ibready_incast": True}, True),
        ({"ibready_incast": True, "ansible_check_mode": True}, False),
    ],
)
def test_no_port_is_loaded_without_consent(render: Callable[..., Any], said: dict[str, Any], runs: bool) -> None:
    plays = yaml.safe_load((TASKS.parent / "rdma.yml").read_text())
    task = next(
        task
        for play in plays
        for task in play.get("tasks", [])
        if task.get("ansible.builtin.include_tasks") == "tasks/incast.yml"
    )
    told = [render("{{ " + word + " }}", {"ansible_check_mode": False, **said}) for word in task["when"]]
    assert all(told) is runs
    # Nobody else includes it.
    others = [path.name for path in TASKS.parent.rglob("*.yml") if "tasks/incast.yml" in path.read_text()]
    assert others == ["rdma.yml"]


def test_what_an_earlier_incast_met_is_forgotten() -> None:
    assert words("incast.yml", "Plan who writes to whom at once", "ibready_incast_error") == ""
