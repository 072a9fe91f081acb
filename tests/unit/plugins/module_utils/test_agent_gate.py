# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate by every road: whatever is wrong with the kept verdict, no job starts.

The roads are the program's own commands, run as Slurm, systemd, kubelet, nvhcd and
node-problem-detector run them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings as _settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._agent import gate, judge, look, program
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import Settings
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model

ROOT = Path(__file__).parents[4]
GOOD = _model.passed("ib.port.state", "mlx5_0/1", "Active")
DOWN = _model.failed("ib.port.state", "mlx5_0/1", "Down", "Active", "capability")
BLIND = _model.unknown("ib.port.state", "mlx5_0/1", "ibstat: not installed")
SHARED = _model.failed("fabric.sm.master", "fabric", "none", "a master", "capability")
HIGH_ERRORS = _model.failed("ib.port.errors", "mlx5_0/1", "7 in 2 s", "0", "capability")
# How each road is asked, and what it says to a job that may start.
ROADS = {
    "gate: systemd, kubelet, a script": ("gate",),
    "nvhcd": ("gate", "--fail-count"),
    "Slurm's prolog": ("slurm-prolog",),
    "node-problem-detector": ("npd",),
}


class Node:
    """A node's kept verdict and settings in a folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / "agent.json"
        self.settings = Settings(host="node7", areas=("ib",), run=str(home / "run"), state=str(home / "state"))
        self.configure()

    def configure(self, **more: object) -> None:
        known = {"host": "node7", "areas": ["ib"], "run": self.settings.run, "state": self.settings.state}
        self.file.write_text(json.dumps({**known, **more}))

    @property
    def verdict(self) -> Path:
        return Path(look.path(self.settings))

    def keep(self, *checks: _model.Check, age: float = 5.0, **more: object) -> None:
        """A verdict that was given ``age`` seconds ago."""
        now = {"looked_at": time.time() - age, "boot": look.boot_id(), "up": look.uptime() - age}
        fields = {**now, **more}
        look.save(self.settings, replace(Look("node7", ("ib",), checks), **fields))  # type: ignore[arg-type]

    def asked(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
        status = program.main([*words, "--settings", str(self.file)])
        said = capsys.readouterr()
        return status, said.out + said.err


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    made.keep(GOOD)
    return made


def _edit(node: Node, old: str, new: str) -> None:
    text = node.verdict.read_text()
    assert old in text
    node.verdict.write_text(text.replace(old, new, 1))


def _a_folder(node: Node) -> None:
    node.verdict.unlink()
    node.verdict.mkdir()


def _a_pipe(node: Node) -> None:
    node.verdict.unlink()
    os.mkfifo(node.verdict)


def _half(node: Node) -> None:
    data = node.verdict.read_bytes()
    node.verdict.write_bytes(data[: len(data) // 2])


def _resealed(node: Node, **change: object) -> None:
    """Written by something that knows the seal, and no verdict of ours all the same."""
    raw = json.loads(node.verdict.read_text())
    del raw["seal"]
    body = json.dumps({**raw, **change}, indent=1)[:-2]
    node.verdict.write_text(body + look._seal(body))


BROKEN: dict[str, tuple[Callable[[Node], None], str]] = {
    "nobody has looked since the boot": (lambda node: node.verdict.unlink(), "no verdict is kept"),
    "empty": (lambda node: node.verdict.write_text(""), "is not as ibready wrote it"),
    "half written": (_half, "is not as ibready wrote it"),
    "cut by its last byte": (
        lambda node: node.verdict.write_bytes(node.verdict.read_bytes()[:-1]),
        "is not as ibready wrote it",
    ),
    "zeros after a power cut": (
        lambda node: node.verdict.write_bytes(bytes(node.verdict.stat().st_size)),
        "is not as ibready wrote it",
    ),
    "written over by another file's text": (
        lambda node: node.verdict.write_text('{"verdict": "ready"}\n'),
        "is not as ibready wrote it",
    ),
    "a failure turned into a pass by hand": (
        lambda node: (node.keep(DOWN), _edit(node, '"result": "fail"', '"result": "pass"'))[0],
        "its seal does not fit",
    ),
    "made younger by hand": (
        lambda node: (node.keep(GOOD, age=4000), _edit(node, '"looked_at": 1', '"looked_at": 2'))[0],
        "its seal does not fit",
    ),
    "a space more": (lambda node: node.verdict.write_text(f"{node.verdict.read_text()} "), "its seal does not fit"),
    "a folder": (_a_folder, "cannot be read"),
    "a pipe": (_a_pipe, "cannot be read"),
    "of another boot": (lambda node: node.keep(GOOD, boot="0f0e0d0c-0000-4000-8000-000000000000"), "of another boot"),
    "of a boot that nobody could tell": (lambda node: node.keep(GOOD, boot=""), "of another boot"),
    "of another host": (lambda node: node.keep(GOOD, host="node8"), "is of node8, and this is node7"),
    "of other areas": (lambda node: node.keep(GOOD, areas=("host",)), "is of host, and ib are judged"),
    "old: the agent does not run": (lambda node: node.keep(GOOD, age=181), "older than 180 s"),
    "the clock was moved back after it": (
        lambda node: node.keep(GOOD, looked_at=time.time() + 600),
        "the clock was moved back 60",
    ),
    "the clock was moved back to just after it": (
        lambda node: node.keep(GOOD, looked_at=time.time() - 1, up=look.uptime() - 100),
        "the clock was moved back 99 s",
    ),
    "the clock was moved ahead": (lambda node: node.keep(GOOD, looked_at=time.time() - 9000), "older than 180 s"),
    "taken later in this boot than now": (lambda node: node.keep(GOOD, up=look.uptime() + 50), "later in this boot"),
    "of a schema to come": (lambda node: _resealed(node, schema="ibready/last-verdict/3"), "schema is not"),
    "with a result that is none": (
        lambda node: _resealed(node, checks=[{**GOOD.to_dict(), "result": "passed"}]),
        "result passed , severity error",
    ),
    "without checks": (lambda node: _resealed(node, checks=None), "is not as ibready wrote it"),
    "looked at when there is no time": (lambda node: _resealed(node, up="nan"), "is no time"),
    "a failure": (lambda node: node.keep(DOWN), "ib.port.state mlx5_0/1 Down, expected Active"),
    "settings that are gone": (lambda node: node.file.unlink(), "no such file"),
    "settings half written": (lambda node: node.file.write_text('{"host": "no'), "not JSON"),
    "settings of an older program": (
        lambda node: node.configure(prolog_unknown="allow"),
        "prolog_unknown is not known",
    ),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("state", BROKEN)
def test_whatever_is_wrong_no_job_starts_by_any_road(
    node: Node, state: str, road: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil, words = BROKEN[state]
    assert node.asked(capsys, *ROADS[road])[0] == 0
    spoil(node)
    status, said = node.asked(capsys, *ROADS[road])
    assert status == 1
    if road == "node-problem-detector":
        assert 0 < len(said.strip()) <= 80
        return
    assert words in said
    if road == "nvhcd":
        answer = json.loads(said)
        assert answer["fail_count"] == len(answer["failed_checks"]) > 0


@pytest.mark.parametrize("road", ROADS)
def test_what_the_site_lets_start_by_an_unknown_starts_nothing_without_a_verdict(
    node: Node, road: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """``gate_unknown: allow`` is of a look that could not tell, and not of a look that is not there."""
    node.configure(gate_unknown="allow")
    node.keep(GOOD, age=181)
    assert node.asked(capsys, *ROADS[road])[0] == 1


@pytest.mark.parametrize(
    ("unknown", "status", "npd"),
    [("refuse", 1, 2), ("allow", 0, 2)],
)
def test_a_look_that_could_not_tell_is_for_the_site_to_judge(
    node: Node, unknown: str, status: int, npd: int, capsys: pytest.CaptureFixture[str]
) -> None:
    node.configure(gate_unknown=unknown)
    for kept in ({"checks": (BLIND,)}, {"checks": (), "why": "no answer within 40 s"}):
        node.keep(**kept)  # type: ignore[arg-type]
        for road, words in ROADS.items():
            found, said = node.asked(capsys, *words)
            assert found == (npd if road == "node-problem-detector" else status), (road, said)


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ((GOOD,), "ready: node7: 1 pass (looked at "),
        ((GOOD, HIGH_ERRORS), "ready: node7: degraded, ib.port.errors mlx5_0/1 7 in 2 s"),
        ((GOOD, replace(DOWN, waived="until 2027-01-01: RMA")), "ready: node7: 1 pass, 1 waived (looked at"),
        # What all nodes share closes no gate, as it drains none.
        ((GOOD, SHARED), "ready: node7: 1 pass (looked at "),
    ],
    ids=["good", "degraded", "waived", "shared"],
)
def test_a_good_verdict_opens_every_road(
    node: Node, checks: tuple[_model.Check, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node.keep(*checks)
    for road in ROADS.values():
        status, said = node.asked(capsys, *road)
        assert status == 0, said
    assert node.asked(capsys, "gate")[1].startswith(words)
    assert json.loads(node.asked(capsys, "gate", "--fail-count")[1])["fail_count"] == 0


def test_one_line_names_the_state_the_host_the_cause_and_the_age(
    node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    node.keep(replace(DOWN, observed="Down `id`\n" + "x" * 5000), age=7)
    (line,) = node.asked(capsys, "gate")[1].splitlines()
    assert line.startswith("not_ready: node7: ib.port.state mlx5_0/1 Down id xxx")
    assert line.endswith("(looked at 7 s ago)")
    assert len(line) <= 400
    answer = json.loads(node.asked(capsys, "gate", "--fail-count")[1])
    assert answer["failed_checks"] == ["ib.port.state"]
    # node-problem-detector writes each other message to the API server, so no age is in it.
    first = node.asked(capsys, "npd")
    node.keep(replace(DOWN, observed="Down `id`\n" + "x" * 5000), age=77)
    assert node.asked(capsys, "npd") == first


def test_a_simulated_node_says_so(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    node.keep(GOOD, simulated="ibsim")
    assert node.asked(capsys, "gate")[1].startswith("ready: SIMULATED node7: ")
    assert node.asked(capsys, "npd") == (0, "SIMULATED ready: 1 pass\n")
    node.keep(DOWN, simulated="ibsim")
    assert node.asked(capsys, "npd")[1].startswith("SIMULATED ib.port.state mlx5_0/1 Down")
    for road in ROADS.values():
        assert "SIMULATED" in node.asked(capsys, *road)[1]


@pytest.mark.parametrize(("age", "status"), [(0, 0), (29.5, 0), (30.6, 1)])
def test_the_limit_is_intervals(node: Node, age: float, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    node.configure(interval=15, gate_intervals=2)
    node.keep(GOOD, age=age)
    assert node.asked(capsys, "gate")[0] == status


def test_it_looks_at_no_hardware_runs_nothing_and_writes_nothing(
    node: Node, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("it looked")

    monkeypatch.setattr(judge, "current", never)
    monkeypatch.setattr("subprocess.Popen", never)
    node.keep(DOWN)
    before = sorted((path.name, path.stat().st_mtime_ns) for path in node.home.rglob("*"))
    for road in ROADS.values():
        assert node.asked(capsys, *road)[0] == 1
    assert sorted((path.name, path.stat().st_mtime_ns) for path in node.home.rglob("*")) == before


def test_what_a_look_keeps_opens_the_gate_until_it_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look's own file, not a test's."""
    known = Settings(host="n", areas=("host",), run=str(tmp_path / "run"), state=str(tmp_path / "state"))
    monkeypatch.setattr(judge, "_judged", lambda _settings: {"checks": [GOOD.to_dict()], "simulated": ""})
    judge.current(known, 0.0)
    assert gate.ask(known).may_start
    ahead = look.uptime() + 181
    monkeypatch.setattr(look, "uptime", lambda: ahead)
    # The clock stood still meanwhile, as on a machine that was stopped and given an old time.
    assert not gate.ask(known).may_start


def test_a_look_that_cannot_be_kept_leaves_no_older_verdict(
    node: Node, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was good a minute ago is not what the look has just seen."""
    assert gate.ask(node.settings).may_start
    monkeypatch.setattr(judge, "_judged", lambda _settings: {"checks": [DOWN.to_dict()], "simulated": ""})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(look, "save", full)
    assert judge.current(node.settings, 0.0).verdict == "not_ready"
    answer = gate.ask(node.settings)
    assert (answer.may_start, answer.why.split(":")[0]) == (False, "no verdict is kept")
    assert "verdict.json was not written: [Errno 28]" in capsys.readouterr().err


def test_a_crash_of_the_program_opens_nothing(node: Node) -> None:
    """Its own process: a crash ends it with a status of its own."""
    pid = os.fork()
    if pid == 0:
        look.kept = None  # type: ignore[assignment]
        os.close(1)
        os._exit(program.main(["gate", "--settings", str(node.file)]))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) not in (0, 255)


def test_nvhcd_is_given_the_answer_and_nothing_else(tmp_path: Path) -> None:
    """nvhcd takes both streams for the answer, and runs it with words of its own."""
    (task,) = yaml.safe_load((ROOT / "roles/health_agent/tasks/nvhcd.yml").read_text())
    program = tmp_path / "ibready"
    program.write_text('#!/bin/sh\necho a warning >&2\necho "$*"\nexit 1\n')
    program.chmod(0o755)
    text = task["ansible.builtin.copy"]["content"]
    for name, value in (("command", program), ("settings_file", "/etc/ibready/agent.json")):
        text = text.replace(f"{{{{ __health_agent_{name} }}}}", str(value))
    (tmp_path / "check").write_text(text)
    (tmp_path / "check").chmod(0o755)
    words = ["--no-slurm", "--group", "prolog", "epilog", "logs", "gpu"]
    done = subprocess.run(
        [tmp_path / "check", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "gate --fail-count --settings /etc/ibready/agent.json\n")


def test_the_page_asks_as_the_program_is_asked(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/gate.md has units and pods run, run here."""
    page = (ROOT / "docs/gate.md").read_text()
    asked = re.findall(r"^(?:ExecCondition|ExecStartPre)=\S*ibready (gate .*)$", page, re.MULTILINE)
    pod = yaml.safe_load(re.findall(r"```yaml\n(apiVersion.*?)```", page, re.DOTALL)[0])
    (first,) = pod["spec"]["initContainers"]
    probe = pod["spec"]["containers"][0]["readinessProbe"]["exec"]["command"]
    mounted = {mount["mountPath"] for mount in first["volumeMounts"]}
    assert mounted == {"/usr/local/lib/ibready", "/etc/ibready", "/run/ibready"}
    assert all(mount["readOnly"] for mount in first["volumeMounts"])
    for command in (first["command"], probe):
        assert command[:2] == ["python3", "/usr/local/lib/ibready/ibready.pyz"]
        asked.append(" ".join(command[2:]))
    assert len(asked) >= 4
    for words in asked:
        *given, path = words.split()
        assert (given, path) == (["gate", "--settings"], "/etc/ibready/agent.json")
        for checks, status in (((GOOD,), 0), ((DOWN,), 1)):
            node.keep(*checks)
            assert node.asked(capsys, *given[:-1])[0] == status


@_settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_of_the_bytes_opens_the_gate(node: Node, data: st.DataObject) -> None:
    node.keep(GOOD)
    whole = node.verdict.read_bytes()
    assert gate.of(str(node.file)).may_start
    kind = data.draw(st.sampled_from(["byte", "cut", "more", "swap", "block"]))
    at = data.draw(st.integers(0, 10**6)) % len(whole)
    if kind == "byte":
        damaged = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    elif kind == "cut":
        damaged = whole[:at] + whole[at + data.draw(st.integers(1, 64)) :]
    elif kind == "more":
        damaged = whole[:at] + data.draw(st.binary(min_size=1, max_size=64)) + whole[at:]
    elif kind == "swap":
        damaged = whole[at:] + whole[:at]
    else:
        length = data.draw(st.integers(1, 512))
        damaged = whole[:at] + bytes(length) + whole[at + length :]
    node.verdict.write_bytes(damaged)
    assert gate.of(str(node.file)).may_start == (damaged == whole)
