# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.diagnose import NO_LOG, ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from tests.gauntlet import render
from tests.gauntlet.nodes import nccl
from tests.unit import fleets
from tests.unit.samples import node, port

pytestmark = pytest.mark.thorough

EXPECT = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
DOWN = {"ibready_node": {"unreachable": True, "msg": "Connection refused"}}
RAILS = ("mlx5_0/1", "mlx5_1/1")
NAMES = ("n1", "n2", "n3")

Inventory = Callable[..., dict[str, Any]]
Run = Callable[..., dict[str, Any]]

CLOCK = {"asked": 10.0, "answered": 20.0, "began": 1e9 + 11, "ended": 1e9 + 19}


def told(name: str, late: str = "", **bent: Any) -> dict[str, Any]:
    """The variables of a healthy host after judge.yml; round trips with ``late`` take long."""
    pings = [
        {
            "rail": rail,
            "server": server,
            "untested": "",
            "sent": 50,
            "received": 50,
            "rtt_avg": 3.0 if late in (client, server) else 0.05,
            "rtt_max": 4.0,
        }
        for client, server in permutations(NAMES, 2)
        if client == name
        for rail in RAILS
    ]
    return {
        "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": ""}},
        "ibready_ibverify": {
            "checks": [],
            "facts": {"ib": node(int(name[1:])).to_dict()},
            "clock": CLOCK,
        },
        "ibready_expect": EXPECT,
        "ibready_pings": pings,
        "ibready_tcp": False,
        **bent,
    }


def fleet(late: str = "", **bent: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: {**told(name, late), **bent.get(name, {})} for name in NAMES}


@pytest.fixture
def run(inventory: Inventory, action: Callable[..., ActionBase], shown: list[str], tmp_path: Path) -> Run:
    """Run the action over these hosts of an inventory; ``args`` bend the task."""

    def over(known: dict[str, Any], **args: Any) -> dict[str, Any]:
        variables = inventory(**known)
        variables["ansible_inventory_sources"] = ["inventories/mine"]
        given = {"dest": str(tmp_path / "reports"), **args}
        if "bundles" not in given:
            given.setdefault("hosts", list(known))
        result: dict[str, Any] = action(ActionModule, variables, given).run(task_vars=variables)
        return result

    return over


def ids(result: dict[str, Any]) -> list[str]:
    return [one["id"] for one in result["causes"]]


def test_a_healthy_cluster_has_no_cause_and_the_file_says_so(run: Run, shown: list[str]) -> None:
    result = run(fleet())
    assert not result.get("failed")
    assert (result["changed"], result["causes"], result["unknown"]) == (False, [], [])
    assert result["answer"].startswith("no cause was found on the hosts, and every check could look")
    written = json.loads(Path(result["json"]).read_text())
    assert written["schema"] == "ibready/diagnosis/1"
    assert written["from"] == "hosts"
    assert written["notes"] == [NO_LOG]
    assert set(written["hosts"]) == set(NAMES)
    assert len(shown) == 1
    assert "DIAGNOSIS: no cause" in shown[0]


def test_a_slow_rail_of_a_live_host_is_the_cause_with_its_command(run: Run, shown: list[str]) -> None:
    facts = node(2).to_dict()
    for source in ("cas", "sysfs"):
        facts[source][1]["ports"][0]["rate"] = 100.0
    result = run(fleet(n2={"ibready_ibverify": {"checks": [], "facts": {"ib": facts}}}))
    assert ids(result) == ["rail.slow"]
    cause = result["causes"][0]
    assert (cause["rank"], cause["hosts"], cause["loss"]) == (1, ["n2"], 0.75)
    assert cause["command"].startswith("ansible n2 -i inventories/mine -b -a ")
    assert "1. a rail runs below its rate" in shown[0]


def test_a_straggler_by_round_trip_is_named(run: Run) -> None:
    result = run(fleet(late="n3"))
    assert ids(result) == ["straggler.round_trip"]
    assert (result["causes"][0]["hosts"], result["causes"][0]["confidence"]) == (["n3"], "possible")


def test_a_lost_rail_of_a_live_host_hides_its_pings(run: Run) -> None:
    lame = node(2)
    dead = port(state="Down", physical_state="Polling", lid=0, sm_lid=0, rate=10.0)
    facts = lame.to_dict()
    for source in ("cas", "sysfs"):
        facts[source][1]["ports"][0].update(
            {key: getattr(dead, key) for key in ("state", "physical_state", "lid", "sm_lid", "rate")}
        )
    del facts["sm"]["mlx5_1/1"]
    known = fleet(n2={"ibready_ibverify": {"checks": [], "facts": {"ib": facts}, "clock": CLOCK}})
    for name, host in known.items():
        host["ibready_pings"] = [
            one for one in host["ibready_pings"] if one["rail"] == RAILS[0] or "n2" not in (name, one["server"])
        ]
    result = run(known)
    assert ids(result) == ["rail.down"]
    assert result["unknown"] == []
    assert {one["check"] for one in result["causes"][0]["hides"]} >= {"fabric.ping.tested"}
    assert result["causes"][0]["loss"] == 0.5


def test_a_host_that_did_not_answer_is_unknown_and_no_failure(run: Run) -> None:
    result = run({**fleet(), "n3": DOWN})
    assert not result.get("failed")
    assert [(one["id"], one["hosts"], one["evidence"][0]["result"]) for one in result["causes"]] == [
        ("host.no_answer", ["n3"], "unknown")
    ]
    assert "2 of 3 hosts checked" in result["answer"]
    assert result["causes"][0]["effect"] == "stops"


def test_no_host_at_all_is_a_failure(run: Run, shown: list[str]) -> None:
    result = run(dict.fromkeys(NAMES, DOWN))
    assert result["failed"] is True
    assert "n1: unreachable by ssh: Connection refused" in result["msg"]
    assert "next: " in result["msg"]
    assert "nothing is known" in shown[0]
    with pytest.raises(AnsibleActionFail, match=r"no host to diagnose.*next: `ansible-inventory"):
        run({}, hosts=[])


def test_what_is_simulated_is_said_first(run: Run, shown: list[str]) -> None:
    mark = {"node": {"kernel": "6.8.0", "root": True, "simulated": "InfiniBand fabric"}}
    result = run(fleet(n1={"ibready_node": mark}))
    assert result["simulated"] == "InfiniBand fabric"
    assert shown[0].startswith("\nSIMULATED: InfiniBand fabric\n")


def test_a_waived_failure_is_no_cause(run: Run, shown: list[str]) -> None:
    facts = node(2).to_dict()
    for source in ("cas", "sysfs"):
        facts[source][1]["ports"][0]["rate"] = 100.0
    waiver = {"check": "ib.port.rate", "host": "n2", "until": "2999-01-01", "reason": "RMA 1234"}
    bent = {
        "ibready_ibverify": {"checks": [], "facts": {"ib": facts}},
        "ibready_waivers": [waiver],
    }
    result = run(fleet(n2=bent))
    assert ids(result) == []
    assert [one["check"] for one in result["waived"]] == ["ib.port.rate"]
    assert "WAIVED:" in shown[0]
    assert "RMA 1234" in shown[0]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bundles of three nodes, one of them as an archive alone: node7's rail 3 is slow."""
    folder = tmp_path_factory.mktemp("bundles")
    for name in (*fleets.EQUALS, fleets.ODD):
        bent = [{"hca": "mlx5_3", "rate": 100}] if name == fleets.ODD else []
        _, tree = fleets.bent(fleets.BOARD, int(name[4:]), node=bent)
        collect.collect(tree, str(folder), name, "2026-11-20T10:00:00+00:00")
    archived = folder / fleets.ODD
    for path in sorted(archived.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    archived.rmdir()
    return folder


def test_bundles_are_diagnosed_without_any_host(run: Run, bundles: Path) -> None:
    result = run({}, bundles=str(bundles))
    assert ids(result) == ["rail.slow"]
    cause = result["causes"][0]
    assert (cause["hosts"], cause["subjects"]) == ([fleets.ODD], ["mlx5_3/1"])
    assert cause["command"] == f"ansible {fleets.ODD} -i INVENTORY -b -a " + ("'mlxlink -d mlx5_3 --port_state TG'")
    assert [one["why"] for one in result["unknown"]] == [
        "a bundle holds no pings: only a run over the hosts themselves has them"
    ]
    assert json.loads(Path(result["json"]).read_text())["from"] == "bundles"


def test_the_inventory_expects_of_its_own_hosts_and_the_option_of_others(run: Run, bundles: Path) -> None:
    def source(**args: Any) -> set[str]:
        result = run(args.pop("known", {}), bundles=str(bundles), **args)
        return {one["expected_from"] for one in result["causes"][0]["evidence"]}

    expect = {"hcas": 8, "link_layer": "InfiniBand", "rate_gbps": 400}
    assert source() == {"profile hgx-h100-8"}
    assert source(expect=expect) == {"inventory"}
    assert source(known={fleets.ODD: {"ibready_expect": expect}}) == {"inventory"}
    assert source(known={"other": {"ibready_expect": expect}}) == {"profile hgx-h100-8"}


def test_a_waiver_of_the_inventory_holds_for_a_bundle_too(run: Run, bundles: Path) -> None:
    waiver = {"check": "ib.port.rate", "host": fleets.ODD, "until": "2999-01-01", "reason": "RMA"}
    result = run({fleets.ODD: {"ibready_waivers": [waiver]}}, bundles=str(bundles))
    assert ids(result) == []
    assert len(result["waived"]) == 1


STRANGE = ["n1;reboot", "\x1b[2Jn1", "all", "n1:!n2", "{{ 1 }}", "-e@x"]


@pytest.mark.parametrize("folder", ["n1", "as it says"])
@pytest.mark.parametrize("name", STRANGE)
def test_a_bundle_of_a_hostile_host_gets_no_command_and_draws_nothing(
    name: str, folder: str, run: Run, tmp_path: Path, shown: list[str]
) -> None:
    bent = [{"hca": "mlx5_0", "rate": 50}, {"more": {"log": ["mlx5_core 0000:90:00.0: \x1b[2J"]}}]
    _, tree = fleets.bent("ib-login", 1, node=bent, expect={})
    collect.collect(tree, str(tmp_path / "bundles"), "n1", "2026-11-20T10:00:00+00:00")
    manifest = tmp_path / "bundles" / "n1" / "manifest.json"
    reported = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**reported, "host": name}))
    (tmp_path / "bundles" / "n1.tar.gz").unlink()
    if folder != "n1":
        manifest.parent.rename(tmp_path / "bundles" / name)
    expect = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 200}
    result = run({}, bundles=str(tmp_path / "bundles"), expect=expect)
    if name == "all" and folder != "n1":
        # The name of a host, but one that stands for all of them.
        assert [(one["id"], one["command"]) for one in result["causes"]] == [("rail.slow", "")]
        assert "no plain name" in result["causes"][0]["note"]
    else:
        # The name of the folder is the operator's own, and may stand in a command.
        command = "ansible n1 -i INVENTORY -b -a uptime" if folder == "n1" else ""
        assert [(one["id"], one["command"]) for one in result["causes"]] == [("host.no_answer", command)]
        assert result["failed"]
        assert ("says that it is of" if folder == "n1" else "none of a host") in shown[0]
    assert all(line.isprintable() for line in shown[0].splitlines())


def test_a_job_s_log_is_judged_for_the_hosts_that_it_names(
    run: Run, bundles: Path, tmp_path: Path, shown: list[str]
) -> None:
    log = nccl.log(render.node(fleets.BOARD))
    log = log.replace("Using network IB", "Using network Socket")
    log = log.replace("via NET/IB/0/GDRDMA", "via NET/Socket/0")
    log = log.replace("NCCL_IB_HCA set to", "NCCL_IB_DISABLE set by environment to 1.#")
    (tmp_path / "job.log").write_text(log.replace("node-a", "node1").replace("node-b", "node7"))
    result = run({}, bundles=str(bundles), log=str(tmp_path / "job.log"))
    assert ids(result) == ["job.rdma_off", "rail.slow"]
    assert result["causes"][0]["hosts"] == ["node1", "node7"]
    assert NO_LOG not in shown[0]


def test_a_log_without_sense_is_unknown_and_one_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("hello\n")
    result = run(fleet(), log=str(tmp_path / "job.log"))
    assert {one for group in result["unknown"] for one in group["checks"]} >= {"nccl.log.network"}
    assert "not an all-clear" in result["answer"]
    with pytest.raises(AnsibleActionFail, match=r"is no file of the controller; next: "):
        run(fleet(), log=str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        pytest.param({"hosts": ["n1"], "bundles": "x"}, "mutually exclusive", id="both"),
        pytest.param({"hosts": None}, "no host to diagnose", id="neither"),
        pytest.param({"bundles": "/nonexistent"}, "is no folder; next: ", id="no folder"),
        pytest.param({"most": "many"}, "most", id="no number"),
        pytest.param({"folder": "x"}, "Invalid options .* folder", id="misspelt"),
    ],
)
def test_a_wrong_call_is_refused(run: Run, args: dict[str, Any], said: str) -> None:
    with pytest.raises(AnsibleActionFail, match=said):
        run(fleet(), **args)


def test_a_bad_expectation_is_refused_by_its_name(run: Run, bundles: Path) -> None:
    with pytest.raises(AnsibleActionFail, match=r"^ibready_expect: expect\.rails is not known"):
        run(fleet(n1={"ibready_expect": {"rails": 8}}))
    with pytest.raises(AnsibleActionFail, match=r"expect\.rails is not known"):
        run({}, bundles=str(bundles), expect={"rails": 8})


def test_a_diagnosis_that_cannot_be_written_is_shown_all_the_same(run: Run, shown: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AnsibleActionFail, match=r"not written to .*next: set ibready_report_dir"):
        run(fleet(), dest=str(tmp_path / "file" / "reports"))
    assert "DIAGNOSIS" in shown[0]


def steps(slow: str, parts: str = "400,100") -> str:
    """A table of twenty steps of three ranks, each on a host of the fleet; one of them computes for longer."""
    lines = ["rank,step,step_ms,compute_ms,communication_ms,host"]
    for step in range(20):
        for rank, host in enumerate(NAMES):
            cells = "480,20" if host == slow else parts
            lines.append(f"{rank},{step},500,{cells},{host}")
    return "\n".join(lines) + "\n"


def test_what_a_job_left_of_its_times_is_a_cause_among_the_others(run: Run, tmp_path: Path, shown: list[str]) -> None:
    (tmp_path / "steps.csv").write_text(steps("n2"))
    result = run(fleet(), times=[str(tmp_path / "steps.csv")])
    (cause,) = [cause for cause in result["causes"] if cause["id"] == "job.straggler"]
    assert cause["hosts"] == ["n2"]
    assert "the job waits for rank 1 (n2)" in shown[-1]


def test_a_job_of_computation_passes_and_one_that_nobody_can_read_does_not(run: Run, tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(steps("", "490,10"))
    well = run(fleet(), times=[str(tmp_path / "steps.csv")])
    assert ids(well) == []
    assert not any("nccl.job.bound" in unlooked["checks"] for unlooked in well["unknown"])
    (tmp_path / "odd.txt").write_text("no times of any job\n")
    both = run(fleet(), times=[str(tmp_path / "steps.csv"), str(tmp_path / "odd.txt")])
    assert any("not all was read" in unlooked["why"] for unlooked in both["unknown"])
    odd = run(fleet(), times=[str(tmp_path / "odd.txt")])
    assert any("nccl.job.bound" in unlooked["checks"] for unlooked in odd["unknown"])
    with pytest.raises(AnsibleActionFail, match=r"diagnose_times: .*cannot be read"):
        run(fleet(), times=[str(tmp_path / "none")])
