# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between import ibping
from ansible_collections.ibready.cluster.plugins.module_utils._between.ibping import Endpoint, Question
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._ground.unit import UnitError
from tests.unit.units import is_active

IBPING = "/usr/sbin/ibping"
RAIL = Endpoint("mlx5_0", 1)
UNIT = "ibready-ibping-mlx5_0-1.service"


class Systemd:
    """A stand-in systemd that knows which units exist, and a stand-in ibping."""

    def __init__(self, **bent: Any) -> None:
        self.units: set[str] = set(bent.get("units", ()))
        self.dies = bent.get("dies", 0)  # how many is-active questions a new server fails
        self.stuck = bent.get("stuck", False)
        self.refuses = bent.get("refuses", False)
        self.prints = bent.get("prints", "")
        self.rc = bent.get("rc", 0)
        self.asked: list[tuple[list[str], float, float | None]] = []

    def __call__(self, argv: list[str], timeout: float, interrupt: float | None = None) -> Output:
        self.asked.append((argv, timeout, interrupt))
        if argv[0] == "systemd-run":
            if self.refuses:
                return Output(1, "", "Failed to connect to bus: No such file or directory\n")
            self.units.add(argv[1].split("=", 1)[1])
        elif argv[:2] == ["systemctl", "list-units"]:
            return Output(0, "".join(f"{u} loaded active running x\n" for u in self.units), "")
        elif argv[:2] == ["systemctl", "stop"] and not self.stuck:
            self.units -= set(argv[2:])
        elif argv[:2] == ["systemctl", "is-active"]:
            if self.dies:
                self.dies -= 1
                return is_active(False)
            return is_active(argv[2] in self.units)
        elif argv[0] == "journalctl":
            return Output(0, "ibping: iberror: failed: can't serve class 50\n", "")
        elif argv[0] == IBPING:
            return Output(self.rc, self.prints, "")
        return Output(0, "", "")

    def argv(self, program: str) -> list[str]:
        return next(argv for argv, _, _ in self.asked if argv[0] == program)


def start(systemd: Systemd, lease: int = 60) -> list[str]:
    return ibping.start(systemd, IBPING, [RAIL], lease, sleep=lambda _: None)


def test_a_server_carries_a_lease_and_is_restarted_only_when_it_crashes() -> None:
    systemd = Systemd()
    assert start(systemd) == [UNIT]
    argv = systemd.argv("systemd-run")
    assert "--property=RuntimeMaxSec=60" in argv
    assert "--property=Restart=on-abort" in argv
    assert argv[-6:] == [IBPING, "-S", "-C", "mlx5_0", "-P", "1"]


def test_a_stale_server_is_replaced() -> None:
    systemd = Systemd(units={UNIT})
    start(systemd)
    stopped = [argv for argv, _, _ in systemd.asked if argv[:2] == ["systemctl", "stop"]]
    assert stopped == [["systemctl", "stop", UNIT]]


def test_a_server_that_needs_its_restart_is_waited_for() -> None:
    assert start(Systemd(dies=1)) == [UNIT]


def test_a_server_that_does_not_stay_up_is_an_error_with_its_own_words() -> None:
    with pytest.raises(UnitError, match="can't serve class 50"):
        start(Systemd(dies=9))


def test_no_systemd_is_an_error_that_says_so() -> None:
    with pytest.raises(UnitError, match="Failed to connect to bus"):
        start(Systemd(refuses=True))


def test_stop_leaves_other_units_alone_and_returns_what_it_stopped() -> None:
    systemd = Systemd(units={UNIT})
    assert ibping.stop(systemd, ibping.running(systemd)) == [UNIT]
    assert systemd.units == set()
    assert ibping.stop(systemd, ibping.running(systemd)) == []


def test_a_server_that_survives_stop_is_an_error() -> None:
    with pytest.raises(UnitError, match="still runs"):
        ibping.stop(Systemd(units={UNIT}, stuck=True), [UNIT])


ANSWERED = """
--- n2.(none) (Lid 7) ibping statistics ---
50 packets transmitted, 20 received, 60% packet loss, time 8000 ms
rtt min/avg/max = 0.010/0.020/0.090 ms
"""


def ask(prints: str, rc: int = 0) -> dict[str, Any]:
    question = Question(RAIL, 7, "mlx5_0/1", "n2")
    return ibping.ask(Systemd(prints=prints, rc=rc), IBPING, question, 50, 200, 15.0)


def test_loss_is_data() -> None:
    assert ask(ANSWERED) == {
        "rail": "mlx5_0/1",
        "server": "n2",
        "untested": "",
        "sent": 50,
        "received": 20,
        "rtt_avg": 0.02,
        "rtt_max": 0.09,
    }


def test_no_answer_at_all_has_no_round_trip_time() -> None:
    dead = """
---  (Lid 7) ibping statistics ---
50 packets transmitted, 0 received, 100% packet loss, time 10000 ms
rtt min/avg/max = 0.000/0.000/0.000 ms
"""
    answer = ask(dead)
    assert (answer["sent"], answer["received"]) == (50, 0)
    assert answer["rtt_avg"] is None


@pytest.mark.parametrize(
    ("bent", "why"),
    [
        pytest.param(("(Lid 7)", "(Lid 99)"), "instead of LID 7", id="another LID"),
        pytest.param(("n2.(none)", "n9.(none)"), "answered by n9", id="another host"),
        pytest.param(
            ("50 packets transmitted, 20 received, 60%", "1 packets transmitted, 1 received, 0%"),
            "only 1 of 50",
            id="too few to tell",
        ),
    ],
)
def test_an_answer_to_another_question_is_untested(bent: tuple[str, str], why: str) -> None:
    question = Question(RAIL, 7, "mlx5_0/1", "n2", "n2.cluster.example")
    systemd = Systemd(prints=ANSWERED.replace(*bent))
    answer = ibping.ask(systemd, IBPING, question, 50, 200, 15.0)
    assert why in answer["untested"]
    assert "sent" not in answer


def test_statistics_with_an_error_status_are_untested() -> None:
    answer = ask(ANSWERED, rc=255)
    assert "status 255" in answer["untested"]


@pytest.mark.parametrize("prints", ["", "ibping: iberror: failed: Failed to open port\n"])
def test_output_without_statistics_is_untested_never_no_loss(prints: str) -> None:
    answer = ask(prints)
    assert answer["untested"]
    assert "received" not in answer


def test_the_deadline_interrupts_so_that_ibping_prints_what_it_has() -> None:
    systemd = Systemd(prints=ANSWERED)
    ibping.ask(systemd, IBPING, Question(RAIL, 7, "r", "s"), 50, 200, 15.0)
    argv, timeout, interrupt = systemd.asked[-1]
    assert interrupt == 15.0
    assert timeout > interrupt
    assert argv[-2:] == ["-L", "7"]


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        pytest.param({"device": "a;b", "port": 1}, "not an RDMA device", id="shell text"),
        pytest.param({"device": "../x", "port": 1}, "not an RDMA device", id="a path"),
        pytest.param({"device": "mlx5_0\n", "port": 1}, "not an RDMA device", id="a line end"),
        pytest.param({"device": "mlx5_0", "port": 0}, "not between 1 and 254", id="port zero"),
    ],
)
def test_what_is_no_port_is_refused(raw: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ibping.endpoint(raw)


@pytest.mark.parametrize("lid", [0, -1, 0xC000, 0xFFFF])
def test_what_is_no_unicast_lid_is_refused(lid: int) -> None:
    raw = [{"device": "mlx5_0", "port": 1, "lid": lid, "rail": "", "server": ""}]
    with pytest.raises(ValueError, match="not a unicast LID"):
        ibping.parse_questions(raw)
