# SPDX-License-Identifier: GPL-3.0-or-later
"""The action topology: files of a run's fabric, and nothing of one that was not seen as a whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.topology import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report
from tests.unit.fabrics import Fabric, tree

Run = Callable[..., dict[str, Any]]
NAMES = [f"node{number}" for number in range(1, 7)]


@pytest.fixture
def run(
    inventory: Callable[..., dict[str, Any]],
    action: Callable[..., ActionBase],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Run:
    """Over six hosts, the first of which asked; whose HCAs are whose is the fabric's word."""

    def over(fabric: Fabric | None = None, *, check: bool = False, answers: Any = None, **site: Any) -> dict[str, Any]:
        fabric = fabric or tree()
        look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "packed": observe_look.pack(answers or fabric.answers())}
        asked = {"ibready_fabric_asks": {"node1": []}, "ibready_fabric_looks": {"looks": [look]}}
        hosts: dict[str, Any] = {name: {} for name in NAMES}
        hosts["node1"] = asked
        variables = inventory(site, **hosts)
        monkeypatch.setattr(report, "inventory", lambda *_: fabric.inventory())
        made: Any = action(ActionModule, variables, {"hosts": NAMES, "dest": str(tmp_path / "out")})
        made._task.check_mode = check
        result: dict[str, Any] = made.run(task_vars=variables)
        return result

    return over


def test_files_are_written_once(run: Run, tmp_path: Path) -> None:
    result = run()
    files = ["hostfile", "node-labels.yaml", "topology.conf", "topology.yaml"]
    assert (result["changed"], result["files"], sorted(result["written"])) == (True, files, files)
    assert result["order"] == NAMES
    assert "SwitchName=leaf1 Nodes=node[1-2]" in (tmp_path / "out/topology.conf").read_text()
    assert not run()["changed"]


def test_check_mode_writes_nothing(run: Run, tmp_path: Path) -> None:
    assert run(check=True)["changed"]
    assert not (tmp_path / "out").exists()


def test_what_an_earlier_run_wrote_and_this_one_did_not_goes(run: Run, tmp_path: Path) -> None:
    run()
    (tmp_path / "out/topology-block.conf").write_text("# written by ibready once\n")
    assert run()["removed"] == ["topology-block.conf"]
    assert not (tmp_path / "out/topology-block.conf").exists()


def test_a_file_of_somebody_else_stops_it_all(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/hostfile").write_text("mine\n")
    with pytest.raises(AnsibleActionFail, match=r"hostfile is there and not ours.*Nothing was written"):
        run()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["hostfile"]


def test_of_a_fabric_that_was_cut_nothing_is_written(run: Run, tmp_path: Path) -> None:
    answers = tree().answers()
    answers["ibnetdiscover"]["stdout"] = answers["ibnetdiscover"]["stdout"].rpartition("vendid")[0]
    with pytest.raises(AnsibleActionFail, match=r"was not seen as a whole: .*one end only.*Nothing was written"):
        run(answers=answers)
    assert not (tmp_path / "out").exists()


def test_who_has_no_place_is_told_and_named_in_the_files(run: Run, tmp_path: Path) -> None:
    fabric = tree()
    fabric.pull(("2c00", 1))
    assert run(fabric)["absent"] == {"node2": "none of its 1 InfiniBand rails is on a switch"}
    for name in ("topology.conf", "topology.yaml", "node-labels.yaml", "hostfile"):
        assert "without a place in the tree: node2: none of its" in (tmp_path / "out" / name).read_text()


def test_the_present_file_is_held_against_the_fabric(run: Run, tmp_path: Path) -> None:
    present = tmp_path / "topology.conf"
    present.write_text("SwitchName=s1 Nodes=node[1-3]\nSwitchName=s2 Nodes=node[4-6]\nSwitchName=t Switches=s[1-2]\n")
    result = run(ibready_topology_file=str(present))
    failed = {check["id"] for check in result["checks"] if check["result"] == "fail"}
    assert failed == {"fabric.topology.leaf"}
    present.write_text("SwitchName=s1 Nodes=node[1-3\n")
    with pytest.raises(AnsibleActionFail, match=r"ibready_topology_file: .*line 1 .*Nothing was written"):
        run(ibready_topology_file=str(present))


def test_two_hosts_of_one_node_name_are_refused(run: Run) -> None:
    with pytest.raises(AnsibleActionFail, match="would all be the node gpu"):
        run(ibready_slurm_node="gpu")


def test_a_run_that_did_not_ask_is_refused(
    inventory: Callable[..., dict[str, Any]], action: Callable[..., ActionBase], tmp_path: Path
) -> None:
    variables = inventory(node1={})
    with pytest.raises(AnsibleActionFail, match="nobody has asked a fabric"):
        action(ActionModule, variables, {"hosts": ["node1"], "dest": str(tmp_path)}).run(task_vars=variables)
