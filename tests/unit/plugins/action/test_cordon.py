# SPDX-License-Identifier: GPL-3.0-or-later
"""The action cordon: by a run's verdicts, over a stand-in for the API server."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.cordon import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import UNKNOWN
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.node import MARK, TAINT
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import folded
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json
from tests.unit import api_server, runs
from tests.unit.api_server import Server

Run = Callable[..., dict[str, Any]]
SIMULATED = {"simulated": "everything"}
ALL = ["cordon", "taint", "back"]


@pytest.fixture
def run(
    inventory: Callable[..., dict[str, Any]],
    action: Callable[..., ActionBase],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Run:
    """Of n1 (ready), n2 (not ready) and n3 (degraded), whose nodes have these names, unless the site gives others."""

    def over(
        server: Server,
        *,
        check: bool = False,
        hosts: Mapping[str, Any] = runs.MIXED,
        created: datetime | str | None = None,
        site: Mapping[str, dict[str, Any] | None] | None = None,
        **args: Any,
    ) -> dict[str, Any]:
        monkeypatch.setattr(cluster, "_by_program", lambda _program, words: api_server.kubectl(server, words))
        report = tmp_path / "ibready-report.json"
        report.write_text(render_json.render(folded.fold(runs.run(hosts, created=created or datetime.now(UTC)))))
        named = {name: {"kubernetes_rdma_node": name} for name in hosts}
        known = {name: entry for name, entry in {**named, **(site or {})}.items() if entry is not None}
        variables = inventory({}, **known)
        made: Any = action(ActionModule, variables, {"report": str(report), "context": "training", **args})
        made._task.check_mode = check
        result: dict[str, Any] = made.run(task_vars=variables)
        return result

    return over


def nodes() -> Server:
    return Server(*[api_server.node(name) for name in ("n1", "n2", "n3", "control")])


def test_who_is_not_ready_is_taken_out_and_nobody_else(run: Run, shown: list[str]) -> None:
    server = nodes()
    result = run(server, allow=ALL)
    assert (result["changed"], result["errors"], result["known"]) == (True, {}, 4)
    assert [(one["host"], one["back"]) for one in result["steps"]] == [("n2", False)]
    assert server.nodes["n2"]["spec"]["unschedulable"]
    assert server.nodes["n2"]["spec"]["taints"][0]["key"] == TAINT
    assert {name for name, one in server.nodes.items() if one["spec"]} == {"n2"}
    assert "1 of 4 nodes change" in shown[0]
    assert "n2: cordon and taint" in shown[1]
    assert not run(server, allow=ALL)["changed"], "once"


def test_without_consent_the_plan_is_shown_and_nothing_done(run: Run, shown: list[str]) -> None:
    server = nodes()
    result = run(server)
    assert (result["changed"], result["steps"], server.patches) == (False, [], [])
    assert "n2: ib.port.state, and neither cordon nor taint is allowed; next: add cordon" in shown[0]


def test_in_check_mode_the_server_keeps_nothing(run: Run, shown: list[str]) -> None:
    server = nodes()
    assert run(server, check=True, allow=ALL)["changed"]
    assert server.nodes == nodes().nodes
    assert [query["dryRun"] for _name, _patch, query in server.patches] == [["All"]]
    assert "the server would take it" in shown[1]


def test_who_is_good_again_is_given_back(run: Run) -> None:
    server = nodes()
    run(server, allow=ALL)
    again = {**runs.MIXED, "n2": runs.MIXED["n1"]}
    assert [one["back"] for one in run(server, hosts=again, allow=ALL)["steps"]] == [True]
    assert server.nodes["n2"]["spec"] == {}
    assert MARK not in server.nodes["n2"]["metadata"]["annotations"]


@pytest.mark.parametrize("result", [None, UNKNOWN])
def test_who_is_good_but_for_what_took_it_out_stays_out(run: Run, result: str | None) -> None:
    server = nodes()
    run(server, allow=ALL)
    checks = [runs.check(check_id="gpu.device.count")]
    checks += [runs.check(result, severity="warning")] if result else []
    again = run(server, hosts={**runs.MIXED, "n2": runs.judged(*checks)}, allow=ALL)
    assert (again["changed"], server.nodes["n2"]["spec"]["unschedulable"]) == (False, True)
    (held,) = [entry["why"] for entry in again["held"] if entry["host"] == "n2"]
    assert "ib.port.state, for which it was taken out, was not looked at" in held


MINE = {"ibready_lease": {"taken": True}, "ibready_cordon_drained": {"stat": {"exists": False}}}
OTHER = {"who": "deploy@login1 (process 42)", "what": "repair.yml", "since": "3:00", "until": "15:00"}
GOOD = {**runs.MIXED, "n2": runs.MIXED["n1"]}


def test_what_was_looked_at_first_is_done(run: Run, shown: list[str]) -> None:
    server = nodes()
    for hosts, is_out in ((runs.MIXED, True), (GOOD, False)):
        looked = run(server, check=True, hosts=hosts, allow=ALL)
        shown.clear()
        result = run(server, hosts=hosts, site={"n2": MINE}, allow=ALL, looked=looked)
        assert (result["changed"], result["held"]) == (True, [])
        assert bool(server.nodes["n2"]["spec"].get("unschedulable")) == is_out
        assert "CORDON:" not in "".join(shown), "the plan was shown by the look"


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (
            {**MINE, "ibready_lease": {"failed": True, "holder": OTHER}},
            r"repair.yml by deploy@login1 \(process 42\) is at work since 3:00 on n2",
        ),
        (
            {**MINE, "ibready_cordon_drained": {"stat": {"exists": True}}},
            "ibready drained it and has not given it back",
        ),
        ({**MINE, "ibready_lease": {"unreachable": True, "msg": "ssh\x1b"}}, r"nobody could tell.*: ssh.x1b"),
        ({**MINE, "ibready_cordon_drained": {"failed": True, "msg": "no root"}}, "nobody could tell.*: no root"),
        ({**MINE, "ibready_cordon_drained": {"stat": {}}}, "nobody could tell.*: no answer"),
        ({}, "nobody could tell.*: no answer"),
    ],
)
def test_who_is_not_surely_ours_is_not_given_back(run: Run, shown: list[str], known: dict[str, Any], why: str) -> None:
    server = nodes()
    run(server, allow=ALL)
    looked = run(server, check=True, hosts=GOOD, allow=ALL)
    assert [one["back"] for one in looked["steps"]] == [True]
    result = run(server, hosts=GOOD, site={"n2": known}, allow=ALL, looked=looked)
    assert (result["changed"], server.nodes["n2"]["spec"]["unschedulable"]) == (False, True)
    assert re.search(why, result["held"][0]["why"])
    assert re.search(why.replace(".x1b", ".*"), shown[-1])


@pytest.mark.parametrize(("lease", "done"), [({"failed": True, "holder": OTHER}, False), ({"failed": True}, True)])
def test_a_broken_host_is_taken_out_unless_another_run_is_at_work(run: Run, lease: dict[str, Any], done: bool) -> None:
    server = nodes()
    looked = run(server, check=True, allow=ALL)
    result = run(server, site={"n2": {"ibready_lease": lease}}, allow=ALL, looked=looked)
    assert result["changed"] == done


def test_only_what_was_shown_is_done(run: Run, shown: list[str]) -> None:
    server = nodes()
    looked = run(server, check=True, hosts=GOOD, allow=ALL)
    result = run(server, site={"n2": MINE}, allow=ALL, looked=looked)
    assert (result["changed"], server.nodes) == (False, nodes().nodes)
    assert "somebody changed it or another node meanwhile; next: run this again" in shown[-1]


def test_what_the_server_would_not_take_is_not_tried(run: Run) -> None:
    server = nodes()
    server.drops = {"taints"}
    looked = run(server, check=True, allow=ALL)
    assert list(looked["errors"]) == ["n2"]
    result = run(server, site={"n2": MINE}, allow=ALL, looked=looked)
    assert (result["changed"], result["errors"], result["held"], server.nodes) == (False, {}, [], nodes().nodes)


def test_the_budget_is_the_clusters(run: Run) -> None:
    server = nodes()
    server.change("control", unschedulable=True)
    result = run(server, allow=ALL)
    assert (result["changed"], result["out"]) == (False, 1)
    assert "1 of the cluster's nodes take no pods, and cordon_most is 1" in result["held"][0]["why"]
    assert run(server, allow=ALL, most=2)["changed"]


def test_checks_that_all_nodes_share_take_none_out(run: Run) -> None:
    server = nodes()
    result = run(server, allow=ALL, never=["ib.port.*"])
    assert (result["changed"], server.patches) == (False, [])
    assert "all nodes share" in result["held"][0]["why"]


def test_what_is_simulated_moves_no_node(run: Run) -> None:
    server = nodes()
    bad = runs.MIXED["n2"]
    result = run(server, hosts={**runs.MIXED, "n2": {**bad, "facts": {**bad["facts"], "node": SIMULATED}}}, allow=ALL)
    assert (result["changed"], server.patches) == (False, [])
    assert "what it told is simulated (everything)" in result["held"][0]["why"]


def test_what_a_host_says_is_its_name_takes_no_other_node_out(run: Run) -> None:
    server = nodes()
    bad = runs.MIXED["n2"]
    lies = {"N2": {**bad, "facts": {**bad["facts"], "node": {"hostname": "control"}}}}
    result = run(server, hosts=lies, site={"N2": {}}, allow=ALL)
    assert [one["node"] for one in result["steps"]] == ["n2"]
    assert server.nodes["control"]["spec"] == {}


def test_a_name_that_no_node_can_have_is_no_node(run: Run) -> None:
    server = nodes()
    result = run(server, hosts={"n1": runs.MIXED["n1"], "n_2": runs.MIXED["n2"]}, site={"n_2": {}}, allow=ALL)
    assert (result["changed"], server.patches) == (False, [])
    assert "the cluster has no node n_2" in result["held"][0]["why"]


def test_a_refused_patch_is_the_hosts_error(run: Run, shown: list[str]) -> None:
    server = nodes()
    server.forbidden = True
    result = run(server, allow=ALL)
    assert (result["changed"], list(result["errors"])) == (False, ["n2"])
    assert "FAILED: kubectl could not patch node n2" in shown[1]


@pytest.mark.parametrize(
    ("site", "args", "said"),
    [
        ({}, {"most": 0}, "cordon_most is 0"),
        ({}, {"context": ""}, "nobody said which cluster it is.*Nothing was changed"),
        ({"n2": {"kubernetes_rdma_node": "n1"}}, {}, "n1 and n2 would both be the node n1"),
        ({"n2": None}, {}, "the report is of n2, which this inventory has not.*Nothing was changed"),
        ({"n1": {"cordon_allow": ALL}}, {}, "cordon_allow differs between n1 and n2.*--limit"),
        ({"n2": {"cordon_most": 5}}, {}, "cordon_most differs between n1 and n2"),
        (
            {name: {"kubernetes_rdma_node": ""} for name in runs.MIXED},
            {"nodes": ["x\x1b"]},
            r"none of n1, .* 1 nodes \(x.x1b",
        ),
        (
            {},
            {"created": datetime.now(UTC) - timedelta(hours=2)},
            "the report was written at .*looks at the hosts anew",
        ),
        (
            {},
            {"created": datetime.now(UTC) + timedelta(hours=2)},
            "the report was written at .*looks at the hosts anew",
        ),
        ({}, {"created": "2026-11-27T03:00:00"}, "which is no time"),
        ({}, {"report": "/nonexistent/run.json"}, "is not there.*Nothing was changed"),
    ],
)
def test_bad_input_is_refused_before_anything_changes(
    run: Run, site: dict[str, Any], args: dict[str, Any], said: str
) -> None:
    server = Server(*map(api_server.node, args.pop("nodes", ("n1", "n2", "n3"))))
    with pytest.raises(AnsibleActionFail, match=said):
        run(server, site=site, **{"allow": ALL, **args})
    assert server.patches == []


HUGE, CONTROLS = "x" * 1_000_000, "a\x1b[2J\r\n\u202eb"


@pytest.mark.parametrize("text", [HUGE, CONTROLS], ids=["huge", "controls"])
@pytest.mark.parametrize("where", ["id", "subject", "observed", "cause", "simulated"])
def test_texts_of_a_host_neither_flood_nor_command_a_terminal_or_the_server(
    run: Run, shown: list[str], where: str, text: str
) -> None:
    server = nodes()
    check = {**runs.MIXED["n2"]["checks"][0], **({where: text} if where != "simulated" else {})}
    facts = {**runs.MIXED["n2"]["facts"], **({"node": {"simulated": text}} if where == "simulated" else {})}
    result = run(server, hosts={**runs.MIXED, "n2": {**runs.MIXED["n2"], "checks": [check], "facts": facts}}, allow=ALL)
    told = "".join(shown)
    assert len(told) < 2000
    assert set(told) - {"\n"} == {char for char in told if char.isprintable()}
    assert sum(len(str(patch)) for patch in server.patches) < 2000
    assert all(str(value).isprintable() for entry in (*result["steps"], *result["held"]) for value in entry.values())
    assert {name for name, one in server.nodes.items() if one["spec"]} <= {"n2"}
    assert bool(result["held"]) == (where == "simulated")


@pytest.mark.parametrize("name", [HUGE, CONTROLS], ids=["huge", "controls"])
def test_a_host_that_the_inventory_has_not_stops_the_run_in_a_line(run: Run, name: str) -> None:
    server = nodes()
    with pytest.raises(AnsibleActionFail, match="which this inventory has not") as caught:
        run(server, hosts={**runs.MIXED, name: runs.MIXED["n2"]}, site={name: None}, allow=ALL)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()
    assert server.patches == []
