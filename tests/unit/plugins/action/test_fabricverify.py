# SPDX-License-Identifier: GPL-3.0-or-later
"""The action fabricverify, asked ad hoc: who asks, and what comes of no answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.fabricverify import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from tests.unit.fabrics import Fabric, tree

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(
    inventory: Callable[..., dict[str, Any]],
    action: Callable[..., ActionBase],
    shown: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run it on ``me``, of three hosts; ``asked``: what fabric_look returns there.

    ``known``: what earlier tasks have registered of hosts.
    """

    def over(
        me: str,
        asked: dict[str, Any],
        args: dict[str, Any] | None = None,
        known: dict[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        hosts = ("node1", "node2", "node3")
        reported = {name: (known or {}).get(name, {}) for name in hosts}
        variables = {**inventory(**reported), "inventory_hostname": me}
        variables |= {"ansible_play_hosts_all": hosts, "ansible_play_hosts": hosts, **more}
        monkeypatch.setattr(ActionModule, "_execute_module", lambda *_, **__: asked)
        result: dict[str, Any] = action(ActionModule, variables, args or {}).run(task_vars=variables)
        return result

    return over


def heard(fabric: Fabric | None = None) -> dict[str, Any]:
    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0}
    return {"looks": [{**look, "packed": observe_look.pack((fabric or tree()).answers())}]}


def test_the_first_host_asks_for_all(run: Run) -> None:
    assert run("node1", heard())["verdict"] == "ready"
    assert "node1 asks for all" in run("node2", heard())["msg"]


def test_the_first_host_that_is_still_there_asks(run: Run) -> None:
    left = {"ansible_play_hosts": ["node2", "node3"]}
    assert run("node2", heard(), **left)["verdict"] == "ready"
    assert "node2 asks for all" in run("node3", heard(), **left)["msg"]


def test_hosts_that_the_site_names_ask(run: Run) -> None:
    named = {"ibready_fabric_from": ["node9", "node2"]}
    assert run("node2", heard(), **named)["verdict"] == "ready"
    assert "node2 asks for all" in run("node1", heard(), **named)["msg"]


@pytest.mark.parametrize(
    ("site", "says"),
    [
        ({"ibready_fabric_from": ["node9"]}, "names node9, and none of them takes part"),
        ({"ibready_fabric_from": "node12"}, "ibready_fabric_from: 'node12' is no list"),
        ({"ibready_fabric_known": "storage*"}, "ibready_fabric_known: 'storage\\*' is no list"),
    ],
)
def test_names_that_would_leave_the_fabric_unseen_are_refused(run: Run, site: dict[str, Any], says: str) -> None:
    with pytest.raises(AnsibleActionFail, match=says):
        run("node1", heard(), **site)


def test_a_host_that_could_not_ask_fails(run: Run) -> None:
    result = run("node1", {"failed": True, "msg": "the fabric was not asked: no link"})
    assert (result["failed"], "verdict" in result) == (True, False)


def test_a_host_without_infiniband_says_who_else_may_ask(run: Run) -> None:
    result = run("node1", {"looks": []})
    assert result["skipped"]
    assert "ibready_fabric_from" in result["msg"]


def test_a_plan_that_cannot_be_read_stops_before_anybody_is_asked(run: Run) -> None:
    never = {"failed": True, "msg": "asked"}
    with pytest.raises(AnsibleActionFail, match=r"nonexistent\.csv"):
        run("node1", never, args={"plan": "/nonexistent.csv"})


def test_a_plan_that_is_given_counts_of_a_run_as_well(run: Run, tmp_path: Path) -> None:
    fabric = tree()
    cabling = tmp_path / "ibnetdiscover.txt"
    cabling.write_text(fabric.discovery())
    fabric.pull(("a10", 36))
    looked = {"ibready_fabric_asks": {"node1": []}, "ibready_fabric_looks": heard(fabric)}
    args = {"hosts": ["node1"], "plan": str(cabling), "report_only": True}
    result = run("node1", {}, args=args, known={"node1": looked})
    assert ("fabric.cabling.missing", "fail") in [(one["id"], one["result"]) for one in result["checks"]]
    assert "failed" not in result
    assert run("node1", {}, args={**args, "report_only": False}, known={"node1": looked})["failed"]


@pytest.mark.parametrize("other", [{"bundle": "/srv/bundles/node7"}, {"ports": []}])
def test_what_has_been_asked_and_what_is_to_be_asked_are_not_judged_at_once(run: Run, other: dict[str, Any]) -> None:
    with pytest.raises(AnsibleActionFail, match="mutually exclusive"):
        run("node1", heard(), args={"hosts": ["node1"], **other})


def test_what_a_switch_calls_itself_does_not_move_the_cursor(run: Run, shown: list[str], tmp_path: Path) -> None:
    fabric = tree()
    kind, name = fabric.nodes["a10"]
    fabric.nodes["a10"] = (kind, f"{name}\x07\x08")
    cabling = tmp_path / "ibnetdiscover.txt"
    cabling.write_text(fabric.discovery())
    fabric.pull(("a10", 36))
    run("node1", heard(fabric), args={"plan": str(cabling), "report_only": True})
    text = "\n".join(shown)
    assert f"{name}??" in text
    assert all(one.isprintable() or one == "\n" for one in text)
