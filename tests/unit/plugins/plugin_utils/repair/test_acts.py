# SPDX-License-Identifier: GPL-3.0-or-later
"""What a diagnosis of simulated hosts says can be done, and what is told of it."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import acts, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Fix
from ansible_collections.ibready.cluster.plugins.plugin_utils._repair import place, plan, told
from tests.unit import fleets

KINDS = table.acts()


def found(fault: str) -> list[dict[str, Any]]:
    """The causes of a fleet of which a node has this fault of the gauntlet's."""
    odd = fleets.host(fleets.ODD, *fleets.broken(fleets.named(fault)))
    report = fleets.report([*fleets.equals(fleets.named(fault).board), odd])
    return [cause.to_dict() for cause in diagnose(report).causes]


def test_whatever_mends_a_cause_is_of_a_known_kind() -> None:
    for row in table.rows():
        assert (row.fix.act in KINDS) == row.fix.mends, row.id


def test_what_disrupts_jobs_says_so() -> None:
    """By the words of the commands themselves: a reset, a restart or a link taken down needs a drained host."""
    for row in table.rows():
        line = shlex.join(row.fix.words)
        if row.fix.mends and any(
            word in line for word in ("reset", "restart", "--port_state", "-mig", "mtu", "delete")
        ):
            assert KINDS[row.fix.act].drains, row.id


@pytest.mark.parametrize(
    ("fault", "cause", "kind", "words"),
    [
        ("the CPUs save power", "host.governor", "converge", ""),
        (
            "persistence mode was never switched on",
            "gpu.persistence",
            "value",
            "nvidia-smi -pm 1",
        ),
    ],
)
def test_an_act_is_the_command_of_its_cause(fault: str, cause: str, kind: str, words: str) -> None:
    mine = next(entry for entry in found(fault) if entry["id"] == cause)
    assert {(act["host"], act["kind"], shlex.join(act["words"])) for act in mine["acts"]} == {("node7", kind, words)}
    assert not words or words in mine["command"]


def test_consents_are_told_from_choices() -> None:
    finding = Finding("n1", Check(id="a", subject="host", result="fail", severity="error"))
    play = ("site.yml", "-e", "ibready_reboot_ok=true", "-e", "rdma_port_type=infiniband")
    (act,) = acts.of(Fix(play=play, act="converge"), [finding], {"n1": None})  # type: ignore[dict-item]
    assert (act.consents, act.choices) == (("ibready_reboot_ok",), ("rdma_port_type=infiniband",))
    assert acts.of(Fix(words=("ls",), mends=False), [finding], {"n1": None}) == []  # type: ignore[dict-item]


def port(guid: str, number: int = 1, **more: Any) -> dict[str, Any]:
    told = {"num": number, "port_guid": guid, "link_layer": "InfiniBand", "physical_state": "LinkUp"}
    return {**told, **more}


def ib(*ports: dict[str, Any], **managers: str) -> dict[str, Any]:
    """What a host tells of its HCA mlx5_0; of port N the manager that answers it (``p1="0xaa"``)."""
    answers = {f"mlx5_0/{name[1:]}": {"sm": {"guid": guid}} for name, guid in managers.items()}
    return {"facts": {"ib": {"cas": [{"name": "mlx5_0", "ports": list(ports)}], "sm": answers}}}


def test_the_place_of_a_host_is_its_leaves_and_cables() -> None:
    nodes = [
        {"guid": "0x1", "host": "n1", "hca": "mlx5_0", "leaf": "0x9", "name": "n1 mlx5_0"},
        {"guid": "0x9", "host": "", "hca": "", "leaf": "", "name": "leaf1"},
    ]
    links = [{"a": "0x9", "a_port": 7, "b": "0x1", "b_port": 1}]
    report = {
        "hosts": {"n1": ib(port("0x1"), p1="0x5"), "n2": {"facts": {}}},
        "fabric": {"fabrics": [{"nodes": nodes, "links": links}]},
    }
    assert place.of(report) == {
        "n1": {"leaves": ["0x9"], "manager": False, "cables": {"mlx5_0": ["leaf1 port 7"]}},
    }


@pytest.mark.parametrize(
    ("host", "manager"),
    [
        pytest.param(ib(port("0xAA"), p1="0xaa"), True, id="its own"),
        pytest.param(ib(port("0xbb"), p1="0xbb"), True, id="its own, told by itself alone"),
        pytest.param(ib(port("0xAA")), True, id="others know it"),
        pytest.param(ib(port("0x1"), p1="0xaa"), False, id="another's"),
        pytest.param(ib(port("0x1")), None, id="no answer"),
        pytest.param(ib(port("0x1"), port("0x2", 2), p1="0xaa"), None, id="no answer in its second fabric"),
        pytest.param(ib(port("0x1"), port("0x2", 2, physical_state="Polling"), p1="0xaa"), False, id="no link"),
        pytest.param(ib(port("0x1", link_layer="Ethernet")), False, id="RoCE"),
        pytest.param(ib(), False, id="no port at all"),
    ],
)
def test_the_subnet_manager_is_on_a_host_or_not_or_nobody_knows(host: dict[str, Any], manager: bool | None) -> None:
    report = {"hosts": {"n1": host, "n2": ib(port("0x7"), p1="0xaa")}}
    assert place.of(report)["n1"]["manager"] is manager


def ticket(**more: Any) -> dict[str, Any]:
    seen = {"host": "n1", "check": "ib.port.state", "subject": "mlx5_0/1", "observed": "Down", "expected": "Active"}
    given = {"id": "rail.down", "title": "a rail has no link", "hosts": ["n1"], "acts": [], "evidence": [seen]}
    return {**given, "costs": "a rail less", "command": "ansible n1 -a x", "note": "reseat it", **more}


def test_what_needs_hands_is_a_ticket_with_both_ends_of_the_cable() -> None:
    places = {"n1": {"leaves": [], "manager": False, "cables": {"mlx5_0": ["leaf1 port 7"]}}}
    (text,) = told.tickets([ticket()], places, [])
    assert text.splitlines() == [
        "a rail has no link [rail.down] on n1",
        "costs: a rail less",
        "seen:  n1 ib.port.state mlx5_0/1: Down, expected Active",
        "cable: mlx5_0/1 to leaf1 port 7",
        "look:  ansible n1 -a x",
        "do:    reseat it",
    ]
    can = ticket(acts=[{"host": "n1"}])
    assert list(told.tickets([can], places, [])) == []
    tired = plan.Held("n1", "rail.down", "t", "link", [], "it was tried 2 times and came again", "x", hands=True)
    assert "tried: it was tried 2 times" in next(told.tickets([can], places, [tired]))


def test_the_plan_says_what_is_done_and_what_is_not_and_why() -> None:
    causes = found("persistence mode was never switched on")
    places = {name: {"leaves": [], "manager": False, "cables": {}} for name in ("node1", "node2", "node7")}
    nothing = told.plan(plan.plan(causes, places, KINDS, plan.Limits(), {}), KINDS, 0)
    assert nothing.startswith("REPAIR: 0 actions, 1 held back, 0 by hand\nHELD BACK:\n  node7: nvidia-smi -pm 1\n")
    assert "next: add value to repair_allow" in nothing
    done = told.plan(plan.plan(causes, places, KINDS, plan.Limits(allow={"node7": ["value"]}), {}), KINDS, 0)
    assert "  node7: nvidia-smi -pm 1\n" in done
    assert "undone by: the next boot" in done


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(None, "", id="nothing"),
        pytest.param({"task": "Drain", "result": {"msg": "refused"}}, "Drain: refused", id="a module"),
        pytest.param({"task": "Drain", "result": {}}, "Drain: no message", id="nothing said"),
        pytest.param(
            {
                "task": "Do",
                "result": {"results": [{"item": ["a", "b c"], "failed": True, "stderr": "x" * 300}, {"item": ["d"]}]},
            },
            f"Do: a 'b c': {'x' * 200}",
            id="a command of several",
        ),
    ],
)
def test_what_stopped_a_host_is_told_in_its_words(raw: Any, text: str) -> None:
    assert told.stopped(raw) == text
