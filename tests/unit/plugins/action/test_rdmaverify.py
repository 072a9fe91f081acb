# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.rdmaverify import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data
from tests.unit.incast_world import World, hosts, sent
from tests.unit.rdma_hosts import answered, two

Run = Callable[..., dict[str, Any]]
FAST = {data.BANDWIDTH: {"gbps": 391.0}, data.LATENCY: {"usec": 2.0}}
LOST = {"state": data.FAILED, "kind": data.LOST, "said": "retry counter exceeded"}


@pytest.fixture
def run(
    inventory: Callable[..., dict[str, Any]],
    action: Callable[..., ActionBase],
    shown: list[str],
    tmp_path: Path,
) -> Run:
    """Run the action over these hosts; ``args`` bend the task."""

    def over(known: dict[str, Any], **args: Any) -> dict[str, Any]:
        variables = inventory(**known)
        given = {"hosts": list(known), "dest": str(tmp_path / "reports"), **args}
        result: dict[str, Any] = action(ActionModule, variables, given).run(task_vars=variables)
        return result

    return over


def test_data_that_arrived_passes_and_is_written(run: Run, shown: list[str]) -> None:
    result = run(answered(two()))
    assert not result.get("failed"), result
    assert result["verdicts"] == {"n1": "ready", "n2": "ready"}
    written = json.loads(Path(result["json"]).read_text())
    assert written["schema"] == "ibready/rdma/1"
    assert len(written["rdma"]) == 8
    assert result["checks"]["n1"] == written["hosts"]["n1"]["checks"]
    assert "8/8 moved data" in shown[0]


def test_data_that_was_lost_fails_the_run(run: Run, shown: list[str]) -> None:
    lost = answered(two(), **dict.fromkeys(data.TESTS, LOST))
    result = run(lost)
    assert result["failed"] is True
    assert result["verdicts"] == {"n1": "not_ready", "n2": "not_ready"}
    assert "UDP 4791 is blocked" in result["msg"]
    assert "UDP 4791 is blocked" in shown[0]
    assert not run(lost, report_only=True).get("failed")


def test_what_was_not_moved_is_unknown(run: Run) -> None:
    assert run(two())["verdicts"] == {"n1": "unknown", "n2": "unknown"}


def test_without_hosts_there_is_nothing_to_judge(run: Run) -> None:
    with pytest.raises(AnsibleActionFail, match="no host to judge"):
        run({})


def test_without_a_folder_nothing_is_written(run: Run) -> None:
    assert "json" not in run(answered(two()), dest=None)


def test_a_folder_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AnsibleActionFail, match="ibready_report_dir"):
        run(answered(two()), dest=str(tmp_path / "file"))


def test_an_incast_is_judged_with_the_data_that_moved(run: Run, shown: list[str]) -> None:
    result = run(sent(answered(hosts(), **FAST), World()))
    assert result["verdicts"] == dict.fromkeys(("n1", "n2", "n3"), "ready"), shown
    written = json.loads(Path(result["json"]).read_text())
    assert [entry["receiver"] for entry in written["incasts"]] == ["n1", "n2", "n3"]
    result = run(sent(answered(hosts(), **FAST), World(pauses=None, marks=False)), report_only=True)
    assert set(result["verdicts"].values()) == {"not_ready"}
    assert "roce.incast.pfc" in shown[-1]
    result = run(sent(answered(hosts(), **FAST), World(tells=False)))
    assert set(result["verdicts"].values()) == {"degraded"}


def test_without_consent_nothing_is_said_of_incasts(run: Run) -> None:
    result = run(answered(hosts(), **FAST))
    assert json.loads(Path(result["json"]).read_text())["incasts"] == []
    assert not [check for some in result["checks"].values() for check in some if "incast" in check["id"]]
