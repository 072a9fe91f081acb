# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import look, program
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import load
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._verify.explain import explain
from tests.gauntlet import fault, render
from tests.gauntlet.nodes.nccl import PEER
from tests.gauntlet.tree import Tree
from tests.unit.samples import IBSTAT

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def start(*args: str) -> tuple[int, str, str]:
        try:
            status = program.main(args)
        except SystemExit as exc:
            status = int(exc.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return start


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A healthy node's bundle and what its inventory expects."""
    place = tmp_path_factory.mktemp("node")
    described = render.node("hgx-h100-8")
    collect.collect(render.render(described), str(place), "node7", "now", {"nccl": {"peers": [PEER]}, "container": {}})
    (place / "expect.json").write_text(json.dumps(described.expect))
    return place / "node7", place / "expect.json"


def bundle_of(tree: Tree, place: Path) -> Path:
    collect.collect(tree, str(place), "node7", "now", {"nccl": {"peers": [PEER]}, "container": {}})
    return place / "node7"


def slow_rail() -> tuple[dict[str, Any], Tree]:
    one = next(one for one in fault.load() if one.check == "ib.port.rate")
    described, tree = fault.broken(one)
    return described.expect, tree


@pytest.mark.parametrize("rate", [400, 200])
def test_a_bundle_is_judged_by_what_was_expected_of_its_host(run: Run, rate: int, tmp_path: Path) -> None:
    described = render.node("ib-login")
    expect = {**described.expect, "rate_gbps": rate, "nccl": {"peers": [PEER]}}
    collect.collect(render.render(described), str(tmp_path), "node7", "now", expect)
    carried = run("verify", "--bundle", str(tmp_path / "node7"), "--json")
    (tmp_path / "expect.json").write_text(json.dumps(expect))
    said = run("verify", "--bundle", str(tmp_path / "node7"), "--json", "--expect", str(tmp_path / "expect.json"))
    # The same but for who says so: root of that host wrote the bundle.
    told = [
        [(one["id"], one["subject"], one["result"]) for one in json.loads(out)["checks"]]
        for _, out, _ in (carried, said)
    ]
    assert told[0] == told[1]
    assert {"bundle", "capability"} <= {one["expected_from"] for one in json.loads(carried[1])["checks"]}
    assert carried[0] == (0 if rate == 200 else 2)


@pytest.mark.parametrize(
    "expect",
    [{"hcas": [1]}, {"container": 3}, {"nccl": {"peers": 4}}, {"never": 1}, {"stack": "x"}, {"lock": {"stack": 5}}],
)
def test_what_a_stranger_s_bundle_says_is_expected_is_refused_where_it_is_nothing(
    run: Run, expect: dict[str, Any], tmp_path: Path
) -> None:
    bundle = bundle_of(render.render(render.node("ib-login")), tmp_path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps({**manifest, "expect": expect}))
    status, _out, err = run("verify", "--bundle", str(bundle))
    assert status == 64
    assert f"expect.{next(iter(expect))}" in err or "nccl.peers" in err


def test_a_ready_node_gives_0(run: Run, node: tuple[Path, Path]) -> None:
    status, out, _err = run("verify", "--bundle", str(node[0]), "--expect", str(node[1]))
    assert (status, out.splitlines()[0]) == (0, "node7 is ready")
    assert run("verify", "--bundle", str(node[0]), "--expect", str(node[1]), "--quiet")[1] == ""


def test_areas_of_which_a_node_has_nothing_are_skipped(run: Run, tmp_path: Path) -> None:
    given = ("verify", "--bundle", str(bundle_of(render.render(render.node("ib-login")), tmp_path)), "--only", "gpu")
    status, out, _err = run(*given)
    assert (status, out.splitlines()[0]) == (0, "node7 is skipped")
    assert "skipped: no NVIDIA GPU on the PCI bus" in out
    assert run(*given, "--quiet")[1] == ""


def test_a_broken_node_gives_2_and_says_why(run: Run, tmp_path: Path) -> None:
    expect, tree = slow_rail()
    (tmp_path / "e.json").write_text(json.dumps(expect))
    bundle = bundle_of(tree, tmp_path)
    given = ("verify", "--bundle", str(bundle), "--expect", str(tmp_path / "e.json"))
    status, out, _err = run(*given)
    assert status == 2
    assert "FAIL    ib.port.rate" in out
    status, out, _err = run(*given, "--quiet")
    assert (status, out.count("\n")) == (2, 1)
    assert out.startswith("node7 is not_ready: ib.port.rate")


def test_a_waived_failure_gives_0_and_is_shown(run: Run, tmp_path: Path) -> None:
    expect, tree = slow_rail()
    (tmp_path / "e.json").write_text(json.dumps(expect))
    waiver = {"check": "ib.port.rate", "host": "node7", "until": "2999-12-31", "reason": "RMA 1"}
    (tmp_path / "w.json").write_text(json.dumps([waiver]))
    bundle = str(bundle_of(tree, tmp_path))
    files = ("--expect", str(tmp_path / "e.json"), "--waivers", str(tmp_path / "w.json"))
    status, out, _err = run("verify", "--bundle", bundle, *files)
    assert status == 0
    assert "WAIVED  ib.port.rate" in out
    assert "1 waived" in out


def test_an_empty_bundle_gives_3(run: Run, tmp_path: Path) -> None:
    assert run("verify", "--bundle", str(tmp_path))[0] == 3
    for area in ("host", "pci", "ib", "roce", "gpu", "nvlink", "stack"):
        assert run("verify", "--bundle", str(tmp_path), "--only", area)[0] in (1, 3), area


def test_only_some_areas(run: Run, node: tuple[Path, Path]) -> None:
    status, out, _err = run("verify", "--bundle", str(node[0]), "--only", "nvlink,gpu", "--json")
    reported = json.loads(out)
    assert status == 0
    assert {check["id"].split(".")[0] for check in reported["checks"]} == {"gpu", "nvlink"}
    assert sorted(reported["facts"]) == ["gpu", "machine", "nvlink"]


def test_json_is_the_verdict_object(run: Run, node: tuple[Path, Path]) -> None:
    reported = json.loads(run("verify", "--bundle", str(node[0]), "--json")[1])
    assert list(reported) == ["schema", "host", "verdict", "checks", "facts"]
    assert (reported["schema"], reported["host"]) == ("ibready/verdict/1", "node7")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "a command is needed"),
        (("verfy",), "verfy"),
        (("verify", "--only", "ib,gpus"), "there is no area 'gpus'"),
        (("verify", "--bundle", "/nonexistent"), "no such directory"),
        (("verify", "--expect", "/nonexistent"), "No such file"),
        (("verify", "--expect", "/etc/hostname"), "not JSON"),
        (("explain", "ib.port"), "there are ib.port."),
        (("explain", "x.y.z"), "there is no check"),
        (("parse", "ibstta"), "there is no parser 'ibstta'"),
        (("parse", "ibstat", "/nonexistent"), "No such file"),
    ],
)
def test_bad_usage_gives_64(run: Run, args: tuple[str, ...], said: str) -> None:
    status, out, err = run(*args)
    assert (status, out) == (64, "")
    assert said in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"hcas": -1}', "expect.hcas"),
        ('{"rails": 8}', "expect.rails is not known"),
        ('{"profile": "hgx-z900"}', "no known hardware profile"),
    ],
)
def test_a_bad_expectation_gives_64(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "e.json").write_text(text)
    status, _out, err = run("verify", "--expect", str(tmp_path / "e.json"))
    assert status == 64
    assert said in err


def test_explain_prints_what_the_documentation_holds(run: Run) -> None:
    documented = (Path(__file__).parents[4] / "docs/checks.md").read_text()
    for name, entry in CATALOG.items():
        status, out, _err = run("explain", name)
        assert (status, out) == (0, explain(entry))
        assert out in documented


def test_parse_prints_the_facts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ibstat").write_text(IBSTAT)
    status, out, _err = run("parse", "ibstat", str(tmp_path / "ibstat"))
    assert (status, json.loads(out)["cas"][0]["name"]) == (0, "mlx5_0")
    stdin = io.TextIOWrapper(io.BytesIO(IBSTAT.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert run("parse", "ibstat")[:2] == (0, out)


TWO = "".join(f"node{n}: CA 'mlx5_{n}'\nnode{n}: \tCA type: MT4129\nnode{n}: \tNumber of ports: 0\n" for n in (1, 2))


BAD = "node-a:10:11 [0] init.cc:8 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device b7000\n"


def test_why_says_what_is_wrong_and_what_to_ask(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(BAD)
    (tmp_path / "prose").write_text("Dear colleague,\nthe cluster is slow.\n")
    status, out, err = run("why", str(tmp_path / "log"), str(tmp_path / "prose"))
    assert status == 2
    assert out.startswith("the host: read nccl_log\n  FAIL    nccl.log.errors nccl_log: duplicate_gpu")
    assert "no tool is known that prints 'Dear colleague,'" in err
    status, out, _err = run("why", "--json", str(tmp_path / "log"))
    (host,) = json.loads(out)["hosts"]
    assert (status, host["read"], host["wrong"][0]["id"]) == (2, ["nccl_log"], "nccl.log.errors")
    assert run("why", str(tmp_path / "prose"))[0] == 3
    (tmp_path / "good").write_text(IBSTAT)
    status, out, _err = run("why", str(tmp_path / "good"))
    assert (status, "nothing is wrong in it" in out, "ask next: `" in out) == (0, True, True)


def test_a_text_that_is_too_long_is_refused_by_name(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_MOST_BYTES", 2**20)
    (tmp_path / "job.log").write_text("x" * (2**20 + 1))
    status, _out, err = run("why", str(tmp_path / "job.log"))
    assert status == 64
    assert "job.log: more than 1 MiB; give the part that matters" in err


def test_parse_tells_hosts_apart(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two").write_text(TWO)
    status, out, _err = run("parse", "ibstat", str(tmp_path / "two"))
    assert status == 0
    hosts = json.loads(out)["hosts"]
    assert {host: [ca["name"] for ca in told["cas"]] for host, told in hosts.items()} == {
        "node1": ["mlx5_1"],
        "node2": ["mlx5_2"],
    }


def test_parse_tells_whose_text_a_file_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "some").write_text(TWO)
    status, out, err = run("parse", str(tmp_path / "some"))
    assert (status, sorted(json.loads(out)["hosts"])) == (0, ["node1", "node2"])
    assert "read as ibstat" in err
    (tmp_path / "prose").write_text("Dear colleague,\nthe cluster is slow.\nRegards\n")
    assert run("parse", str(tmp_path / "prose"))[0] == 3


def test_parse_of_nothing_gives_3_and_the_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    status, out, err = run("parse", "ibstat", str(tmp_path / "empty"))
    assert status == 3
    assert json.loads(out)["empty_output"] is True
    assert "empty output" in err


def test_collect_writes_a_bundle_of_this_host(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "node7")
    status, out, _err = run("collect", str(tmp_path / "b"))
    assert (status, out.strip()) == (0, str(tmp_path / "b/node7"))
    assert run("verify", "--bundle", str(tmp_path / "b/node7"))[0] in (1, 2, 3)


def test_a_bundle_that_cannot_be_written_gives_3(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, _out, err = run("collect", str(tmp_path / "file"))
    assert status == 3
    assert "was not written" in err


def test_a_look_that_could_not_be_taken_fails_and_an_older_one_says_so(run: Run, tmp_path: Path) -> None:
    """A verdict that is there, good or bad, is what was asked for."""
    made = {
        "host": "node7",
        "areas": ["ib"],
        "root": str(tmp_path / "empty"),
        "run": str(tmp_path / "run"),
        "timer_age": 600,
    }
    settings = tmp_path / "agent.json"
    settings.write_text(json.dumps({**made, "expect": str(tmp_path / "nowhere.json")}))
    status, out, _err = run("look", "--settings", str(settings))
    assert (status, "nowhere.json: no such file" in out) == (1, True)
    status, _out, err = run("metrics", "--settings", str(settings), "--textfile", str(tmp_path))
    assert (status, "no verdict: " in err) == (1, True)
    settings.write_text(json.dumps({**made, "areas": ["roce"]}))
    status, out, _err = run("look", "--settings", str(settings))
    assert (status, "s ago" in out) == (0, False)
    agent = load(str(settings))
    kept = look.kept(agent)
    look.save(agent, replace(kept, looked_at=kept.looked_at - 20))
    assert re.search(r", 2[0-9] s ago", run("look", "--settings", str(settings))[1])
