# SPDX-License-Identifier: GPL-3.0-or-later
"""The action bench_report: what hosts told in, verdicts, report and baseline out."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.bench_report import ActionModule
from tests.unit.samples import node

Inventory = Callable[..., dict[str, Any]]
Run = Callable[..., dict[str, Any]]

NAMES = ("n1", "n2", "n3")
RAILS = ("mlx5_0/1", "mlx5_1/1")
EXPECT = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
DOWN = {"ibready_node": {"unreachable": True, "msg": "Connection refused"}}
GPUS = ["H100 SXM5"] * 8
NCCL = {"untested": "", "busbw": 470.0, "average": 210.0, "wrong": 0, "ranks": 8, "hosts": 1, "rows": []}
MPI = {
    "result": "pass",
    "why": "2 processes on 2 hosts, every sum is right, over rc_mlx5",
    "transports": ["rc_mlx5 (mlx5_0:1) by ucx"],
    "measured": [
        {"bytes": 1048576, "ranks": 2, "iterations": 9, "median": 90.0, "mad": 1.0, "least": 80.0}
        | {"busbw": 11.65, "right": True}
    ],
    "log": "x",
}


def told(index: int, *, gpus: list[str] | None = None, **bent: Any) -> dict[str, Any]:
    """The variables of a healthy host after a run with all three."""
    name = f"n{index}"
    answers = [
        {"test": test, "server": server, "rail": rail, "untested": "", "at": "client", key: value}
        for client, server in permutations(NAMES, 2)
        if client == name
        for rail in RAILS
        for test, key, value in (
            ("write_bw", "gbps", 395.0 + index / 10),
            ("read_lat", "usec", 1.9),
            ("send_lat", "usec", 1.1),
        )
    ]
    machine = {"gpus": gpus or [], "profile": None}
    return {
        "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": ""}},
        "ibready_ibverify": {"checks": [], "facts": {"ib": node(index).to_dict(), "machine": machine}},
        "ibready_expect": EXPECT,
        "ibready_bench_answers": answers,
        "ibready_launch": {"hosts": ["n1", "n2"]},
        **({"ibready_smoke": MPI} if index == 1 else {}),
        **bent,
    }


def healthy(**bent: dict[str, Any]) -> dict[str, Any]:
    return {f"n{at}": told(at, **bent.get(f"n{at}", {})) for at in (1, 2, 3)}


@pytest.fixture
def run(inventory: Inventory, action: Callable[..., ActionBase], shown: list[str], tmp_path: Path) -> Run:
    """Run the action over these hosts; the baseline lies in the test's folder."""

    def over(known: dict[str, Any], **args: Any) -> dict[str, Any]:
        variables = inventory(**known)
        given = {
            "hosts": list(known),
            "dest": str(tmp_path / "reports"),
            "baseline": str(tmp_path / "kept.json"),
            **args,
        }
        result: dict[str, Any] = action(ActionModule, variables, given).run(task_vars=variables)
        assert not result.get("failed")
        return {**result, "report": json.loads(Path(result["json"]).read_text())}

    return over


def checks(result: dict[str, Any], host: str, check_id: str) -> dict[str, dict[str, Any]]:
    found = result["report"]["hosts"][host]["checks"]
    return {one["subject"]: one for one in found if one["id"] == check_id}


def test_a_healthy_run_is_ready_and_becomes_the_baseline(run: Run, shown: list[str]) -> None:
    result = run(healthy())
    assert result["verdicts"] == dict.fromkeys(NAMES, "ready"), result["bad"]
    assert result["baseline_written"] == ["mpi", "perftest"]
    kept = json.loads(Path(result["baseline"]).read_text())["of"]
    pairs = kept["perftest"]
    assert pairs["values"]["write_bw mlx5_0/1 n1 n2"]["value"] == 395.1
    assert pairs["stacks"][pairs["hosts"]["n1"]]["kernel"] == "6.8.0"
    assert kept["mpi"]["values"]["mpi 2 processes 1048576 bytes"]["spread"] == 1.0
    assert "write_bw" in shown[0]
    assert "ibready's own program, 2 processes, rc_mlx5" in shown[0]
    again = run(healthy())
    assert not again["baseline_written"]
    assert {one["result"] for one in checks(again, "n1", "fabric.bench.regression").values()} == {"pass"}


def test_what_got_slower_is_named_with_what_changed(run: Run, shown: list[str]) -> None:
    run(healthy())
    slower = healthy()
    for one in slower["n2"]["ibready_bench_answers"]:
        if (one["test"], one["rail"]) == ("write_bw", "mlx5_1/1"):
            one["gbps"] = 370.0
    slower["n2"]["ibready_node"]["node"]["kernel"] = "6.8.1"
    result = run(slower)
    bad = checks(result, "n2", "fabric.bench.regression")["mlx5_1/1 write_bw"]
    assert bad["result"] == "fail"
    assert "370 Gb/s, 395.2 before (write_bw mlx5_1/1 n2 " in bad["observed"]
    assert bad["expected_from"].startswith("baseline of 20")
    assert result["report"]["baseline"]["perftest"]["changes"] == {"n2": ["kernel: 6.8.0 before, 6.8.1 now"]}
    assert "kernel: 6.8.0 before, 6.8.1 now" in shown[-1]
    assert result["verdicts"] == {"n1": "ready", "n2": "degraded", "n3": "ready"}
    rebased = run(slower, rebase=True)
    assert rebased["baseline_written"]
    assert checks(run(slower), "n2", "fabric.bench.regression")["mlx5_1/1 write_bw"]["result"] == "pass"


def test_a_run_with_a_failure_becomes_no_baseline(run: Run) -> None:
    bad = healthy()
    for name in NAMES:
        for one in bad[name]["ibready_bench_answers"]:
            if "gbps" in one and "n3" in (name, one["server"]):
                one["gbps"] = 100.0
    result = run(bad, rebase=True)
    assert result["verdicts"] == {"n1": "ready", "n2": "ready", "n3": "not_ready"}
    assert "n3 is not_ready: fabric.bench.bandwidth mlx5_0/1 write_bw" in result["bad"]["n3"]
    assert not result["baseline_written"]
    assert not Path(result["baseline"]).exists()


@pytest.mark.parametrize("at", ["client", "server"])
def test_what_did_not_run_is_unknown_and_never_a_pass(run: Run, at: str) -> None:
    why = "ib_write_bw: Unable to find the Infiniband/RoCE device"
    broken = healthy()
    for name in NAMES:
        broken[name]["ibready_bench_answers"] = [
            {"test": one["test"], "server": one["server"], "rail": one["rail"]} | {"untested": why, "at": at}
            for one in broken[name]["ibready_bench_answers"]
        ]
    result = run(broken, what=["perftest"], tests=["write_bw", "read_lat", "send_lat"])
    assert result["verdicts"] == dict.fromkeys(NAMES, "unknown")
    assert not result["baseline_written"]
    for rail in RAILS:
        found = checks(result, "n1", "fabric.bench.bandwidth")[f"{rail} write_bw"]
        assert (found["result"], found["cause"]) == ("unknown", why)


def test_a_run_of_which_nothing_was_told_is_unknown(run: Run) -> None:
    empty = {
        name: {key: one for key, one in host.items() if "bench" not in key and key != "ibready_smoke"}
        for name, host in healthy().items()
    }
    result = run(empty)
    assert set(result["verdicts"].values()) == {"unknown"}
    (mpi,) = checks(result, "n1", "fabric.bench.mpi").values()
    assert (mpi["result"], mpi["cause"]) == ("unknown", "it did not run")


def test_each_kind_has_a_baseline_of_its_own(run: Run) -> None:
    assert run(healthy(), what=["mpi"])["baseline_written"] == ["mpi"]
    assert run(healthy(), what=["perftest", "mpi"])["baseline_written"] == ["perftest"]
    assert run(healthy(), what=["mpi"], rebase=True)["baseline_written"] == ["mpi"]
    assert run(healthy(), what=["perftest", "mpi"])["baseline_written"] == []


def test_hcas_that_nobody_looked_at_did_not_change(run: Run) -> None:
    run(healthy(), what=["mpi"])
    blind = healthy()
    for host in blind.values():
        host["ibready_ibverify"] = {"skipped": True}
    result = run(blind, what=["mpi"])
    assert result["report"]["baseline"]["mpi"]["changes"] == {}
    assert result["verdicts"]["n1"] == "ready"


def test_a_host_that_took_no_part_is_no_measured_one(run: Run, shown: list[str]) -> None:
    result = run(healthy(), what=["mpi"])
    hosts = result["report"]["hosts"]
    assert [hosts[name]["measured"] for name in NAMES] == [True, False, False]
    assert "n3 is reached, and was not measured" in shown[0]


def test_a_host_that_was_not_reached_is_unknown(run: Run) -> None:
    result = run({**healthy(), "n9": DOWN})
    assert result["verdicts"]["n9"] == "unknown"
    assert result["verdicts"]["n1"] == "ready"


def test_a_port_that_is_down_is_unknown_with_that_reason(run: Run) -> None:
    known = healthy()
    known["n3"] = copy.deepcopy(known["n3"])
    known["n3"]["ibready_ibverify"]["facts"]["ib"]["cas"][0]["ports"][0]["state"] = "Down"
    for name in NAMES:
        known[name]["ibready_bench_answers"] = [
            one
            for one in known[name]["ibready_bench_answers"]
            if one["rail"] != RAILS[0] or "n3" not in (name, one["server"])
        ]
    found = checks(run(known), "n3", "fabric.bench.bandwidth")[f"{RAILS[0]} write_bw"]
    assert (found["result"], found["cause"]) == ("unknown", "the port is Down")


def test_gpus_are_held_against_what_their_model_reaches(run: Run) -> None:
    known = {
        f"n{at}": told(at, gpus=GPUS, ibready_bench_nccl={**NCCL, "busbw": value})
        for at, value in ((1, 470.0), (2, 200.0), (3, 470.0))
    }
    known["n1"]["ibready_bench_nodes"] = {**NCCL, "ranks": 16, "hosts": 2, "busbw": 380.0}
    result = run(known, what=["nccl"])
    (slow,) = checks(result, "n2", "nccl.bench.node").values()
    assert slow["result"] == "fail"
    assert slow["expected_from"] == "capability of eight H100 SXM5"
    (many,) = checks(result, "n1", "nccl.bench.nodes").values()
    # Of eight GPUs and two rails of 400 Gb/s no model expects so much.
    assert many["result"] == "unknown"
    assert "380 GB/s of bus bandwidth; all_reduce carries 380 GB/s where this topology" in many["observed"]
    assert "more than healthy ones of its kind show" in many["observed"]
    known["n1"]["ibready_bench_nodes"]["busbw"] = 20.0
    (few,) = checks(run(known, what=["nccl"]), "n1", "nccl.bench.nodes").values()
    assert "less than healthy ones of its kind show" in few["observed"]
    known["n1"]["ibready_bench_nodes"]["busbw"] = 380.0
    own = run(known, what=["nccl"], floors={"nccl_nodes_gbps": 350, "nccl_node_gbps": 150})
    assert own["verdicts"] == dict.fromkeys(NAMES, "ready")
    # From the second run on the baseline tells what several hosts reach.
    assert own["baseline_written"]
    later = run(known, what=["nccl"], floors={"nccl_node_gbps": 150})
    (many,) = checks(later, "n1", "nccl.bench.nodes").values()
    assert many["result"] == "pass"
    assert many["expected_from"].startswith("baseline of ")


@pytest.mark.parametrize(
    ("bent", "check", "result"),
    [
        ({"wrong": 4}, "nccl.bench.data", "fail"),
        ({"wrong": None}, "nccl.bench.data", "unknown"),
        ({"ranks": 4}, "nccl.bench.node", "unknown"),
        ({"untested": "there is no all_reduce_perf"}, "nccl.bench.node", "unknown"),
    ],
)
def test_numbers_that_prove_nothing_do_not_pass(run: Run, bent: dict[str, Any], check: str, result: str) -> None:
    known = healthy()
    known["n2"] = told(2, gpus=GPUS, ibready_bench_nccl={**NCCL, **bent})
    (found,) = checks(run(known, what=["nccl"]), "n2", check).values()
    assert found["result"] == result


def test_hosts_without_gpus_have_no_nccl_to_judge(run: Run) -> None:
    result = run(healthy(), what=["nccl"])
    assert set(result["verdicts"].values()) == {"ready"}
    (found,) = checks(result, "n1", "nccl.bench.node").values()
    assert found["result"] == "skip"
    assert not result["baseline_written"]


@pytest.mark.parametrize(
    ("smoke", "result"),
    [
        ({**MPI, "result": "fail", "why": "n2 fell back to TCP"}, "fail"),
        ({**MPI, "measured": [{**MPI["measured"][0], "right": False}]}, "fail"),
        ({**MPI, "result": "unknown", "why": "the log does not tell"}, "unknown"),
        ({**MPI, "measured": []}, "unknown"),
        ({"result": "fail", "why": "mpirun ended with timeout 1: x", "transports": []}, "unknown"),
        ({"msg": "smoke job: there is no mpirun on this host", "failed": True}, "unknown"),
    ],
)
def test_an_all_reduce_that_proves_nothing_does_not_pass(run: Run, smoke: dict[str, Any], result: str) -> None:
    known = healthy()
    known["n1"]["ibready_smoke"] = smoke
    (found,) = checks(run(known, what=["mpi"]), "n1", "fabric.bench.mpi").values()
    assert found["result"] == result


def test_what_another_host_said_of_the_job_is_told(run: Run) -> None:
    known = healthy()
    del known["n1"]["ibready_smoke"]
    known["n2"]["ibready_bench_job_error"] = "smoke job: there is no mpirun on this host"
    (found,) = checks(run(known, what=["mpi"]), "n1", "fabric.bench.mpi").values()
    assert found["cause"] == "n2: smoke job: there is no mpirun on this host"


def test_a_baseline_of_a_simulation_is_none_for_real_hosts(run: Run) -> None:
    played = healthy()
    for name in NAMES:
        played[name]["ibready_node"]["node"]["simulated"] = "HCAs"
    assert run(played)["report"]["simulated"] == "HCAs"
    found = checks(run(healthy()), "n1", "fabric.bench.regression")
    assert {one["result"] for one in found.values()} == {"skip"}


def test_what_the_baseline_has_and_this_run_lost_is_unknown(run: Run) -> None:
    run(healthy())
    lost = healthy()
    for one in lost["n1"]["ibready_bench_answers"]:
        if one["test"] == "send_lat":
            one |= {"untested": "it did not end within 15 s, and was ended"}
            one.pop("usec")
    found = checks(run(lost), "n1", "fabric.bench.regression")["mlx5_0/1 send_lat"]
    assert found["result"] == "unknown"
    assert "2 values of the baseline" in found["cause"]


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "ibready/bench-baseline/1"}', "{}"])
def test_a_baseline_that_cannot_be_read_is_no_baseline(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "kept.json").write_text(text)
    with pytest.raises(AnsibleActionFail, match="no baseline that can be read"):
        run(healthy())
    assert run(healthy(), rebase=True)["baseline_written"]


@pytest.mark.parametrize(
    ("floors", "said"), [({"bandwith": 300}, "is none of"), ({"latency_us": "fast"}, "no number above 0")]
)
def test_floors_that_cannot_be_meant_are_refused(run: Run, floors: dict[str, Any], said: str) -> None:
    with pytest.raises(AnsibleActionFail, match=said):
        run(healthy(), floors=floors)


@pytest.mark.parametrize("nothing", [{"what": []}, {"what": ["perftest"], "tests": []}])
def test_a_run_that_was_to_measure_nothing_does_not_pass(run: Run, nothing: dict[str, Any]) -> None:
    with pytest.raises(AnsibleActionFail, match="nothing to measure"):
        run(healthy(), **nothing)
    assert run(healthy(), what=["mpi"], tests=[])["verdicts"]["n1"] == "ready"


def test_a_baseline_of_other_machines_is_told_as_such(run: Run) -> None:
    run(healthy(), what=["perftest"])
    others = {f"m{at}": told(at) for at in (1, 2, 3)}
    for host in others.values():
        host["ibready_bench_answers"] = [
            one | {"server": one["server"].replace("n", "m")} for one in host["ibready_bench_answers"]
        ]
    result = run(others, what=["perftest"])
    found = checks(result, "m1", "fabric.bench.regression")
    causes = {one["cause"] for one in found.values()}
    assert {one["result"] for one in found.values()} == {"skip"}
    assert all("the baseline of 20" in cause and "nothing of this" in cause for cause in causes)


def test_one_gpu_has_no_bus_to_measure_and_spoils_no_baseline(run: Run) -> None:
    """all_reduce_perf counts 0 GB/s of bus bandwidth for one rank."""
    known = {
        f"n{at}": told(at, gpus=GPUS[:1], ibready_bench_nccl={**NCCL, "busbw": 0.0, "ranks": 1}) for at in (1, 2, 3)
    }
    known["n1"]["ibready_bench_nodes"] = {**NCCL, "ranks": 2, "hosts": 2, "busbw": 40.0}
    floors = {"nccl_node_gbps": 400, "nccl_nodes_gbps": 30}
    result = run(known, what=["nccl"], floors=floors)
    (one,) = checks(result, "n2", "nccl.bench.node").values()
    assert (one["result"], "one GPU" in one["cause"]) == ("skip", True)
    (data,) = checks(result, "n2", "nccl.bench.data").values()
    assert data["result"] == "pass"
    assert result["baseline_written"] == ["nccl"]
    assert run(known, what=["nccl"], floors=floors)["verdicts"] == dict.fromkeys(NAMES, "ready")
