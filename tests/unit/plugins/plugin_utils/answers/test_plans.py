# SPDX-License-Identifier: GPL-3.0-or-later
"""What is planned while the play runs, of answers of which one host's are bent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import apart
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import firewall_nodes, nccl_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import nodes
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.launch import node
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import (
    bench_plan,
    fabric_plan,
    nccl_derive,
    ping_again,
    ping_plan,
    rdma_plan,
    tcp_plan,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import nccl_peers
from tests import cases
from tests.unit import clusters, launch_hosts, mutations
from tests.unit.clusters import Like
from tests.unit.mutations import NAMES, ODD

pytestmark = pytest.mark.thorough

Variables = Mapping[str, Mapping[str, Any]]
# Hosts that are well, and what is asked of them: what it tells of the others stays.
OTHERS = [name for name in NAMES if name != ODD]


@cache
def judged() -> dict[str, dict[str, Any]]:
    return mutations.fleet()


@cache
def looked() -> dict[str, dict[str, Any]]:
    """As playbooks/launch.yml leaves them, and role kubernetes_rdma."""
    found = {}
    for number, name in enumerate(NAMES, 1):
        mine = launch_hosts.host(f"10.0.0.{number}", f"node{number}")
        found[name] = {**clusters.hostvars({name: Like()})[name], **mine}
        reported = mine["ibready_launch_looked"]["facts"]["nccl"]
        found[name]["__nccl_host"] = {"nccl_host": reported["host"], "wish": reported["wish"]}
        found[name]["ansible_facts"] = {"all_ipv4_addresses": [f"10.0.0.{number}"], "all_ipv6_addresses": []}
    return found


def derived(known: Variables) -> Any:
    return {name: one["settings"] for name, one in nccl_derive(known, NAMES)["hosts"].items()}


def launched(known: Variables) -> Any:
    found, absent = node.gather(known, list(NAMES))
    assert set(absent) <= {ODD}
    return {one.name: one.address for one in found}


def rendered(known: Variables) -> Any:
    reported = nodes.read(NAMES, known, clusters.MATRIX)
    assert set(reported.absent) <= {ODD}
    return {one.host: one.rails for one in reported.nodes}


def admitted(known: Variables) -> Any:
    return firewall_nodes.nodes(known, NAMES, ["10.0.0.0/8"], lambda _name: [])


JUDGED: dict[str, Callable[[Variables], Any]] = {
    "ping_plan": lambda known: ping_plan(known, NAMES)["ports"],
    "fabric_plan": lambda known: fabric_plan(known, NAMES, 1) and dict.fromkeys(OTHERS),
    "rdma_plan": lambda known: rdma_plan(known, NAMES)["hosts"],
    "tcp_plan": lambda known: dict.fromkeys(tcp_plan(known, NAMES)),
    "bench_plan": lambda known: bench_plan(known, NAMES, ["write_bw"]) and dict.fromkeys(OTHERS),
    "ping_again": lambda known: ping_again(known, known[NAMES[0]]["ibready_ping_plan"]) or dict.fromkeys(OTHERS),
}
LOOKED: dict[str, Callable[[Variables], Any]] = {
    "nccl_derive": derived,
    "launch": launched,
    "kubernetes": rendered,
    "firewall": admitted,
    "nccl_peers": lambda known: dict.fromkeys(nccl_peers.nodes(known, NAMES)),
}
ANSWERS = ("ibready_node", "ibready_launch_looked", "__nccl_host", nodes.TOLD, "ansible_facts")

# Every so-many-th of the ways to bend an answer.
FEW = 60 if cases.ALL else 240


def drawn(mine: Mapping[str, Any], names: tuple[str, ...], few: int) -> Iterator[dict[str, Any]]:
    reported = {name: mine[name] for name in names if name in mine}
    ways = {mutations.kind(at): at for at in mutations.walk(reported)}.values()
    for number, at in enumerate(ways):
        for other, how in enumerate(mutations.VALUES):
            if (number * 7 + other) % few == 0:
                yield mutations.bent(mine, at, how)


@pytest.mark.parametrize("name", JUDGED)
def test_a_plan_of_rounds_is_made_and_has_the_others(name: str) -> None:
    honest = JUDGED[name](judged())
    assert set(OTHERS) <= set(honest)
    for mine in drawn(mutations.trimmed(judged()[ODD]), mutations.ANSWERS, FEW):
        found = JUDGED[name]({**judged(), ODD: mine})
        assert set(OTHERS) <= set(found)


@pytest.mark.parametrize("name", LOOKED)
def test_what_is_made_of_looks_is_made_of_the_others(name: str) -> None:
    honest = LOOKED[name](looked())
    assert set(NAMES) <= set(honest)
    for mine in drawn(mutations.trimmed(looked()[ODD]), ANSWERS, FEW):
        found = LOOKED[name]({**looked(), ODD: mine})
        assert {one: found.get(one) for one in OTHERS} == {one: honest[one] for one in OTHERS}


def test_what_nothing_can_be_derived_of_costs_its_own_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever our own code raises on values of the right types."""
    reported = looked()[ODD]["__nccl_host"]

    def raising(*_: Any) -> None:
        raise ZeroDivisionError("of what it told")

    monkeypatch.setattr(nccl_plan, "fleet_view", raising)
    found, refused = apart.each([ODD], lambda _name: nccl_plan.told(reported))
    assert found == {}
    assert "ZeroDivisionError of what it told in raising, line " in refused[ODD]
