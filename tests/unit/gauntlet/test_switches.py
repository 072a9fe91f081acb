# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated sites with switches: healthy ones are ready, every fault is found by its check and is the first cause."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.checks import SWITCH
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import READY, verdict
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from tests.gauntlet import run
from tests.gauntlet.switches import site
from tests.unit import fleets

pytestmark = pytest.mark.thorough

FAULTS = [pytest.param(one, id=one.name) for one in site.load()]
EACH = pytest.mark.parametrize("runs", site.SYSTEMS)


@EACH
def test_a_healthy_site_is_ready_and_every_check_has_looked(runs: str) -> None:
    outcome = run.healthy_site(runs)
    assert outcome.found, outcome.why
    assert outcome.false_alarms == []
    assert verdict(site.judge(site.healthy(runs))) == READY


@pytest.mark.parametrize("one", FAULTS)
def test_a_fault_of_a_switch_is_found_by_its_check_alone(one: site.Fault) -> None:
    outcome = run.faulty(one)
    assert outcome.found, outcome.why
    assert outcome.false_alarms == []


@pytest.mark.parametrize("one", FAULTS)
def test_a_fault_of_a_switch_is_the_first_cause(one: site.Fault) -> None:
    host = site.node(one)[0]
    told = cluster.report([host], size=1, created=fleets.NOW, version="0.1.0", compare=True, switches=site.handed(one))
    first = diagnose(told).causes[0]
    assert one.check in {finding.check.id for finding in (*first.evidence, *first.explains)}


@EACH
def test_each_check_of_a_switch_port_has_a_fault_on_each_system_that_tells(runs: str) -> None:
    planted = {one.check for one in site.load() if one.runs == runs}
    assert planted == {entry.id for entry in SWITCH} - set(site.SYSTEMS[runs].silent)


def test_a_change_that_finds_no_place_is_an_error() -> None:
    change = {"switch": "leaf1", "file": "config_db.json", "replace": ["nowhere", ""]}
    with pytest.raises(KeyError, match="does not hold"):
        site.handed(site.Fault("x", site.BOARD, "", "", site.AREA, runs="sonic", texts=(change,)))


def test_a_fault_that_breaks_nothing_is_missed() -> None:
    harmless = site.Fault("nothing", site.BOARD, "roce.switch.pfc", "3", site.AREA, runs="sonic")
    assert run.faulty(harmless).why == "roce.switch.pfc is pass"
