# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import firewall_nodes

FACTS = {
    "all_ipv4_addresses": ["10.1.0.11", "10.2.0.11", "172.17.0.1"],
    "all_ipv6_addresses": ["fd00::11", "fe80::1"],
}


def found(variables: dict[str, Any], *networks: str, names: dict[str, list[str]] | None = None) -> Any:
    reported = firewall_nodes.nodes({"n1": variables}, ["n1"], networks, lambda name: (names or {}).get(name, []))
    return reported["n1"]


@pytest.mark.parametrize(
    ("variables", "networks", "addresses"),
    [
        ({"ansible_host": "10.1.0.11"}, (), ["10.1.0.11"]),
        ({"ansible_host": "192.0.2.1", "ibready_address": "10.2.0.11"}, (), ["10.2.0.11"]),
        (
            {"ansible_host": "10.1.0.11"},
            ("10.2.0.0/16", "fd00::/64"),
            ["10.1.0.11", "10.2.0.11", "fd00::11"],
        ),
        ({"ansible_host": "192.0.2.1"}, (), ["192.0.2.1"]),
        ({}, (), ["10.1.0.11"]),
        ({"ansible_host": "::1"}, ("10.1.0.0/24",), ["10.1.0.11"]),
    ],
    ids=["inventory", "where others reach it", "named networks", "behind NAT", "by name", "local"],
)
def test_addresses(variables: dict[str, Any], networks: tuple[str, ...], addresses: list[str]) -> None:
    seen = found({**variables, "ansible_facts": FACTS}, *networks, names={"n1": ["127.0.1.1", "10.1.0.11"]})
    assert seen == {"addresses": addresses, "complete": True}


def test_a_host_that_nobody_looked_at_is_not_complete() -> None:
    seen = found({"ansible_host": "a.example"}, "10.1.0.0/24", names={"a.example": ["10.1.0.11"]})
    assert seen == {"addresses": ["10.1.0.11"], "complete": False}
    assert found({}) == {"addresses": [], "complete": False}


def test_a_host_without_any_address_is_named_with_the_next_step() -> None:
    """What it tells of itself stops no other host: its own loopback, as an example."""
    for facts in (FACTS, {"all_ipv4_addresses": ["127.0.0.1"]}):
        seen = found({"ansible_facts": facts})
        assert seen == {"addresses": [], "complete": False}
        reported = " ".join(firewall_nodes.unseen({"n1": seen}))
        assert "n1: told no addresses" in reported
        assert "Next: set ibready_address" in reported


def test_a_network_that_is_none_is_named() -> None:
    with pytest.raises(firewall_nodes.NodesError, match=r"10\.1\.0\.1/24"):
        found({}, "10.1.0.1/24")


def test_a_name_that_nobody_knows_has_no_address() -> None:
    assert firewall_nodes.lookup("no-such-host.invalid") == []
    assert firewall_nodes.lookup("127.0.0.1") == ["127.0.0.1"]


@pytest.mark.parametrize("told", [["0.0.0.0/0"], ["10.1.0.11", "none"], [], 5, "10.1.0.11", [None], {"a": 1}])
def test_what_is_no_address_is_not_taken_for_one_and_stops_no_other_host(told: Any) -> None:
    facts = {"all_ipv4_addresses": told}
    seen = found({"ansible_host": "10.1.0.11", "ansible_facts": facts}, "0.0.0.0/0")
    assert seen == {"addresses": ["10.1.0.11"], "complete": False}


def test_a_prefix_in_the_inventory_is_no_address() -> None:
    assert found({"ibready_address": "10.0.0.0/8"}) == {"addresses": [], "complete": False}
    seen = found({"ibready_address": "0.0.0.0/0", "ansible_facts": FACTS})
    assert seen == {"addresses": [], "complete": False}


def test_hosts_that_told_nothing_are_named() -> None:
    hosts = {f"n{n}": {"addresses": ["10.1.0.1"], "complete": n == 0} for n in range(11)}
    hosts["n3"]["addresses"] = []
    where, nowhere = firewall_nodes.unseen(hosts)
    assert where.startswith("n1, n2, n3, n4, n5, n6, n7, n8 and 2 more: told no addresses")
    assert nowhere.startswith("n3: the inventory tells no address either")
    assert firewall_nodes.unseen({"n0": hosts["n0"]}) == []
