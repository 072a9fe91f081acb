# SPDX-License-Identifier: GPL-3.0-or-later
"""The module rdma_data with stand-ins for systemd, docker and the programs that move data."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between import lease as _lease
from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma import node
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data
from ansible_collections.ibready.cluster.plugins.modules import rdma_data
from tests.unit import rdma_world
from tests.unit.rdma_world import World

pytestmark = pytest.mark.thorough

Run = Callable[..., dict[str, Any]]
# Below those that the kernel gives away; runs of pytest side by side begin apart and step over each other's.
_FIRST, _BEHIND = 21000, 32000
_PORTS = count(_FIRST + os.getpid() * 40 % (_BEHIND - _FIRST))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_module: Run) -> Iterator[World]:
    yield rdma_world.make(tmp_path, monkeypatch)
    run_module(rdma_data.main, state="stopped")


def _free(number: int) -> int:
    """The first of so many ports that nobody has."""
    while True:
        first = _FIRST + (next(_PORTS) - _FIRST) % (_BEHIND - _FIRST)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + number):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
                next(_PORTS)
            return first


def ends(*places: str, tests: tuple[str, ...] = data.TESTS) -> list[dict[str, Any]]:
    wanted = [(where, test) for where in places or (data.HOST,) for test in tests]
    first = _free(len(wanted))
    return [
        {
            "where": where,
            "test": test,
            "device": "rxe0",
            "gid_index": 1,
            "mtu": 1024,
            "tcp_port": first + at,
            "address": "127.0.0.1",
            "soft": True,
            "rail": "rxe0/1",
            "client": "node1",
            "server": "node2",
            "run": "r1",
        }
        for at, (where, test) in enumerate(wanted)
    ]


def serve(run: Run, wanted: list[dict[str, Any]], /, **more: Any) -> dict[str, Any]:
    return run(rdma_data.main, state="serving", ends=wanted, lease=60, **more)


def ask(run: Run, wanted: list[dict[str, Any]], /, **more: Any) -> dict[str, Any]:
    questions = [{**one, "to": "127.0.0.1"} for one in wanted]
    # Both ends are on this host here: the client leaves the servers alone until it is through.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node.Node, "collect", lambda self: [])
        return run(rdma_data.main, state="asked", questions=questions, **more)


def states(answers: list[dict[str, Any]]) -> dict[str, str]:
    return {f"{one['where']} {one['test']}": one["state"] for one in answers}


def test_data_moves_and_nothing_is_left(world: World, run_module: Run) -> None:
    wanted = ends()
    assert serve(run_module, wanted)["gone"] == []
    reported = ask(run_module, wanted)
    assert set(states(reported["answers"]).values()) == {data.MOVED}
    assert [one["test"] for one in reported["answers"]] == list(data.TESTS)
    assert reported["inside"]["host"]["memlock"]
    stopped = run_module(rdma_data.main, state="stopped")
    assert [one["test"] for one in stopped["served"]] == list(data.TESTS)
    assert {one["said"] for one in stopped["served"]} == {""}
    assert {one["run"] for one in stopped["served"]} == {"r1"}
    assert not (world.folder / "run").exists()
    again = run_module(rdma_data.main, state="stopped")
    assert (again["changed"], again["units"], again["served"]) == (False, [], [])


def test_a_second_run_leaves_the_first_ones_servers_and_says_whose_they_are(
    world: World, run_module: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lease, "DATA", str(tmp_path / "lease/data.json"))
    theirs = {"run": "3 4 there", "who": "eve@other", "what": "site.yml"}
    ours = {"run": "1 2 here", "who": "ops@ctl", "what": "verify.yml"}
    wanted = ends()
    assert serve(run_module, wanted, **theirs)["gone"] == []
    started = world.told("started")
    refused = serve(run_module, wanted, **ours)
    asked = run_module(rdma_data.main, state="asked", questions=[{**one, "to": "n2"} for one in wanted], **ours)
    for reported in (*refused["gone"], *asked["answers"]):
        assert reported["state"] == data.UNTESTED
        assert reported["said"].startswith("another run is at work here: site.yml by eve@other since")
    assert len(refused["gone"]) == len(asked["answers"]) == len(wanted)
    assert refused["holder"]["run"] == asked["holder"]["run"] == theirs["run"]
    stopped = run_module(rdma_data.main, state="stopped", **ours)
    assert (stopped["changed"], stopped["served"]) == (False, [])
    assert world.told("started") == started
    # The first run gets its data all the same.
    moved = ask(run_module, wanted, **theirs)
    assert set(states(moved["answers"]).values()) == {data.MOVED}
    assert run_module(rdma_data.main, state="stopped", **theirs)["served"]
    assert "holder" not in serve(run_module, [], **ours)
    run_module(rdma_data.main, state="stopped", **ours)


def test_every_program_has_a_limit_and_its_words(world: World, run_module: Run) -> None:
    wanted = ends()
    serve(run_module, wanted)
    ask(run_module, wanted)
    served, asked = world.told("started").splitlines()
    assert "--unit=ibready-rdma-serve-host.service" in served
    assert "--property=RuntimeMaxSec=75" in served
    assert "--property=RuntimeMaxSec=90" in asked
    assert "--wait --pipe" in asked


def test_in_containers_as_root_and_as_another_user(world: World, run_module: Run) -> None:
    wanted = ends(data.ROOT, data.USER)
    assert serve(run_module, wanted)["gone"] == []
    reported = ask(run_module, wanted)
    assert set(states(reported["answers"]).values()) == {data.MOVED}
    assert set(reported["inside"]) == {"root", "user"}
    stopped = run_module(rdma_data.main, state="stopped")
    assert len(stopped["served"]) == 8
    said = world.told("docker")
    assert "rm --force ibready-rdma-serve-root" in said
    assert "load --input" in said
    assert world.told("images").strip() == ""
    started = world.told("started")
    # What a login has, and not what the engine would not give.
    assert "LimitMEMLOCK=infinity --property=LimitMEMLOCK=" in started
    assert "ExecStopPost=-" in started


def test_what_a_user_of_a_container_may_not_do_is_told(world: World, run_module: Run) -> None:
    world.fault("ibv_rc_pingpong", "user-client", "Couldn't register MR")
    wanted = ends(data.ROOT, data.USER, tests=(data.VERBS,))
    serve(run_module, wanted)
    reported = ask(run_module, wanted)
    assert states(reported["answers"]) == {"root verbs": data.MOVED, "user verbs": data.FAILED}
    assert reported["answers"][1]["kind"] == data.MEMLOCK


def test_a_server_that_is_gone_is_told_before_anybody_asks(world: World, run_module: Run) -> None:
    world.fault("ibv_rc_pingpong", "server", "Couldn't register MR")
    wanted = ends(tests=(data.VERBS, data.LATENCY))
    result = serve(run_module, wanted)
    # Ansible takes whatever is true by that name for a task that failed, and drops the rest.
    assert not result.get("failed")
    (gone,) = result["gone"]
    assert (gone["state"], gone["kind"]) == (data.FAILED, data.MEMLOCK)
    reported = ask(run_module, wanted, gone=[gone])
    assert states(reported["answers"]) == {"host verbs": data.FAILED, "host latency": data.MOVED}
    assert reported["answers"][0]["at"] == "server"


@pytest.mark.parametrize(
    "gone",
    [
        "gone",
        {"tcp_port": 1},
        7,
        [None],
        [[]],
        [{"tcp_port": []}],
        [{"tcp_port": ..., "state": "moved", "kind": "", "said": ""}],
        [{"tcp_port": ..., "state": "failed", "kind": [], "said": ""}],
        [{"tcp_port": ..., "state": "failed"}],
    ],
)
def test_another_host_s_nonsense_stops_nobody_and_proves_nothing(gone: Any, world: World, run_module: Run) -> None:
    world.fault("ibv_rc_pingpong", "client", "Failed status 12")
    wanted = ends(tests=(data.VERBS, data.LATENCY))
    serve(run_module, wanted)
    for one in gone if isinstance(gone, list) else []:
        if isinstance(one, dict) and one["tcp_port"] is ...:
            one["tcp_port"] = wanted[0]["tcp_port"]
    reported = ask(run_module, wanted, gone=gone)
    assert states(reported["answers"]) == {"host verbs": data.FAILED, "host latency": data.MOVED}


def test_both_ends_words_are_kept(world: World, run_module: Run) -> None:
    world.fault("ib_send_lat", "client", "Failed status 12: wr_id 0 syndrom 0x81")
    wanted = ends(tests=(data.LATENCY,))
    serve(run_module, wanted)
    (answer,) = ask(run_module, wanted)["answers"]
    assert (answer["state"], answer["kind"]) == (data.FAILED, data.LOST)
    assert run_module(rdma_data.main, state="stopped")["served"][0]["rc"] is None


def test_a_program_that_hangs_is_ended(world: World, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(data.LIMITS, data.CM, 1)
    world.fault("rping", "client", "hang")
    wanted = ends(tests=(data.CM, data.VERBS))
    serve(run_module, wanted)
    reported = ask(run_module, wanted)
    assert states(reported["answers"]) == {"host cm": data.FAILED, "host verbs": data.MOVED}
    assert reported["answers"][0]["kind"] == data.LOST


def test_where_two_tests_wait_in_vain_the_others_of_the_rail_are_left(
    world: World, run_module: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for test, program in ((data.VERBS, "ibv_rc_pingpong"), (data.LATENCY, "ib_send_lat")):
        monkeypatch.setitem(data.LIMITS, test, 1)
        world.fault(program, "client", "hang")
    wanted = ends()
    other = [{**one, "rail": "rxe1/1"} for one in ends(tests=(data.BANDWIDTH,))]
    serve(run_module, [*wanted, *other])
    reported = ask(run_module, [*wanted, *other])["answers"]
    assert [(one["rail"], one["test"], one["state"]) for one in reported] == [
        ("rxe0/1", data.VERBS, data.FAILED),
        ("rxe0/1", data.LATENCY, data.FAILED),
        ("rxe0/1", data.BANDWIDTH, data.UNTESTED),
        ("rxe0/1", data.CM, data.UNTESTED),
        ("rxe1/1", data.BANDWIDTH, data.MOVED),
    ]
    assert "two tests before it waited in vain" in reported[2]["said"]


def test_a_server_to_which_nobody_came_is_told(world: World, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(data.LIMITS, data.VERBS, 1)
    world.fault("ibv_rc_pingpong", "client", "hang")
    wanted = ends(tests=(data.VERBS, data.LATENCY))
    serve(run_module, wanted)
    assert ask(run_module, wanted)["answers"][0]["kind"] == data.LOST
    served = run_module(rdma_data.main, state="stopped")["served"]
    assert [(one["test"], one["waits"]) for one in served] == [
        (data.VERBS, True),
        (data.LATENCY, False),
    ]


def test_a_missing_program_is_untested_with_its_package(
    world: World, run_module: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = data.Program("rping-that-is-nowhere", "rdmacm-utils", "librdmacm-utils")
    monkeypatch.setitem(data.PROGRAMS, data.CM, nowhere)
    wanted = ends(tests=(data.CM, data.VERBS))
    gone = serve(run_module, wanted)["gone"]
    assert [one["kind"] for one in gone] == ["missing"]
    reported = ask(run_module, wanted, gone=gone)
    assert states(reported["answers"]) == {"host cm": data.UNTESTED, "host verbs": data.MOVED}
    assert "rdmacm-utils" in reported["answers"][0]["said"]


def test_nobody_waits(world: World, run_module: Run) -> None:
    reported = ask(run_module, ends(tests=(data.VERBS,)))
    assert reported["answers"][0]["state"] == data.UNTESTED
    assert reported["answers"][0]["kind"] == data.NO_SERVER


def test_without_an_engine_containers_are_untested(world: World, run_module: Run) -> None:
    world.program("docker", "import sys; sys.exit('no daemon')")
    wanted = ends(data.HOST, data.ROOT, tests=(data.VERBS,))
    (gone,) = serve(run_module, wanted)["gone"]
    assert (gone["where"], gone["state"]) == (data.ROOT, data.UNTESTED)
    assert "no daemon" in gone["said"]


@pytest.mark.parametrize(
    ("bent", "said"),
    [
        ({"device": "rxe0; reboot"}, "not an RDMA device name"),
        ({"port": 0}, "port 0"),
        ({"tcp_port": 80}, "tcp_port 80"),
        ({"gid_index": -7}, "gid_index -7"),
        ({"mtu": 9000}, "no MTU"),
        ({"address": "$(reboot)"}, "no address of a rail"),
        ({"rail": "a\tb"}, "no name"),
    ],
)
def test_foreign_words_get_into_no_command(world: World, run_module: Run, bent: dict[str, Any], said: str) -> None:
    (one,) = ends(tests=(data.VERBS,))
    reported = serve(run_module, [{**one, **bent}])
    assert reported["failed"] is True
    assert said in reported["msg"]
    assert world.told("started") == ""


def test_an_address_that_is_none_gets_into_no_command(world: World, run_module: Run) -> None:
    (one,) = ends(tests=(data.VERBS,))
    reported = run_module(rdma_data.main, state="asked", questions=[{**one, "to": "-R"}])
    assert "no address of a host" in reported["msg"]


def test_check_mode_does_nothing(world: World, run_module: Run) -> None:
    wanted = ends(tests=(data.VERBS,))
    assert run_module(rdma_data.main, check=True, state="serving", ends=wanted)["skipped"]
    assert run_module(rdma_data.main, check=True, state="stopped")["served"] == []
    assert world.told("started") == ""


def test_a_lease_has_bounds(world: World, run_module: Run) -> None:
    reported = run_module(rdma_data.main, state="serving", ends=[], lease=0)
    assert "lease must be from 1" in reported["msg"]
