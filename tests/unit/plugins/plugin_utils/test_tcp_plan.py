# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.tcp import told
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.tcp_plan import lease, pairs, plan
from tests.unit.tcp_told import RENDEZVOUS, SAMPLE, listening, tcp


def names(count: int) -> dict[str, str]:
    return {f"n{index}": f"10.0.{index // 200}.{index % 200}" for index in range(count)}


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(0, set(), id="nobody"),
        pytest.param(1, set(), id="alone"),
        pytest.param(2, {("n0", "n1"), ("n1", "n0")}, id="two, both ways"),
        pytest.param(
            3,
            {(f"n{a}", f"n{b}") for a in range(3) for b in range(3) if a != b},
            id="three, each to each",
        ),
    ],
)
def test_few_hosts_all_meet(count: int, expected: set[tuple[str, str]]) -> None:
    assert set(pairs(names(count))) == expected


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 400))
def test_the_effort_grows_with_the_hosts_and_nobody_is_left_out(count: int) -> None:
    made = pairs(names(count))
    assert len(set(made)) == len(made) <= 3 * count
    assert all(client != server for client, server in made)
    asks = Counter(client for client, _ in made)
    asked = Counter(server for _, server in made)
    assert set(asks) == set(asked) == set(names(count))
    assert max(asks.values()) <= 3
    assert max(asked.values()) <= 3


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=12), st.randoms())
def test_every_subnet_is_entered_and_left(sizes: list[int], random: Any) -> None:
    mixed = [f"10.{rack}.0.{at + 1}" for rack, size in enumerate(sizes) for at in range(size)]
    random.shuffle(mixed)
    addresses = {f"n{index}": address for index, address in enumerate(mixed)}
    crossed = {
        (addresses[client].split(".")[1], addresses[server].split(".")[1]) for client, server in pairs(addresses)
    }
    for rack in range(len(sizes)):
        assert any(one == str(rack) != two for one, two in crossed)
        assert any(two == str(rack) != one for one, two in crossed)


def test_the_order_of_the_inventory_does_not_matter() -> None:
    mixed = {"a": "node", "b": "10.0.0.10", "c": "10.0.0.9", "d": "2001:db8::1"}
    assert set(pairs(mixed)) == set(pairs(dict(sorted(mixed.items()))))
    ring = [client for client, _ in pairs(mixed)][::3]
    assert ring == ["c", "b", "d", "a"]  # by number, not by text; names last


def test_a_peer_is_reached_at_its_own_address_on_its_own_ports() -> None:
    busy = listening(ports=[], held=[{"port": RENDEZVOUS, "by": "torchrun[4]"}])
    hosts = {
        "n1": told("n1", tcp(ansible_host="10.0.0.1")),
        "n2": told(
            "n2",
            tcp(ansible_host="10.0.0.2", ibready_address="ib2", ibready_tcp_listening=busy),
        ),
        "n3": told("n3", {"ibready_tcp_listening": {"failed": True, "msg": "no memory"}}),
        "n4": told("n4", tcp(ibready_tcp=False)),
    }
    assert plan(hosts) == {
        "n1": [{"name": "n2", "address": "ib2", "ports": [*SAMPLE], "held": [RENDEZVOUS]}],
        "n2": [{"name": "n1", "address": "10.0.0.1", "ports": [RENDEZVOUS, *SAMPLE], "held": []}],
    }


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_nobody_is_sent_to_a_loopback_address(address: str) -> None:
    one = told("n1", tcp(ansible_host=address))
    assert plan({"n1": one, "n2": told("n2", tcp())}) == {}
    assert "set ibready_address" in one.host.error


def test_a_listener_outlives_the_slowest_run() -> None:
    assert lease(3, 32, 3) >= 60
    assert lease(2000, 32, 3) > 2 * 63 * (2 * 3)
    assert lease(2000, 5, 60) == 6 * 3600  # as long as the module allows
    assert lease(64, 32, 3) > lease(32, 32, 3)
