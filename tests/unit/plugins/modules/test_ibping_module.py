# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between import ibping as _ibping, lease as _lease
from ansible_collections.ibready.cluster.plugins.module_utils._ground import command
from ansible_collections.ibready.cluster.plugins.modules import ibping

Run = Callable[..., dict[str, Any]]

UNITS = ["ibready-ibping-mlx5_0-1.service", "ibready-ibping-mlx5_1-2.service"]
ENDPOINTS = [{"device": "mlx5_0"}, {"device": "mlx5_1", "port": 2}]
QUESTIONS = [
    {"device": "mlx5_0", "lid": 7, "rail": "mlx5_0/1", "server": "n2", "hostname": "n2"},
    {"device": "mlx5_1", "port": 2, "lid": 8, "rail": "mlx5_1/2", "server": "n2"},
]

# Each stand-in writes down how it was called. A unit is a file in the folder `units`.
PROGRAMS = {
    "systemctl": r"""
case "$1" in
list-units) for unit in "$HOME_OF"/units/*; do
        [ -e "$unit" ] && echo "${unit##*/} loaded active running ibready"
    done
    exit 0 ;;
stop) shift
    [ -e "$HOME_OF/stuck" ] && exit 1
    for unit; do rm -f "$HOME_OF/units/$unit"; done ;;
is-active) [ -e "$HOME_OF/units/$2" ] && echo active && exit; echo inactive; exit 3 ;;
reset-failed) ;;
*) exit 64 ;;
esac
""",
    "systemd-run": r"""
[ -e "$HOME_OF/no-bus" ] && { echo "Failed to connect to bus" >&2; exit 1; }
: > "$HOME_OF/units/${1#--unit=}"
""",
    "journalctl": "exit 64",
    "ibping": r"""
[ "$1 $3 $5 $7" = "-C -P -c -f" ] && [ "$8 ${10}" = "-t -L" ] || exit 64
[ "${11}" = 8 ] && { echo "ibping: iberror: failed: can't open UMAD port" >&2; exit 255; }
[ -e "$HOME_OF/slow" ] && { trap ended=1 INT; while [ -z "$ended" ]; do sleep 0.1; done; }
cat <<END
--- n2.cluster.example (Lid ${11}) ibping statistics ---
$6 packets transmitted, $6 received, 0% packet loss, time 50 ms
rtt min/avg/max = 0.010/0.020/0.090 ms
END
""",
}


class Node:
    """A node whose systemd and ibping are scripts, with what was asked of them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.programs = home / "bin"

    def has(self, mark: str) -> None:
        (self.home / mark).touch()

    @property
    def units(self) -> list[str]:
        return sorted(path.name for path in (self.home / "units").iterdir())

    def calls(self, program: str) -> list[str]:
        log = self.home / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.partition(" ")[2] for line in lines if line.split()[0] == program]


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    """Nothing but the stand-ins can be found, so that this machine's own systemd is safe."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "units").mkdir()
    for name, script in PROGRAMS.items():
        path = tmp_path / "bin" / name
        path.write_text(
            f'#!/bin/sh\nPATH=/usr/bin:/bin\nHOME_OF=\'{tmp_path}\'\necho "{name} $*" >> "$HOME_OF/calls"\n{script}\n'
        )
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(command, "_MORE_PATH", ())
    return Node(tmp_path)


def test_servers_start_with_their_lease_and_stop_again(run_module: Run, node: Node) -> None:
    started = run_module(ibping.main, state="serving", endpoints=ENDPOINTS, lease=61)
    assert (started["changed"], started["units"]) == (True, UNITS)
    assert node.units == UNITS
    first, second = node.calls("systemd-run")
    assert "--property=RuntimeMaxSec=61 " in first
    assert first.endswith("/bin/ibping -S -C mlx5_0 -P 1")
    assert second.endswith("/bin/ibping -S -C mlx5_1 -P 2")

    (node.home / "units" / "ibready-ibping-left-over-9.service").touch()
    stopped = run_module(ibping.main, state="stopped")
    assert stopped["changed"] is True
    assert sorted(stopped["units"]) == sorted([*UNITS, "ibready-ibping-left-over-9.service"])
    assert node.units == []
    again = run_module(ibping.main, state="stopped")
    assert (again["changed"], again["units"]) == (False, [])


def test_starting_one_server_leaves_the_others_running(run_module: Run, node: Node) -> None:
    for unit in UNITS:
        node.has(f"units/{unit}")
    run_module(ibping.main, state="serving", endpoints=ENDPOINTS[:1])
    assert node.units == UNITS
    stops = [call for call in node.calls("systemctl") if call.startswith("stop")]
    assert stops == [f"stop {UNITS[0]}"]


OURS = {"run": "1 2 here", "who": "ops@ctl", "what": "verify.yml"}
THEIRS = {"run": "3 4 there", "who": "eve@other", "what": "site.yml"}


def test_a_second_run_neither_starts_servers_nor_stops_those_of_the_first(
    run_module: Run, node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lease, "PINGS", str(tmp_path / "lease/pings.json"))
    run_module(ibping.main, state="serving", endpoints=ENDPOINTS, **THEIRS)
    before = node.calls("systemctl")
    reported = run_module(ibping.main, state="serving", endpoints=ENDPOINTS, **OURS)
    assert reported["failed"]
    assert "another run is at work here: site.yml by eve@other since 2" in reported["msg"]
    assert reported["holder"]["run"] == THEIRS["run"]
    for run in (OURS, {}):
        left = run_module(ibping.main, state="stopped", **run)
        assert (left["changed"], left["units"], node.units) == (False, [], UNITS)
    stops = [one for one in node.calls("systemctl")[len(before) :] if one.startswith("stop")]
    assert stops == []
    assert len(node.calls("systemd-run")) == len(UNITS)
    # Its process has ended: the servers that it left are replaced.
    over = {**OURS, "over": THEIRS["run"]}
    assert run_module(ibping.main, state="serving", endpoints=ENDPOINTS, **over)["changed"]
    assert run_module(ibping.main, state="stopped", **THEIRS)["units"] == []
    assert run_module(ibping.main, state="stopped", **OURS)["units"] == UNITS
    assert run_module(ibping.main, state="serving", endpoints=ENDPOINTS, **THEIRS)["changed"]


def test_each_question_gets_its_own_answer_in_order(run_module: Run, node: Node) -> None:
    result = run_module(ibping.main, state="asked", questions=QUESTIONS, count=9, timeout_ms=150, deadline=5)
    assert result["changed"] is False
    good, bad = result["answers"]
    assert good == {
        "rail": "mlx5_0/1",
        "server": "n2",
        "untested": "",
        "sent": 9,
        "received": 9,
        "rtt_avg": 0.02,
        "rtt_max": 0.09,
    }
    assert (bad["rail"], bad["server"]) == ("mlx5_1/2", "n2")
    assert "can't open UMAD port" in bad["untested"]
    assert "sent" not in bad
    assert node.calls("ibping") == ["-C mlx5_0 -P 1 -c 9 -f -t 150 -L 7", "-C mlx5_1 -P 2 -c 9 -f -t 150 -L 8"]


def test_the_deadline_ends_a_slow_question_and_what_it_printed_counts(run_module: Run, node: Node) -> None:
    node.has("slow")
    # Whoever runs the tests in the background has it ignored, and then no script can catch it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = run_module(ibping.main, state="asked", questions=QUESTIONS[:1], deadline=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert result["answers"][0]["received"] == 50


def test_an_answer_of_another_host_is_none(run_module: Run, node: Node) -> None:
    stranger = {**QUESTIONS[0], "hostname": "n3"}
    result = run_module(ibping.main, state="asked", questions=[stranger])
    assert "answered by n2" in result["answers"][0]["untested"]


@pytest.mark.parametrize(
    ("args", "result"),
    [
        pytest.param({"state": "serving", "endpoints": ENDPOINTS}, {"changed": True, "units": UNITS}, id="serving"),
        pytest.param({"state": "stopped"}, {"changed": True, "units": [UNITS[0]]}, id="stopped"),
        pytest.param({"state": "asked", "questions": QUESTIONS}, {"changed": False, "answers": []}, id="asked"),
    ],
)
def test_check_mode_tells_and_touches_nothing(
    run_module: Run, node: Node, args: dict[str, Any], result: dict[str, Any]
) -> None:
    node.has(f"units/{UNITS[0]}")
    reported = run_module(ibping.main, check=True, **args)
    assert {key: reported[key] for key in result} == result
    assert node.units == [UNITS[0]]
    assert node.calls("systemd-run") == node.calls("ibping") == []
    assert not [call for call in node.calls("systemctl") if not call.startswith("list-units")]


BAD_INPUT = [
    pytest.param({"state": "running"}, "must be one of: serving, stopped, asked", id="no state"),
    pytest.param(
        {"state": "serving", "endpoints": [*ENDPOINTS, {"device": "mlx5_0; reboot"}]},
        "'mlx5_0; reboot' is not an RDMA device name; nothing was started",
        id="shell text as a device",
    ),
    pytest.param({"state": "serving", "endpoints": [{"port": 1}]}, "device", id="an endpoint of no device"),
    pytest.param(
        {"state": "asked", "questions": [{**QUESTIONS[0], "port": 255}]},
        "port 255 of mlx5_0 is not between 1 and 254",
        id="a port that no HCA has",
    ),
    pytest.param(
        {"state": "asked", "questions": [*QUESTIONS, {"device": "mlx5_0", "lid": 0}]},
        "LID 0 is not a unicast LID",
        id="LID zero",
    ),
    pytest.param(
        {"state": "stopped", "questions": [{"device": "mlx5_0", "lid": 0xC000}]},
        "LID 49152 is not a unicast LID",
        id="a question is read whatever the state",
    ),
    *(
        pytest.param({"state": "stopped", name: 0}, f"{name} must be at least 1, not 0", id=name)
        for name in ("lease", "count", "timeout_ms", "deadline", "at_once")
    ),
]


@pytest.mark.parametrize("check", [False, True], ids=["for real", "in check mode"])
@pytest.mark.parametrize(("args", "said"), BAD_INPUT)
def test_bad_input_is_refused_before_anything_runs(
    run_module: Run, node: Node, args: dict[str, Any], said: str, check: bool
) -> None:
    result = run_module(ibping.main, check=check, **args)
    assert result["failed"] is True
    assert said in result["msg"]
    assert "Traceback" not in str(result)
    assert not (node.home / "calls").exists()


@pytest.mark.parametrize(
    ("program", "args"),
    [
        pytest.param("ibping", {"state": "serving", "endpoints": ENDPOINTS}, id="to serve"),
        pytest.param("ibping", {"state": "asked", "questions": QUESTIONS}, id="to ask"),
        pytest.param("systemctl", {"state": "stopped"}, id="to stop"),
    ],
)
def test_a_missing_program_is_named(run_module: Run, node: Node, program: str, args: dict[str, Any]) -> None:
    (node.programs / program).unlink()
    result = run_module(ibping.main, **args)
    assert result["failed"] is True
    assert result["msg"] == f"ibping: {program}: not installed (no such program in PATH)"


@pytest.mark.parametrize(
    ("mark", "args", "said"),
    [
        pytest.param(
            "no-bus",
            {"state": "serving", "endpoints": ENDPOINTS},
            f"{UNITS[0]} not started: Failed to connect to bus; next: `systemctl status",
            id="a server cannot be started",
        ),
        pytest.param(
            "stuck",
            {"state": "stopped"},
            f"{UNITS[1]} still runs after `systemctl stop`",
            id="a server cannot be stopped",
        ),
    ],
)
def test_a_systemd_that_refuses_fails_the_module(
    run_module: Run, node: Node, mark: str, args: dict[str, Any], said: str
) -> None:
    node.has(mark)
    if mark == "stuck":
        node.has(f"units/{UNITS[1]}")
    result = run_module(ibping.main, **args)
    assert result["failed"] is True
    assert said in result["msg"]


def test_ports_ask_at_once_and_each_its_own_questions_in_turn(run_module: Run, node: Node) -> None:
    questions = [
        {"device": f"mlx5_{number % 2}", "lid": 20 + number, "rail": "", "server": f"n{number}"} for number in range(6)
    ]
    result = run_module(ibping.main, state="asked", questions=questions, count=9, at_once=2)
    assert [one["server"] for one in result["answers"]] == [f"n{number}" for number in range(6)]
    assert {one["received"] for one in result["answers"]} == {9}
    asked = [(call.split()[1], int(call.split()[-1])) for call in node.calls("ibping")]
    for device, lids in {"mlx5_0": [20, 22, 24], "mlx5_1": [21, 23, 25]}.items():
        assert [lid for name, lid in asked if name == device] == lids


def test_two_ports_really_ask_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=30)
    questions = _ibping.parse_questions([{**QUESTIONS[0], "port": 1}, {**QUESTIONS[1], "port": 2}])

    def ask(one: _ibping.Question) -> dict[str, Any]:
        both.wait()
        return {"lid": one.lid}

    assert _ibping.ask_all(ask, questions, 2) == [{"lid": 7}, {"lid": 8}]


def test_a_question_that_never_ends_leaves_the_others_their_answers() -> None:
    def run(argv: list[str], timeout: float, interrupt: float | None = None) -> command.Output:
        raise command.Unavailable("ibping", "gave no complete answer within 20 s")

    (question, _) = _ibping.parse_questions([{**one, "port": 1} for one in QUESTIONS])
    answer = _ibping.ask(run, "ibping", question, 50, 200, 15.0)
    assert answer["untested"] == "ibping from mlx5_0: gave no complete answer within 20 s"
