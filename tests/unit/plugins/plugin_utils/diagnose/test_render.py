# SPDX-License-Identifier: GPL-3.0-or-later
"""A diagnosis as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.command import Where
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.render import render
from tests.unit import fleets

SLOW = Check(
    *("ib.port.rate", "mlx5_3/1", "fail", "error", "100 Gb/s", "400 Gb/s", "inventory"),
    cause="the link fell back",
)
MEMLOCK = Check("host.limit.memlock", "slurmd.service", "fail", "error", "64 KiB", "unlimited", "x")
BLIND = Check("ib.port.mtu", "host", "unknown", "warning", cause="no tool", remedy="install it")


def text(*checks: Check, simulated: str = "", most: int = 10, notes: Sequence[str] = (), hosts: int = 3) -> str:
    healthy = Check("ib.port.lid", "mlx5_3/1", "pass", "error").to_dict()
    facts = {"ib": {"devices": {"mlx5_3": {"address": "0000:45:00.0"}}}}
    report = {
        "simulated": simulated,
        "pings": [],
        "hosts": {
            f"n{at}": {
                "verdict": "ready",
                "checks": [healthy, *(one.to_dict() for one in checks if not at)],
                "facts": facts,
            }
            for at in range(hosts)
        },
    }
    return render(diagnose(report, where=Where(["mine"])), most, notes)


def test_a_cause_is_told_with_its_evidence_its_price_and_one_command() -> None:
    assert text(SLOW).splitlines() == [
        "DIAGNOSIS: 1 cause, the likeliest first (3 of 3 hosts checked, 3 checks passed)",
        "",
        "1. a rail runs below its rate [rail.slow, sure]",
        "   where:    n0 (1 of 3 hosts): mlx5_3/1",
        "   costs:    NCCL splits evenly over the rails, so every collective waits for the slow "
        "one: 75 % of the bandwidth",
        "   evidence: n0 ib.port.rate mlx5_3/1: 100 Gb/s, expected 400 Gb/s (inventory)",
        "   because:  the link fell back",
        "   fix:      ansible n0 -i mine -b -a 'mlxlink -d mlx5_3 --port_state TG'",
        "   note:     the link goes down and trains again: drain the host first. If it stays slow, "
        "reseat, clean or swap the cable",
    ]


def test_what_is_simulated_stands_above_all() -> None:
    assert text(SLOW, simulated="GPUs").startswith("SIMULATED: GPUs\n\nDIAGNOSIS: ")


def test_more_than_asked_for_are_counted() -> None:
    reported = text(SLOW, MEMLOCK, most=1)
    assert "1. jobs may lock too little memory" in reported
    assert reported.endswith("and 1 more: 2. rail.slow")


def test_what_was_not_looked_at_and_what_is_waived_is_told_apart() -> None:
    reported = text(BLIND, replace(SLOW, waived="until 2027-01-01: RMA 1"), notes=["no log"])
    assert "no cause was found, but 1 item could not be checked: this is not an all-clear" in reported
    assert "NOT CHECKED, so not known to be OK:\n  ib.port.mtu on n0: no tool" in reported
    assert "     next: install it" in reported
    assert "expected 400 Gb/s (inventory) (waived until 2027-01-01: RMA 1)" in reported
    assert reported.endswith("NOTE: no log")


def test_a_usual_price_says_that_it_is_one() -> None:
    assert "all of it" in text(MEMLOCK)
    acs = Check("pci.bridge.acs", "0000:42:04.0", "fail", "error", "on", "off", "capability")
    assert "about 50 % of the bandwidth (typical)" in text(acs)


def test_what_costs_no_bandwidth_has_no_share_of_it() -> None:
    dead = Check("fabric.sm.answers", "ibsim0/1", "fail", "error", "nobody", "a master", "capability")
    assert "   costs:    jobs may abort or stall on it\n" in text(dead)


@pytest.mark.parametrize("words", ["\x1b[2J\x1b[1;31mred", "line\nfeed\r\n1. forged", "\x9bx", "a\x00b"])
def test_foreign_words_can_neither_draw_nor_forge_a_line(words: str) -> None:
    odd = replace(SLOW, observed=words, cause=words, subject=words)
    plain = text(SLOW).splitlines()
    reported = text(odd, replace(BLIND, cause=words, remedy=words))
    assert all(one.isprintable() for one in reported.splitlines())
    assert len([line for line in reported.splitlines() if line.startswith("1. ")]) == 1
    assert len(plain) == len(reported.split("\n\nNOT")[0].splitlines())


def test_long_words_are_cut() -> None:
    assert max(map(len, text(replace(SLOW, observed="x" * 100_000)).splitlines())) < 400


def test_the_documentation_shows_what_is_printed_today() -> None:
    down = {"hca": "mlx5_5", "state": "Down", "physical": "Polling", "rate": 10, "lid": 65535}
    odd = fleets.bent(fleets.BOARD, 7, node=[{"hca": "mlx5_3", "rate": 100}, {**down, "sm_lid": 0}])
    report = fleets.report([*fleets.equals(fleets.BOARD), fleets.host(fleets.ODD, *odd)])
    page = (Path(__file__).parents[5] / "docs" / "diagnose.md").read_text()
    assert render(diagnose(report, where=Where(["cluster"]))) in page


def test_a_fabric_is_none_of_the_hosts_that_are_counted() -> None:
    silent = Check("fabric.sm.answers", "mlx5_3/1", "fail", "error", "no answer", "an answer", "capability")
    of_fabric = Check("fabric.sm.master", "fabric", "fail", "error", "nobody answered", "one master", "capability")
    hosts = {f"n{at}": {"verdict": "not_ready", "checks": [silent.to_dict()], "facts": {}} for at in range(2)}
    fabric = {"fabrics": [{"name": "fabric", "asked": "n0 mlx5_3/1", "checks": [of_fabric.to_dict()]}]}
    reported = render(diagnose({"simulated": "", "pings": [], "hosts": hosts, "fabric": fabric}))
    assert "(2 of 2 hosts)" in reported
