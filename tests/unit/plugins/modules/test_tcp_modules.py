# SPDX-License-Identifier: GPL-3.0-or-later
"""Both modules, one against the other, over real sockets of the loopback address."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import tcp_listen, tcp_reach

Run = Callable[..., dict[str, Any]]

TOKEN = "0123456789abcdef0123456789abcdef"
LISTEN = {"state": "listening", "name": "n1", "token": TOKEN, "address": "127.0.0.1", "range_ports": 0, "lease": 20}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as line:
        return int(line.getsockname()[1])


@pytest.fixture
def listening(run_module: Run) -> Iterator[dict[str, Any]]:
    reported = run_module(tcp_listen.main, **LISTEN, ports=[free_port()])
    yield reported
    run_module(tcp_listen.main, state="stopped", id=reported["id"])


def reach(run_module: Run, port: int, **bent: Any) -> dict[str, Any]:
    peers = [{"name": "n1", "address": "127.0.0.1", "ports": [port]}]
    reported = run_module(tcp_reach.main, **{"peers": peers, "token": TOKEN, **bent})
    (answer,) = reported["answers"]
    result: dict[str, Any] = answer
    return result


def test_a_listener_is_reached_until_it_is_stopped(run_module: Run) -> None:
    port = free_port()
    reported = run_module(tcp_listen.main, **LISTEN, ports=[port])
    assert (reported["changed"], reported["ports"], reported["address"]) == (True, [port], "127.0.0.1")
    assert reported["range"] == {"low": 0, "high": 0, "ports": [], "why": ""}
    answer = reach(run_module, port)
    assert (answer["server"], answer["port"], answer["outcome"]) == ("n1", port, "answered")
    stopped = run_module(tcp_listen.main, state="stopped", id=reported["id"])
    assert (stopped["changed"], stopped["was_there"]) == (True, True)
    assert reach(run_module, port)["outcome"] == "refused"
    again = run_module(tcp_listen.main, state="stopped", id=reported["id"])
    assert (again["changed"], again["was_there"]) == (False, False)


def test_a_listener_of_another_run_is_not_taken_for_it(run_module: Run, listening: dict[str, Any]) -> None:
    answer = reach(run_module, listening["ports"][0], token="f" * 32)
    assert (answer["outcome"], answer["said"]) == ("other", "127.0.0.1: something else answered")


def test_the_token_is_shown_nowhere(run_module: Run, listening: dict[str, Any]) -> None:
    assert TOKEN not in str(listening)


def test_check_mode_opens_nothing_and_stops_nothing(run_module: Run, listening: dict[str, Any]) -> None:
    port = free_port()
    reported = run_module(tcp_listen.main, check=True, **LISTEN, ports=[port])
    assert reported["changed"]
    assert reach(run_module, port)["outcome"] == "refused"
    run_module(tcp_listen.main, check=True, state="stopped", id=listening["id"])
    assert reach(run_module, listening["ports"][0])["outcome"] == "answered"
    peers = [{"name": "n1", "address": "127.0.0.1", "ports": [port]}]
    assert run_module(tcp_reach.main, check=True, peers=peers)["answers"] == []


@pytest.mark.parametrize(
    ("bent", "why"),
    [
        pytest.param({"ports": [0]}, "port 0 is not between 1 and 65535", id="no port"),
        pytest.param({"lease": 0}, "lease must be from 1 to 21600", id="no lease"),
        pytest.param({"lease": 99999}, "lease must be from 1 to 21600", id="a lease for ever"),
        pytest.param({"range_ports": 1000}, "range_ports must be", id="too many ports"),
        pytest.param({"name": ""}, "name must have", id="no name"),
        pytest.param({"token": "short"}, "token must have at least 16", id="a short token"),
        pytest.param({"state": "stopped", "id": "1"}, "is not the id of a listener", id="no id"),
    ],
)
def test_nothing_is_started_where_an_option_is_wrong(run_module: Run, bent: dict[str, Any], why: str) -> None:
    reported = run_module(tcp_listen.main, **{**LISTEN, **bent})
    assert reported["failed"]
    assert why in reported["msg"]
    assert "nothing was started or stopped" in reported["msg"]


@pytest.mark.parametrize(
    ("bent", "why"),
    [
        pytest.param({"timeout": 0}, "timeout must be above 0", id="no time"),
        pytest.param({"peers": [{"name": "n", "address": "", "ports": [1]}]}, "no address", id="nowhere"),
        pytest.param({"peers": [{"name": "n", "address": "a", "held": [70000]}]}, "port 70000 of n", id="no port"),
        pytest.param(
            {"peers": [{"name": "n", "address": "a", "ports": [1] * 600}]}, "more than 512 ports", id="too many"
        ),
    ],
)
def test_nothing_is_asked_where_an_option_is_wrong(run_module: Run, bent: dict[str, Any], why: str) -> None:
    reported = run_module(tcp_reach.main, **{"peers": [], **bent})
    assert reported["failed"]
    assert why in reported["msg"]
