# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.reboot import fabric_wait as _fabric_wait
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.modules import fabric_wait
from tests.gauntlet.render import node, render
from tests.gauntlet.tree import Tree

Run = Callable[..., dict[str, Any]]
UNIT = """Id=nvidia-fabricmanager.service
LoadState=loaded
ActiveState={active}
UnitFileState={enabled}
MainPID=1
"""


def port(root: Path, name: str, state: str) -> None:
    device, number = name.split("/")
    path = root / f"sys/class/infiniband/{device}/ports/{number}/state"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{state}\n")


def hgx(active: str, enabled: str = "enabled") -> Tree:
    tree = render(node("hgx-h100-8"))
    name = "systemctl_show@nvidia-fabricmanager.service"
    tree.command(name, UNIT.format(active=active, enabled=enabled))
    return tree


def test_active_ports_are_those_whose_state_says_so(tmp_path: Path) -> None:
    port(tmp_path, "mlx5_0/1", "4: ACTIVE")
    port(tmp_path, "mlx5_1/1", "2: INIT")
    assert _fabric_wait.active_ports(Live(tmp_path)) == ["mlx5_0/1"]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    port(tmp_path, "mlx5_0/1", "2: INIT")
    assert _fabric_wait.missing(Live(tmp_path), ["mlx5_0/1", "mlx5_1/1"], False) == [
        "mlx5_0/1 is Init",
        "mlx5_1/1 is not there",
    ]


def test_the_fabric_manager_is_wanted_where_it_runs_or_starts_with_the_host() -> None:
    assert _fabric_wait.manager_wanted(hgx("active", "disabled"))
    assert _fabric_wait.manager_wanted(hgx("inactive"))
    assert not _fabric_wait.manager_wanted(hgx("inactive", "disabled"))
    assert not _fabric_wait.manager_wanted(Tree())


def test_the_fabric_manager_is_ready_when_no_gpu_waits() -> None:
    assert _fabric_wait.missing(hgx("active"), [], True) == []
    assert _fabric_wait.missing(hgx("failed"), [], True) == ["the fabric manager is failed"]
    early = hgx("active")
    reported = early.commands["nvsmi_xml"].stdout
    early.command("nvsmi_xml", reported.replace(">Completed<", ">In Progress<"))
    assert "not yet in the NVLink fabric" in _fabric_wait.missing(early, [], True)[0]


def test_a_fabric_manager_that_cannot_be_asked_for_is_not_ready() -> None:
    assert "cannot be asked for" in _fabric_wait.missing(Tree(), [], True)[0]
    silent = hgx("active")
    del silent.commands["nvsmi_xml"]
    assert "cannot be asked for" in _fabric_wait.missing(silent, [], True)[0]


def test_it_waits_until_the_port_is_back(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    port(tmp_path, "mlx5_0/1", "2: INIT")
    monkeypatch.setattr("time.sleep", lambda _seconds: port(tmp_path, "mlx5_0/1", "4: ACTIVE"))
    done = run_module(fabric_wait.main, ports=["mlx5_0/1"], root=str(tmp_path))
    assert (done["missing"], done["changed"]) == ([], False)


def test_at_the_deadline_it_says_what_to_do(tmp_path: Path, run_module: Run) -> None:
    port(tmp_path, "mlx5_0/1", "1: DOWN")
    failed = run_module(fabric_wait.main, ports=["mlx5_0/1"], timeout=0, root=str(tmp_path))
    assert failed["failed"]
    assert "mlx5_0/1 is Down. What waits" in failed["msg"]
    assert "Next: `ibstat`" in failed["msg"]


def test_check_mode_looks_once(tmp_path: Path, run_module: Run) -> None:
    reported = run_module(fabric_wait.main, check=True, ports=["mlx5_0/1"], root=str(tmp_path))
    assert reported["missing"] == ["mlx5_0/1 is not there"]
