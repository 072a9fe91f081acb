# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import observe_net
from tests.gauntlet.tree import Tree
from tests.unit.parsers import SAMPLES

ROUTE = '[{{"dst":"{0}","dev":"{1}","prefsrc":"10.0.0.11","flags":[]}}]\n'


def host(**routes: str) -> Tree:
    tree = Tree()
    tree.command("ip_addr", (SAMPLES / "ip_addr.txt").read_text())
    for peer, dev in routes.items():
        tree.command(f"ip_route@{peer}", ROUTE.format(peer, dev))
    return tree


def test_interfaces_and_the_way_to_each_peer_are_told() -> None:
    facts = observe_net.observe(host(**{"10.0.0.12": "bond0"}), ["10.0.0.12", "10.0.0.12"])
    assert [one.name for one in facts.interfaces.value or ()][:2] == ["lo", "eno1"]
    assert {peer: one.value.dev for peer, one in facts.routes.items() if one.value} == {"10.0.0.12": "bond0"}


def test_this_host_itself_is_no_peer() -> None:
    tree = host()
    text = '[{"type":"local","dst":"10.0.0.11","dev":"lo","prefsrc":"10.0.0.11"}]'
    tree.command("ip_route@10.0.0.11", text)
    assert observe_net.observe(tree, ["10.0.0.11"]).routes == {}


def test_what_cannot_be_told_says_why() -> None:
    tree = host(**{"10.0.0.13": "bond0"})
    tree.command("ip_route@10.0.0.12", "", 2, "RTNETLINK answers: Network is unreachable\n")
    tree.command("ip_route@10.0.0.14", ROUTE.format("10.0.0.13", "bond0"))
    peers = ["10.0.0.12", "10.0.0.14", "node7; reboot", "fe80::1", "-6"]
    routes = observe_net.observe(tree, peers).routes
    assert all(not one.known for one in routes.values())
    assert "Network is unreachable" in routes["10.0.0.12"].why
    assert "told of 10.0.0.13" in routes["10.0.0.14"].why
    assert "neither an IP address" in routes["node7; reboot"].why
    assert "neither an IP address" in routes["-6"].why
    assert "no address that a route leads to" in routes["fe80::1"].why
    assert "ip_addr" in observe_net.observe(Tree(), []).interfaces.why


def test_of_very_many_peers_some_stand_for_all() -> None:
    peers = [f"10.{at // 200}.0.{at % 200}" for at in range(1000)]
    asked = observe_net.observe(host(), peers).routes
    assert len(asked) == observe_net.MOST_PEERS
    assert {one.split(".")[1] for one in asked} == {"0", "1", "2", "3", "4"}


def test_a_name_is_looked_up_on_the_host_itself() -> None:
    tree = host(**{"10.0.0.12": "bond0"})
    tree.command("getent_ahosts@node2", "10.0.0.12  STREAM node2\n10.0.0.12  DGRAM\n")
    tree.command("getent_ahosts@node3", "", 2)
    routes = observe_net.observe(tree, ["node2", "node3"]).routes
    assert routes["node2"].value is not None
    assert (routes["node2"].value.peer, routes["node2"].value.dev) == ("10.0.0.12", "bond0")
    assert "node3 has no address here" in routes["node3"].why
