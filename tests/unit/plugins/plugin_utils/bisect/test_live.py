# SPDX-License-Identifier: GPL-3.0-or-later
"""A search between live hosts: what is asked round by round, what answers count for, and what is said in the end."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect import live, seen, told, verdict
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.shapes import Flow
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench.plan import Member
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench.reported import Reported
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Rail

WISH = live.Desired(forks=8, joined=True)
USUAL = 0.95


def host(number: int, rails: int = 4) -> Reported:
    names = [f"mlx5_{rail}/1" for rail in range(rails)]
    return Reported(
        f"node{number}",
        Member(f"192.0.2.{number}", {name: Rail(name, name[:-2], 1, 0) for name in names}),
        rates=dict.fromkeys(names, 400.0),
    )


HOSTS = [host(number) for number in range(1, 9)]


def answered(hosts: list[Reported], made: dict[str, Any], slow: dict[str, float], lost: str = "") -> list[Reported]:
    """What perftest would answer: ``slow`` by port, ``node3 mlx5_1/1``; flows of the host ``lost`` are not measured."""
    rng = random.Random(made["number"])
    more: dict[str, list[dict[str, Any]]] = {}
    for wave in made["waves"]:
        for name, questions in wave.items():
            for question in questions:
                served = made["serve"][question["server"]]
                far = next(end for end in served if end["tcp_port"] == question["tcp_port"])
                ends = (f"{name} {question['device']}/1", f"{question['server']} {far['device']}/1")
                share = min(slow.get(end, 1.0) for end in ends)
                answer: dict[str, Any] = {"test": "write_bw", "server": question["server"], "rail": question["rail"]}
                if lost in (question["server"], name):
                    answer.update(untested="ib_write_bw: Couldn't connect to 192.0.2.1:18515", at="client")
                else:
                    answer.update(untested="", at="client", gbps=400 * USUAL * share * rng.gauss(1, 0.03))
                more.setdefault(name, []).append(answer)
    return [replace(one, answers=[*one.answers, *more.get(one.name, [])]) for one in hosts]


def searched(
    hosts: list[Reported], slow: dict[str, float], wish: live.Desired = WISH, lost: str = ""
) -> tuple[live.Search, list[Reported], int]:
    rounds = 0
    while True:
        found = live.search(hosts, live.Fabrics(), wish)
        made = live.plan(found, hosts, wish)
        if not made["waves"]:
            return found, hosts, rounds
        rounds += 1
        hosts = answered(hosts, made, slow, lost)


def test_a_slow_port_is_convicted_by_asking_round_after_round() -> None:
    found, _hosts, rounds = searched(HOSTS, {"node3 mlx5_1/1": 0.5})
    outcome = verdict.judge(found.engine)
    assert rounds <= found.engine.limit
    assert [one.part for one in outcome.verdicts if one.verdict == verdict.CONVICTED] == ["node3 mlx5_1/1"]
    wrong = told.bad(found, outcome, HOSTS)
    assert "convicted: port node3 mlx5_1/1" in wrong["node3"]
    text = told.render(found, outcome, HOSTS, "")
    assert "convicted: port node3 mlx5_1/1" in text
    assert "slow   round" in text
    assert "no fabric was seen" in text


def test_nothing_is_convicted_where_nothing_is_slow() -> None:
    found, _hosts, _rounds = searched(HOSTS, {})
    outcome = verdict.judge(found.engine)
    assert told.bad(found, outcome, HOSTS) == {}
    assert "No host and no port is slow." in told.render(found, outcome, HOSTS, "")


def test_a_port_is_in_one_flow_of_a_round_and_no_two_servers_meet() -> None:
    made = live.plan(live.search(HOSTS, live.Fabrics(), WISH), HOSTS, WISH)
    used: list[tuple[str, str]] = []
    for wave in made["waves"]:
        assert len([question for mine in wave.values() for question in mine]) <= made["at_once"]
        used += [(name, question["device"]) for name, mine in wave.items() for question in mine]
    used += [(name, end["device"]) for name, ends in made["serve"].items() for end in ends]
    assert len(used) == len(set(used))
    for ends in made["serve"].values():
        assert len({end["tcp_port"] for end in ends}) == len(ends)
    assert re.fullmatch(r"1:\d+:\d+:[0-9a-f]{8}", next(iter(made["waves"][0].values()))[0]["rail"])


def test_ports_of_other_names_meet_only_where_the_site_says_so() -> None:
    wish = replace(WISH, joined=False)
    made = live.plan(live.search(HOSTS, live.Fabrics(), wish), HOSTS, wish)
    for wave in made["waves"]:
        for mine in wave.values():
            for question in mine:
                far = next(end for end in made["serve"][question["server"]] if end["tcp_port"] == question["tcp_port"])
                assert far["device"] == question["device"]


def test_the_site_bounds_the_flows_at_once() -> None:
    wish = replace(WISH, flows=1)
    made = live.plan(live.search(HOSTS, live.Fabrics(), wish), HOSTS, wish)
    assert made["at_once"] == 1
    assert len(made["waves"]) == made["flows"] > 4


def bad(found: live.Search, hosts: list[Reported] | None = None) -> dict[str, str]:
    return told.bad(found, verdict.judge(found.engine), hosts or HOSTS)


def words(found: live.Search, hosts: list[Reported] | None = None) -> str:
    return told.render(found, verdict.judge(found.engine), hosts or HOSTS, "")


def test_a_host_that_nobody_could_measure_is_never_passed_over() -> None:
    found, _hosts, _rounds = searched(HOSTS, {}, lost="node5")
    assert set(bad(found)) == {"node5"}
    assert "no flow was measured from or to mlx5_0/1 (ib_write_bw: Couldn't connect" in bad(found)["node5"]
    assert "not measured" in words(found)
    assert " is slow." not in words(found)


@pytest.mark.parametrize("way", ["from", "to"])
def test_a_direction_that_nobody_measured_is_told(way: str) -> None:
    """All that one port sends, or receives, is lost; the other direction is fast."""
    hosts = list(HOSTS)
    while (found := live.search(hosts, live.Fabrics(), WISH)).asked is not None:
        quiet = next(at for at, port in enumerate(found.engine.net.ports) if port.named == "node3 mlx5_2/1")
        place = 0 if way == "from" else 1
        asked = live.plan(found, hosts, WISH)
        kept = answered([replace(one, answers=()) for one in hosts], asked, {})
        more = {
            one.name: [each for each in one.answers if each["rail"].split(":")[1:3][place] != str(quiet)]
            for one in kept
        }
        hosts = [replace(one, answers=[*one.answers, *more[one.name]]) for one in hosts]
    assert set(bad(found)) == {"node3"}
    # It is asked again for what is lost, so that the other direction may have no turn.
    assert f"{way} mlx5_2/1" in bad(found)["node3"] or "from or to mlx5_2/1" in bad(found)["node3"]
    assert "no answer" in bad(found)["node3"]


def test_where_all_flows_are_slow_alike_nothing_passes() -> None:
    found, _hosts, _rounds = searched(HOSTS, {f"{host.name} {rail}": 0.1 for host in HOSTS for rail in host.rates})
    assert set(bad(found)) == {host.name for host in HOSTS}
    assert "slow alike" in words(found)
    assert " is slow." not in words(found)


def test_a_link_that_came_up_badly_is_told_though_it_carries_what_it_runs_at() -> None:
    odd = replace(HOSTS[0], rates={**HOSTS[0].rates, "mlx5_1/1": 100.0})
    found, _hosts, _rounds = searched([odd, *HOSTS[1:]], {"node1 mlx5_1/1": 0.25})
    assert set(bad(found, [odd, *HOSTS[1:]])) == {"node1"}
    assert "runs at 100 Gb/s, and most at 400" in bad(found)["node1"]


def test_a_rate_that_nobody_tells_is_that_of_most_and_no_innocent_is_convicted() -> None:
    odd = replace(HOSTS[2], rates=dict.fromkeys(HOSTS[2].rates))
    found, _hosts, _rounds = searched([*HOSTS[:2], odd, *HOSTS[3:]], {})
    assert bad(found) == {}


def test_more_than_a_port_carries_is_no_measurement() -> None:
    hosts = list(HOSTS)
    while (found := live.search(hosts, live.Fabrics(), WISH)).asked is not None:
        hosts = answered(hosts, live.plan(found, hosts, WISH), {})
        lies = [{**each, "gbps": 1e6} for each in hosts[0].answers]
        hosts = [replace(hosts[0], answers=lies), *hosts[1:]]
    outcome = verdict.judge(found.engine)
    assert not [one for one in outcome.verdicts if one.verdict == verdict.CONVICTED]
    assert set(bad(found)) == {"node1"}
    assert "more than its ports carry" in bad(found)["node1"]


def test_a_search_that_was_cut_off_passes_nothing() -> None:
    made = live.plan(live.search(HOSTS, live.Fabrics(), WISH), HOSTS, WISH)
    found = live.search(answered(HOSTS, made, {}), live.Fabrics(), WISH)
    assert set(bad(found)) == {host.name for host in HOSTS}
    assert "before it was done" in words(found)
    assert " is slow." not in words(found)


def test_networks_that_are_not_joined_convict_nobody() -> None:
    """Half of the hosts number their rails otherwise: what crosses does not get through."""
    hosts = [host(number, 1) for number in range(1, 9)]
    while (found := live.search(hosts, live.Fabrics(), WISH)).asked is not None:
        ports = found.engine.net.ports
        more: dict[str, list[dict[str, Any]]] = {}
        for flow in found.asked.flows:
            source, target = ports[flow.source], ports[flow.target]
            crosses = (int(source.host[4:]) <= 4) != (int(target.host[4:]) <= 4)
            answer = {"test": "write_bw", "server": target.host, "at": "client", "untested": "x" if crosses else ""}
            answer |= {"lost": crosses, "gbps": None if crosses else 390.0}
            more.setdefault(source.host, []).append(
                {**answer, "rail": live.label(found.asked.number, flow, found.engine.net)}
            )
        hosts = [replace(one, answers=[*one.answers, *more.get(one.name, [])]) for one in hosts]
    outcome = verdict.judge(found.engine)
    assert not [one for one in outcome.verdicts if one.verdict == verdict.CONVICTED]
    assert any("may not be of one network" in one.why for one in outcome.verdicts)
    assert bad(found, hosts)


def test_a_question_whose_server_is_not_there_is_left_out() -> None:
    questions = [{"server": "node2", "tcp_port": port} for port in (18515, 18516)] + [
        {"server": "node3", "tcp_port": 1}
    ]
    serving = {"node2": {"failed_ends": {"18516": "no such device"}}, "node3": {"failed": True, "msg": "no systemd"}}
    assert live.asks(questions, serving) == [questions[0]]
    assert live.asks(questions, {}) == []


def test_what_a_host_says_is_printed_plain() -> None:
    odd = Reported("node1", Member(""), absent="\x1b[2J gone")
    found = live.search(HOSTS, live.Fabrics(), WISH)
    assert "\x1b" not in bad(found, [odd])["node1"]


def test_a_rail_that_is_down_and_a_host_that_fell_out_are_told() -> None:
    down = replace(HOSTS[0], rates={**HOSTS[0].rates, "mlx5_9/1": 400.0}, down={"mlx5_9/1": "the port is Down"})
    failed = replace(HOSTS[1], answers=(), error="Measure: no perftest")
    absent = Reported("node99", Member(""), absent="it does not answer")
    found, _hosts, _rounds = searched(HOSTS, {})
    wrong = told.bad(found, verdict.judge(found.engine), [down, failed, absent, *HOSTS[2:]])
    assert wrong == {
        "node1": "cannot tell: no flow was measured from or to mlx5_9/1 (the port is Down)",
        "node2": "cannot tell: it took no further part: Measure: no perftest",
        "node99": "it does not answer",
    }
    assert "cannot tell: node1: no flow was measured from or to mlx5_9/1 (the port is Down)" in told.render(
        found, verdict.judge(found.engine), [down, *HOSTS[1:]], ""
    )


def test_only_the_door_of_the_guilty_is_named() -> None:
    found, _hosts, _rounds = searched(HOSTS, {"node3 mlx5_1/1": 0.5})
    assert set(told.bad(found, verdict.judge(found.engine), HOSTS)) == {"node3"}


def test_answers_of_other_numbers_count_for_nothing() -> None:
    """A host that is lost to the search takes its ports with it: what was measured before is of other numbers."""
    _found, hosts, _rounds = searched(HOSTS, {"node3 mlx5_1/1": 0.5})
    found = live.search(hosts[1:], live.Fabrics(), WISH)
    assert not found.engine.record.seen
    assert found.asked is not None


def test_where_nothing_was_measured_nothing_passes() -> None:
    found = live.search(HOSTS, live.Fabrics(), WISH)
    wrong = bad(found, HOSTS[:2])
    assert set(wrong) == {"node1", "node2"}
    assert all("nothing was measured: no two ports reach each other" in why for why in wrong.values())
    assert " is slow." not in words(found)


@pytest.mark.parametrize(
    ("answer", "gbps"),
    [
        ({"untested": "x", "at": "client", "lost": True}, 0.0),
        ({"untested": "x", "at": "client", "lost": False}, None),
        ({"untested": "x", "at": "server", "lost": True}, None),
        ({"untested": "", "gbps": float("inf")}, None),
        ({"untested": "", "gbps": -1.0}, None),
        ({"untested": "", "gbps": 3.0}, 3.0),
    ],
)
def test_only_data_that_did_not_get_through_counts_as_nothing(answer: Any, gbps: float | None) -> None:
    assert live._gbps(answer) == gbps


def test_a_host_tells_of_its_own_ports_only() -> None:
    lie = {"test": "write_bw", "server": "node1", "rail": "1:0:5", "untested": "", "at": "client", "gbps": 1.0}
    end = live.label(1, Flow(0, 5, 400.0), live.search(HOSTS, live.Fabrics(), WISH).engine.net).rpartition(":")[2]
    odd = [{**lie, "rail": label} for label in (f"1:0:5:{end}", f"999:0:1:{end}", f"1:99999:1:{end}", "x", "1:0")]
    liar = replace(HOSTS[7], answers=odd)
    found = live.search([*HOSTS[:7], liar], live.Fabrics(), WISH)
    assert not found.engine.record.seen


@pytest.mark.parametrize(
    "raw", [{"test": "read_lat"}, {"seconds": 0}, {"tcp_port": "x"}, {"flows": -1}, {"gbps": "fast"}, {"gbps": -3}]
)
def test_what_cannot_be_used_is_refused_by_name(raw: dict[str, Any]) -> None:
    with pytest.raises(seen.BisectError, match="bench_"):
        seen.desired(raw)
