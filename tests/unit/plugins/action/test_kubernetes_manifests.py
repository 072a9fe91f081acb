# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action import kubernetes_manifests
from tests.unit import clusters
from tests.unit.clusters import IMAGE, REGISTRY, Like

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]


@pytest.fixture
def run(action: Action, inventory: Inventory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Render for these hosts into out/ of a folder; returns the result and what was warned of."""
    monkeypatch.setenv("PWD", str(tmp_path))

    def act(
        hosts: dict[str, Like], *, check: bool = False, diff: bool = False, **args: Any
    ) -> tuple[dict[str, Any], list[str]]:
        variables = inventory(**clusters.hostvars(hosts))
        wanted = {"hosts": [*hosts, "gone"], "dest": "out", "registry": REGISTRY, **args}
        plugin = action(kubernetes_manifests.ActionModule, variables, wanted)
        plugin._task.check_mode, plugin._task.diff = check, diff
        warned: list[str] = []
        monkeypatch.setattr(plugin._display, "warning", warned.append)
        return plugin.run(task_vars=variables), warned

    return act


def test_files_are_written_once_and_absent_hosts_are_warned_of(run: Any, tmp_path: Path) -> None:
    hosts = {"node1": Like(), "node2": Like()}
    result, warned = run(hosts, image=IMAGE)
    assert result["changed"]
    assert result["dest"] == str(tmp_path / "out")
    there = {path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.*")}
    assert {str(one) for one in there} == {*result["files"], ".ibready.json"}
    assert result["operators"] == {"gpu_operator": "26.7.0", "network_operator": "26.7.0"}
    assert list(result["resources"].values()) == [{"rdma/hca_ib": 1}]
    assert result["absent"] == ["gone"]
    assert any("gone: it told nothing" in one for one in warned)
    assert not run(hosts, image=IMAGE)[0]["changed"]
    again, _warned = run({"node1": Like()}, image=IMAGE)
    assert again["changed"]
    assert not (tmp_path / "out/node-labels/node2.yaml").exists()


def test_a_folder_in_the_home_is_there(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    result, _warned = run({"node1": Like()}, dest="~/out")
    assert result["dest"] == str(tmp_path / "home/out")


def test_check_mode_shows_and_writes_nothing(run: Any, tmp_path: Path) -> None:
    result, _warned = run({"node1": Like()}, check=True, diff=True)
    assert result["changed"]
    assert any("NicClusterPolicy" in one["after"] for one in result["diff"])
    assert not (tmp_path / "out").exists()


def test_a_refusal_writes_nothing(run: Any, tmp_path: Path) -> None:
    with pytest.raises(AnsibleActionFail, match=r"there would be two.*Nothing was written\."):
        run({"node1": Like()}, driver="operator")
    with pytest.raises(AnsibleActionFail, match="namespace is 'A'"):
        run({"node1": Like()}, namespace="A")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(AnsibleActionFail, match=r"cannot be read: .*Not a directory"):
        run({"node1": Like()})
