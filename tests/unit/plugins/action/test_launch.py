# SPDX-License-Identifier: GPL-3.0-or-later
"""The module launch: what it writes, shows and returns."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action import launch
from tests.unit.launch_hosts import two

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]


@pytest.fixture
def run(action: Action, inventory: Inventory, shown: list[str]) -> Callable[..., dict[str, Any]]:
    """Launch on two hosts; ``check``: in check mode."""

    def launched(*, check: bool = False, **args: Any) -> dict[str, Any]:
        hosts = two()
        variables = inventory(**hosts)
        plugin = action(launch.ActionModule, variables, {"hosts": list(hosts), **args})
        plugin._task.check_mode = check
        found: dict[str, Any] = plugin.run(task_vars=variables)
        return found

    return launched


def test_scripts_are_written_once_and_can_be_run(run: Any, tmp_path: Path) -> None:
    found = run(dest=str(tmp_path / "launch"))
    assert found["changed"] is True
    assert set(found["written"]) == set(found["files"])
    assert os.access(tmp_path / "launch/torchrun.sh", os.X_OK)
    assert not os.access(tmp_path / "launch/mpi-hostfile", os.X_OK)
    again = run(dest=str(tmp_path / "launch"))
    assert (again["changed"], again["written"]) == (False, [])
    other = run(dest=str(tmp_path / "launch"), program="other.py")
    assert "mpi-hostfile" not in other["written"]
    assert "torchrun.sh" in other["written"]


def test_scripts_of_an_earlier_run_go_and_the_site_s_own_files_stay(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "launch"
    run(dest=str(folder))
    (folder / "srun.sh").write_text("#!/bin/sh\n# mine\n")
    (folder / "notes").write_text("mine")
    before = {one.name for one in folder.iterdir()}
    reported = run(dest=str(folder), kind="docker", image="a/b:1", check=True)
    assert {one.name for one in folder.iterdir()} == before
    found = run(dest=str(folder), kind="docker", image="a/b:1")
    assert found["removed"] == reported["removed"]
    assert {"mpirun.sh", "mpi-hostfile", "accelerate.sh"} <= set(found["removed"])
    kept = {"docker.sh", "torchrun.sh", "rank.sh", "srun.sh", "notes"}
    assert {one.name for one in folder.iterdir()} == kept
    again = run(dest=str(folder), kind="docker", image="a/b:1")
    assert (again["changed"], again["removed"]) == (False, [])


def test_check_mode_tells_what_it_would_write(run: Any, tmp_path: Path) -> None:
    found = run(check=True, dest=str(tmp_path / "launch"))
    assert found["changed"] is True
    assert not (tmp_path / "launch").exists()


def test_one_kind_is_shown_whole_and_all_are_named(run: Any, shown: list[str]) -> None:
    run(kind="horovod")
    text = "\n".join(shown)
    assert "----- horovod.sh" in text
    assert "----- horovod-hostfile\n10.0.0.1 slots=8\n10.0.0.2 slots=8" in text
    shown.clear()
    found = run()
    assert any(line.startswith("docker.sh     not rendered: it needs") for line in shown)
    assert any(line.startswith("mpirun.sh     Open MPI's mpirun, run it on") for line in shown)
    assert set(found["refused"]) == {"docker", "podman", "sbatch"}


def test_a_job_that_another_playbook_starts_is_not_shown(run: Any, shown: list[str]) -> None:
    assert "mpirun.sh" in run(kind="mpirun", show=False)["files"]
    assert shown == []


def test_what_a_job_needs_to_know_is_returned(run: Any) -> None:
    found = run(kind="mpirun", nodes=2)
    assert found["hosts"] == ["n1", "n2"]
    assert found["addresses"] == {"n1": "10.0.0.1", "n2": "10.0.0.2"}
    assert (found["processes"], found["rails"], found["simulated"]) == (8, True, "")
    assert found["scripts"] == {"mpirun": "mpirun.sh"}


def test_a_host_that_is_left_out_is_warned_of(
    action: Action, inventory: Inventory, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = inventory(**two(), n3={"ibready_node": {"msg": "Connection refused"}})
    plugin = action(launch.ActionModule, variables, {"hosts": ["n1", "n2", "n3"]})
    warned: list[str] = []
    monkeypatch.setattr(plugin._display, "warning", warned.append)
    found = plugin.run(task_vars=variables)
    assert found["left_out"] == {"n3": "not reached: Connection refused"}
    assert warned == ["n3 is left out of the launch scripts: not reached: Connection refused"]


def test_a_refusal_fails_with_the_reason(run: Any, tmp_path: Path) -> None:
    with pytest.raises(AnsibleActionFail, match="nothing to launch: docker: it needs a container"):
        run(kind="docker")
    with pytest.raises(AnsibleActionFail, match="nothing to launch: port: 1 is none"):
        run(port=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(AnsibleActionFail, match=r"were not written to .*next: set launch_dir"):
        run(dest=str(tmp_path / "file/launch"))
