# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp.tried import Try
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.tcp import told
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.tcp_plan import row, tries
from tests.unit.tcp_told import RENDEZVOUS, SAMPLE, answer, listening, tcp

BUSY = listening(ports=[], held=[{"port": RENDEZVOUS, "by": "torchrun[4]"}])


def made(n1: dict[str, Any], n2: dict[str, Any]) -> list[Try]:
    return tries({"n1": told("n1", n1), "n2": told("n2", n2)})


def asked(outcome: str, **bent: Any) -> dict[str, Any]:
    """n1 when its question to the rendezvous port of n2 had another outcome."""
    others = [answer("n2", port) for port in SAMPLE]
    return tcp(ibready_tcp_asked={"answers": [answer("n2", RENDEZVOUS, outcome, **bent), *others]})


def rendezvous(found: list[Try], client: str = "n1") -> Try:
    (one,) = [one for one in found if one.client == client and one.port == RENDEZVOUS]
    return one


def test_every_planned_port_is_there_once_with_its_answer() -> None:
    found = made(tcp("n2"), tcp("n1"))
    assert [(one.client, one.server, one.port, one.sample) for one in found] == [
        (client, server, port, port in SAMPLE)
        for client, server in (("n1", "n2"), ("n2", "n1"))
        for port in (RENDEZVOUS, *SAMPLE)
    ]
    assert {(one.outcome, one.ms, one.untested) for one in found} == {("answered", 0.25, "")}


def test_a_failure_is_one_where_the_listener_was_there_until_it_was_stopped() -> None:
    one = rendezvous(made(asked("dropped"), tcp("n1")))
    assert (one.outcome, one.untested) == ("dropped", "")


@pytest.mark.parametrize(
    ("stopped", "why"),
    [
        pytest.param({"was_there": False}, "its listener ended before", id="it had ended"),
        pytest.param({"unreachable": True, "msg": "timed out"}, "timed out", id="unreachable"),
        pytest.param({}, "not stopped", id="nobody looked"),
    ],
)
def test_without_a_listener_a_failure_says_nothing_of_the_network(stopped: dict[str, Any], why: str) -> None:
    one = rendezvous(made(asked("refused"), tcp("n1", ibready_tcp_stopped=stopped)))
    assert (one.outcome, one.culprit) == ("", "n2")
    assert why in one.untested
    # What was answered was answered, whatever became of the listener.
    assert rendezvous(made(asked("answered"), tcp("n1", ibready_tcp_stopped=stopped))).outcome


@pytest.mark.parametrize(
    ("n1", "culprit", "why"),
    [
        pytest.param(asked("unable", said="too many open files"), "n1", "too many open files", id="unable"),
        pytest.param(asked("maybe"), "n1", "returned 'maybe'", id="no word of ours"),
        pytest.param(asked("connected"), "n1", "returned 'connected'", id="nobody proved itself"),
        pytest.param(
            tcp(ibready_tcp_asked={"failed": True, "msg": "no threads"}),
            "n1",
            "no threads",
            id="the module failed",
        ),
        pytest.param(
            tcp(ibready_tcp_asked={}, ibready_tcp_error="Ask a few others: boom"),
            "n1",
            "boom",
            id="the task failed",
        ),
        pytest.param(tcp(), "n1", "was not asked", id="no answer for this port"),
    ],
)
def test_a_client_that_did_not_look_is_named(n1: dict[str, Any], culprit: str, why: str) -> None:
    one = rendezvous(made(n1, tcp("n1")))
    assert (one.outcome, one.culprit) == ("", culprit)
    assert why in one.untested


def test_a_port_that_another_program_has_is_proved_by_a_connection() -> None:
    one = rendezvous(made(asked("connected"), tcp("n1", ibready_tcp_listening=BUSY)))
    assert (one.outcome, one.untested) == ("connected", "")


@pytest.mark.parametrize("outcome", ["refused", "dropped"])
def test_a_program_that_cannot_be_reached_says_nothing_of_the_network(outcome: str) -> None:
    one = rendezvous(made(asked(outcome), tcp("n1", ibready_tcp_listening=BUSY)))
    assert (one.outcome, one.culprit) == ("", "n2")
    assert "port 29500 is in use by torchrun[4]" in one.untested


def test_a_range_without_a_free_port_is_untested_by_its_own_host() -> None:
    span = {"low": 1, "high": 2, "ports": [], "why": "only 0 free ports were found in 1 to 2"}
    found = made(tcp("n2"), tcp("n1", ibready_tcp_listening=listening(range=span)))
    (one,) = [one for one in found if one.server == "n2" and one.sample]
    assert (one.culprit, one.untested) == ("n2", "only 0 free ports were found in 1 to 2")


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        pytest.param({}, "no other host took part", id="never asked"),
        pytest.param(
            {"ibready_tcp_listening": {"failed": True, "msg": "port 80: permission denied"}},
            "permission denied",
            id="it cannot listen",
        ),
        pytest.param(tcp(ibready_tcp_listening=listening(range=None)), "cannot be read", id="junk"),
        pytest.param(tcp(ibready_tcp_listening=listening(ports=5)), "cannot be read", id="number"),
    ],
)
def test_a_host_without_a_listener_says_why_and_is_in_no_pair(seen: dict[str, Any], why: str) -> None:
    assert why in told("n1", seen).host.error
    assert made(seen, tcp("n1")) == []


@pytest.mark.parametrize("value", [False, "false", "no", 0])
def test_the_switch_leaves_a_host_out_however_it_is_written(value: Any) -> None:
    assert "ibready_tcp is false" in told("n1", tcp(ibready_tcp=value)).host.off


@pytest.mark.parametrize("ports", [[1, 2], ["1", "2"], "1,2"])
def test_ports_are_read_however_they_are_written(ports: Any) -> None:
    assert told("n1", tcp(ibready_tcp_ports=ports)).host.ports == (1, 2)


def test_a_connection_in_the_report_is_plain() -> None:
    assert row(Try("n1", "n2", 29500, outcome="answered", ms=0.2)) == {
        "client": "n1",
        "server": "n2",
        "port": 29500,
        "sample": False,
        "outcome": "answered",
        "ms": 0.2,
        "said": "",
        "untested": "",
        "culprit": "",
    }
