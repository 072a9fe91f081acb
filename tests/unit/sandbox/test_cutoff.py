# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from sandbox import faults
from sandbox.cutoff import cut_rules


def test_a_node_that_is_cut_off_keeps_ssh_and_the_fabric_and_nothing_else() -> None:
    rules = cut_rules("198.18.77.2", cut=True)
    assert [line.strip() for line in rules.splitlines() if "accept" in line] == [
        'oif "lo" accept',
        "tcp sport 22 accept",
        "ip daddr 198.18.77.2 udp dport 7070-7080 accept",
    ]
    assert "policy drop" in rules


def test_the_network_comes_back_whether_it_was_cut_or_not() -> None:
    assert cut_rules("198.18.77.2", cut=False).splitlines() == [
        "table inet ibready_cutoff",
        "delete table inet ibready_cutoff",
    ]
    steps = faults.known()["no-route"]
    assert (steps.actions, steps.heal) == (({"cut": True},), ({"cut": False},))
