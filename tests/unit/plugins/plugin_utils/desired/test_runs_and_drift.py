# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import drift, runs
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired.items import Wanted

TOP = Path(__file__).parents[5]
ROLES = [runs.Role("tuning"), runs.Role("rdma", moves=True), runs.Role("nccl"), runs.Role("gate")]


def entry(role: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "task": "Do it", "state": "differs", "why": "", "diff": [], **more}


def run(*told: dict[str, Any], always: dict[str, list[str]] | None = None) -> list[str]:
    wanted = [Wanted(role.name, always=(always or {}).get(role.name, [])) for role in ROLES]
    found: list[str] = runs.judged(ROLES, wanted, told)["run"]
    return found


def test_only_roles_run_of_which_something_differs() -> None:
    assert run() == []
    assert run(entry("tuning")) == ["tuning"]
    assert run(entry("gate"), entry("nccl")) == ["nccl", "gate"]


def test_what_moves_has_those_behind_it_run() -> None:
    assert run(entry("rdma")) == ["rdma", "nccl", "gate"]
    assert run(always={"rdma": ["Ask: nobody knows"]}) == ["rdma", "nccl", "gate"]


def test_what_is_no_role_is_named_for_whoever_acts_on_it() -> None:
    assert run(entry("plan")) == ["plan"]


def test_a_role_that_has_to_look_says_why() -> None:
    found = runs.judged(ROLES, [Wanted("nccl", always=["Ask: nobody knows: why"])], [])
    assert found["differs"] == [entry("nccl", task="Ask", state="always", why="nobody knows: why")]


def test_what_would_stop_a_role_half_way_is_refused_by_role_and_task() -> None:
    why = "docker: daemon.json is left as it is: line 2 column 3: a comment. Nothing was changed. Next: fix it"
    found = runs.judged(ROLES, [], [entry("nccl", state="refused", why=why), entry("gate", state="unknown", why="?")])
    assert found["refused"] == [f"the role nccl would stop at Do it: {why}"]
    assert found["run"] == ["nccl", "gate"]


def test_a_host_is_refused_before_anything_of_it_is_remembered_or_changed() -> None:
    first = yaml.safe_load((TOP / "playbooks/tasks/converge_host.yml").read_text())[0]
    assert first["ansible.builtin.fail"]["msg"].endswith("{{ ibready_desired.refused | join(' ') }}")
    assert (first["when"], first["tags"]) == ("ibready_desired.refused | length > 0", ["always"])


def test_the_key_for_modules_that_dkms_builds_is_asked_for_before_the_first_part_is_installed() -> None:
    tasks = yaml.safe_load((TOP / "playbooks/tasks/converge_host.yml").read_text())
    roles = [task.get("ansible.builtin.include_role") or {} for task in tasks]
    asked = next(at for at, role in enumerate(roles) if role.get("tasks_from") == "secure_boot")
    assert asked < next(at for at, role in enumerate(roles) if role.get("name") == "ibready.cluster.rdma")
    assert "ibready_plan.install.dkms | default([]) | length > 0" in tasks[asked]["when"]


def test_equal_drift_of_several_hosts_is_said_once() -> None:
    diff = {"after_header": "/etc/x", "before": "a\nb\n", "after": "b\nc\n"}
    same = [entry("nccl", diff=[diff])]

    text = drift.told({"n1": same, "n2": [], "n3": same}, {"n4": "n4 was not compared: gone"})

    assert text.splitlines() == [
        "n1, n3",
        "  nccl: Do it: differs",
        "    /etc/x",
        "      - a",
        "      + c",
        "",
        "n4 was not compared: gone",
        "",
        "n2: nothing differs",
    ]


def test_a_host_s_words_move_no_cursor() -> None:
    text = drift.told({"n1": [entry("nccl", why="\x1b[2J\nn9: nothing differs")]}, {})
    assert "\x1b" not in text


def test_a_host_that_was_not_compared_is_never_without_drift() -> None:
    answers: dict[str, Any] = {
        "n1": {"ibready_desired": {"compared": True, "differs": []}},
        "n2": {"ibready_desired": {"compared": False, "differs": []}},
        "n3": {"ibready_desired": {"failed": True, "msg": "no engine"}},
        "n4": {"ibready_node": {"msg": "no route", "unreachable": True}},
    }

    differs, uncompared = drift.gathered(answers, ["n1", "n2", "n3", "n4", "n5"])

    assert differs == {"n1": []}
    assert uncompared["n3"] == "n3 was not compared: no engine"
    assert uncompared["n4"] == "n4 was not compared: no route"
    assert set(uncompared) == {"n2", "n3", "n4", "n5"}


def test_a_host_that_nobody_compared_says_what_stopped_it() -> None:
    told = {
        "n1": {"ibready_desired": {"compared": True, "differs": []}},
        "n2": {"ibready_desired": {"msg": "Plan the stack: no such kernel"}},
        "n3": {"ibready_node": {"msg": "no route to host"}},
        "n4": {},
    }
    assert drift.gathered(told, told) == (
        {"n1": []},
        {
            "n2": "n2 was not compared: Plan the stack: no such kernel",
            "n3": "n3 was not compared: no route to host",
            "n4": "n4 was not compared: nobody asked it",
        },
    )
