# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.report import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed, read
from tests.unit.samples import node
from tests.unit.tcp_told import tcp

ROOT = Path(__file__).parents[4]
FILES = {
    "json": "ibready-report.json",
    "html": "ibready-report.html",
    "junit": "ibready-report.xml",
    "prometheus": "ibready-report.prom",
    "markdown": "ibready-report.md",
}
EXPECT = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
DOWN = {"ibready_node": {"unreachable": True, "msg": "Connection refused"}}

Inventory = Callable[..., dict[str, Any]]
Run = Callable[..., dict[str, Any]]


def told(index: int, *servers: str, **bent: Any) -> dict[str, Any]:
    """The variables of a healthy host that reached the given ones on both rails."""
    counts = {"untested": "", "sent": 50, "received": 50, "rtt_avg": 0.02, "rtt_max": 0.1}
    return {
        "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": ""}},
        "ibready_ibverify": {
            "checks": [],
            "facts": {"ib": node(index).to_dict()},
            "clock": {"asked": 10.0, "answered": 20.0, "began": 1e9 + 11, "ended": 1e9 + 19},
        },
        "ibready_expect": EXPECT,
        "ibready_pings": [
            {"rail": rail, "server": server, **counts} for server in servers for rail in ("mlx5_0/1", "mlx5_1/1")
        ],
        **tcp(*servers),
        **bent,
    }


HEALTHY = {"n1": told(1, "n2"), "n2": told(2, "n1")}
HALF = {"n1": told(1), "n2": DOWN}


@pytest.fixture
def run(
    inventory: Inventory,
    action: Callable[..., ActionBase],
    shown: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run the action over these hosts, with a --limit; ``args`` bend the task. Nobody listens to what changes."""
    monkeypatch.setattr(changed, "TOLD", changed.Reported())

    def over(known: dict[str, Any], limit: str = "", **args: Any) -> dict[str, Any]:
        variables = {**inventory(**known), "ansible_limit": limit}
        given = {"hosts": list(known), "dest": str(tmp_path / "reports"), **args}
        result: dict[str, Any] = action(ActionModule, variables, given).run(task_vars=variables)
        return result

    return over


def test_a_healthy_cluster_passes_and_all_files_are_written(run: Run, shown: list[str], tmp_path: Path) -> None:
    result = run(HEALTHY)
    assert not result.get("failed"), result["msg"]
    assert (result["changed"], result["bad"]) == (False, {})
    assert result["verdicts"] == {"n1": "ready", "n2": "ready"}
    for kind, name in FILES.items():
        assert result[kind] == str((tmp_path / "reports" / name).resolve())
    written = json.loads(Path(result["json"]).read_text())
    assert set(written["hosts"]) == {"n1", "n2"}
    assert written["ibready"] == yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    assert "n1" in Path(result["html"]).read_text()
    assert ["VERDICT" in text for text in shown] == [True, False, False]


def test_a_host_that_is_not_ready_fails_the_run_after_the_report(run: Run) -> None:
    result = run(HALF)
    assert result["failed"] is True
    assert result["verdicts"]["n2"] == "unknown"
    assert result["msg"].startswith("n1 is unknown: ")
    assert "n2 is unknown: host.access.reachable. The table above tells why" in result["msg"]
    assert json.loads(Path(result["json"]).read_text())["hosts"]["n2"]["verdict"] == "unknown"


def test_report_only_tells_the_same_without_failing(run: Run) -> None:
    failing, looking = run(HALF), run(HALF, report_only=True)
    assert not looking.get("failed")
    assert looking["bad"] == failing["bad"]
    assert set(looking["bad"]) == {"n1", "n2"}


@pytest.mark.parametrize("where", ["ibready_node", "ibready_ibverify", "later"])
@pytest.mark.parametrize("name", ["report_fail_on", "ibready_drain", "ibready_waivers", "rdma_port_type"])
def test_a_host_that_sends_our_variables_is_unknown_and_alone(
    where: str, name: str, inventory: Inventory, action: Callable[..., ActionBase], shown: list[str], tmp_path: Path
) -> None:
    facts = {name: "never", "distribution": "Ubuntu"}
    hosts = {"n1": told(1, "n2", "n3"), "n2": told(2, "n1", "n3"), "n3": told(3, "n1", "n2")}
    if where != "later":
        # What its first word leaves of it: the task fails, and no other module is asked.
        said = {"failed": True, "msg": "as it likes", "ansible_facts": facts}
        hosts["n3"] = {where: said}
    variables = inventory(**hosts)
    if where == "later":
        variables["hostvars"]._variable_manager.set_host_facts("n3", facts)
    args = {"hosts": list(hosts), "dest": str(tmp_path)}
    result: dict[str, Any] = action(ActionModule, variables, args).run(task_vars=variables)
    assert result["verdicts"] == {"n1": "ready", "n2": "ready", "n3": "unknown"}
    assert result["failed"] is True
    (check,) = json.loads(Path(result["json"]).read_text())["hosts"]["n3"]["checks"]
    assert check["id"] == "host.access.reachable"
    assert name in check["cause"]
    assert "leave the host out" in check["remedy"]


def test_a_limit_to_one_host_of_many_proves_no_reachability(run: Run) -> None:
    result = run({**HEALTHY, "n1": told(1)}, hosts=["n1"])
    assert result["verdicts"] == {"n1": "unknown"}
    assert result["failed"] is True
    alone = run({"n1": told(1)})
    assert alone["verdicts"] == {"n1": "ready"}


def test_a_limit_leaves_the_report_of_the_cluster_and_its_history(run: Run, tmp_path: Path) -> None:
    of_all = run(HEALTHY)
    before = files_of(tmp_path / "reports")
    limited = run(HEALTHY, hosts=["n1"], limit="n1")
    # A collector of metrics refuses two files with the same names in them.
    mine = FILES.keys() - {"prometheus"}
    assert {name: path for name, path in limited.items() if name in FILES} == {
        name: path.replace("ibready-report", "ibready-report-limited") for name, path in of_all.items() if name in mine
    }
    now = files_of(tmp_path / "reports")
    assert {path: text for path, text in now.items() if "limited" not in path.name} == before
    assert len(now) == len(before) + len(mine)
    # What a limit leaves out nobody has lost.
    assert json.loads(Path(limited["json"]).read_text())["since"]["hosts"].keys() == {"n1"}
    # A limit that names every host limits nothing.
    assert run(HEALTHY, limit="all")["json"] == of_all["json"]


def files_of(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder, by path."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_host_is_refused_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    with pytest.raises(AnsibleActionFail, match=r"no host to report on.*next: `ansible-inventory"):
        run({}, hosts=[])
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("bent", "said"),
    [
        pytest.param({"hosts": {"n1": 1}}, "hosts", id="hosts is no list"),
        pytest.param({"folder": "x"}, "Invalid options .* folder", id="misspelt"),
        pytest.param({"report_only": "maybe"}, "report_only", id="not a boolean"),
        pytest.param({"fail_on": "always"}, "fail_on", id="no such verdict"),
        pytest.param({"formats": ["pdf"]}, "formats", id="no such format"),
    ],
)
def test_a_wrong_call_is_refused(run: Run, bent: dict[str, Any], said: str) -> None:
    with pytest.raises(AnsibleActionFail, match=said):
        run(HEALTHY, **bent)


def test_a_bad_expectation_is_refused_by_its_name(run: Run) -> None:
    with pytest.raises(AnsibleActionFail, match=r"^ibready_expect: expect\.rails is not known"):
        run({"n1": told(1, ibready_expect={"rails": 8})})


def test_a_report_that_cannot_be_written_says_where_and_what_next(run: Run, shown: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AnsibleActionFail, match=r"not written to .*next: set ibready_report_dir"):
        run(HEALTHY, dest=str(tmp_path / "file" / "reports"))
    assert "n[1-2]  ready" in shown[1]  # the verdict was told all the same


WARM = {
    "id": "host.cpu.governor",
    "subject": "host",
    "result": "fail",
    "severity": "warning",
    "observed": "off",
    "expected": "on",
    "expected_from": "capability",
    "cause": "chrony is stopped",
    "remedy": "start chrony",
    "evidence": {},
    "waived": "",
}


def degraded() -> dict[str, Any]:
    """A healthy cluster but for a warning on one host."""
    mine = told(2, "n1")
    return {"n1": told(1, "n2"), "n2": {**mine, "ibready_ibverify": {**mine["ibready_ibverify"], "checks": [WARM]}}}


@pytest.mark.parametrize(
    ("fail_on", "hosts", "failed"),
    [
        ("degraded", HEALTHY, set()),
        ("degraded", degraded(), {"n2"}),
        ("not_ready", degraded(), set()),
        ("not_ready", HALF, {"n1", "n2"}),
        ("never", HALF, set()),
    ],
)
def test_the_verdict_on_which_to_fail_is_the_callers(
    run: Run, fail_on: str, hosts: dict[str, Any], failed: set[str]
) -> None:
    result = run(hosts, fail_on=fail_on)
    assert set(result["bad"]) == failed
    assert bool(result.get("failed")) == bool(failed)
    assert json.loads(Path(result["json"]).read_text())["run"]["fail_on"] == fail_on


def test_what_is_written_is_a_run_object(run: Run, tmp_path: Path) -> None:
    plan = {"class": "c1", "verdict": "known", "because": [], "digest": "d1", "stack": {"nccl": {}}}
    waiver = {"check": "host.cpu.governor", "host": "n2", "until": "2999-01-01", "reason": "ordered"}
    hosts = degraded()
    hosts["n2"].update(ibready_plan=plan, ibready_waivers=[waiver])
    found = read.read(Path(run(hosts)["json"]))
    assert found["plan"] == {"c1": {**{key: plan[key] for key in plan if key != "class"}, "hosts": ["n2"]}}
    assert found["waivers"] == [{**waiver, "subject": "", "state": "used"}]
    assert found["hosts"]["n2"]["verdict"] == "ready"
    assert (found["changes"], found["benchmarks"], found["since"]) == (None, None, None)
    assert found["run"]["size"] == 2
    assert set(found["versions"]) == {"ibready", "ansible", "python"}


def test_the_next_run_says_what_changed_since(run: Run) -> None:
    run(HEALTHY)
    found = read.read(Path(run(HALF)["json"]))
    assert found["since"]["hosts"]["n2"]["before"] == "ready"
    assert found["since"]["hosts"]["n2"]["now"] == "unknown"


def test_a_report_that_cannot_be_read_is_told_and_replaced(run: Run, tmp_path: Path) -> None:
    Path(run(HEALTHY)["json"]).write_text("{")
    found = read.read(Path(run(HEALTHY)["json"]))
    assert "was cut short" in found["since"]["error"]


def test_every_run_carries_the_history_of_those_before_it(run: Run) -> None:
    for hosts in (HEALTHY, HALF, HEALTHY):
        written = run(hosts)
    found = read.read(Path(written["json"]))["history"]
    # Without its only peer the pings of n1 are unknown, too.
    assert found["hosts"] == {name: ["ready", "unknown", "ready"] for name in ("n1", "n2")}
    assert (len(found["runs"]), found["unread"]) == (3, [])
    assert read.read(Path(run(HEALTHY, keep=2)["json"]))["history"]["hosts"]["n2"] == ["ready"] * 2
    assert read.read(Path(run(HEALTHY, keep=0)["json"]))["history"] is None


def test_a_broken_report_and_a_foreign_kept_one_are_told_and_history_goes_on_from_the_next(
    run: Run, tmp_path: Path
) -> None:
    run(HALF)
    Path(run(HEALTHY)["json"]).write_text("{")
    kept = tmp_path / "reports/history"
    (kept / "ibready-report-29990101T000000Z.json.gz").write_bytes(gzip.compress(b'{"schema": "their own"}'))
    (kept / "ibready-report-29980101T000000Z.json.gz").write_bytes(b"no gzip")
    found = read.read(Path(run(HEALTHY)["json"]))["history"]
    assert [one.partition(" ")[0].rpartition("/")[2] for one in found["unread"]] == [
        *("ibready-report.json", "ibready-report-29990101T000000Z.json.gz", "ibready-report-29980101T000000Z.json.gz")
    ]
    assert "is no run object of ibready" in found["unread"][1]
    assert found["hosts"]["n1"][-1] == "ready"
    assert len(found["runs"]) >= 2


def test_only_the_formats_that_were_asked_for_are_written(run: Run, tmp_path: Path) -> None:
    result = run(HEALTHY, formats=["markdown"], keep=0)
    assert not {"html", "junit", "prometheus"} & set(result)
    assert {one.name for one in (tmp_path / "reports").iterdir()} == {"ibready-report.json", "ibready-report.md"}


@pytest.mark.parametrize("after", range(6))
def test_an_interrupted_report_leaves_every_file_whole(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    run(HEALTHY)
    folder = tmp_path / "reports"
    before = {name: (folder / name).read_bytes() for name in FILES.values()}
    left, replace = [after], os.replace

    def interrupted(*args: Any) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        replace(*args)

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(HALF)
    assert sorted(one.name for one in folder.iterdir() if one.is_file()) == sorted(FILES.values())
    changed = [name for name, raw in before.items() if (folder / name).read_bytes() != raw]
    assert changed == list(FILES.values())[:after]
    assert read.read(folder / FILES["json"])["hosts"]["n2"]["verdict"] == ("unknown" if after else "ready")
    assert all(read.read(one) for one in (folder / "history").iterdir())


def test_a_benchmark_beside_the_report_is_taken_over(run: Run, tmp_path: Path) -> None:
    bench = tmp_path / "reports/bench.json"
    bench.parent.mkdir()
    said = {"created": "2026-11-22T10:00:00+00:00", "ibready": "0.1.0", "simulated": ""}
    host = {"verdict": "degraded", "measured": True, "checks": [WARM], "stack": "x", "nccl": None}
    told_of = {**said, "schema": "ibready/bench/1", "what": ["nccl"], "baseline": {}}
    bench.write_text(json.dumps({**told_of, "hosts": {"n1": host}, "pairs": []}))
    found = read.read(Path(run(HEALTHY)["json"]))["benchmarks"]
    assert found["hosts"] == {"n1": {"verdict": "degraded", "measured": True, "checks": [WARM]}}
    assert (found["error"], found["created"]) == ("", said["created"])
    bench.write_text("{")
    found = read.read(Path(run(HEALTHY)["json"]))["benchmarks"]
    assert "bench.json cannot be read" in found["error"]


def test_the_version_is_that_of_the_collection() -> None:
    galaxy = yaml.safe_load((Path(__file__).parents[4] / "galaxy.yml").read_text())
    assert galaxy["version"] == VERSION
