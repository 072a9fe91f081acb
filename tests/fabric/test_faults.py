# SPDX-License-Identifier: GPL-3.0-or-later
"""Every fault of a fabric, planted in real ibsim, is found by its id; a healthy fabric has none."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL
from sandbox.rig import shapes
from sandbox.rig.container import Rig
from sandbox.rig.faults import FAULTS
from sandbox.rig.topology import Topology
from tests.fabric.conftest import Healthy
from tests.fabric.expected import EXPECTED, Expected
from tests.fabric.judging import Verdict, look

TOPOLOGIES = [shape() for shape in shapes.SMALL]
PLANTED = [
    pytest.param(name, topology, id=f"{name} in {topology.name}")
    for name, fault in FAULTS.items()
    for topology in TOPOLOGIES
    if fault(topology) is not None
]
# Without them nothing was looked at.
LOOKED_AT = {
    "fabric.cable.errors",
    "fabric.cable.speed",
    "fabric.cable.width",
    "fabric.guid.unique",
    "fabric.hca.known",
    "fabric.hca.present",
    "fabric.sm.master",
    "fabric.sm.standby",
}
RAILS_LOOKED_AT = {"fabric.leaf.spread", "fabric.leaf.uplinks", "fabric.rail.leaf"}


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology.name)
@pytest.mark.parametrize("planned", [False, True], ids=["without a plan", "with a plan"])
def test_a_healthy_fabric_has_nothing(topology: Topology, planned: bool, sound: Healthy) -> None:
    reported = sound(topology)
    verdict = reported.judge(reported.discovery if planned else "")
    assert verdict.bad == (), f"{topology.name} is healthy, and yet:\n{verdict}"
    wanted = LOOKED_AT | (RAILS_LOOKED_AT if topology.name == "rail-optimised" else set())
    assert wanted <= verdict.passed


@pytest.mark.parametrize(("name", "topology"), PLANTED)
def test_a_fault_is_found_by_its_id(name: str, topology: Topology, simulated: Rig, sound: Healthy) -> None:
    state = FAULTS[name](topology)
    assert state is not None
    reported = look(simulated, topology, state)
    wanted = EXPECTED[name]
    where = f"{name} in {topology.name}"
    if not wanted.with_plan:
        _found(where, topology, wanted, reported.judge(), wanted.also)
    verdict = reported.judge(sound(topology).discovery)
    _found(where, topology, wanted, verdict, wanted.also + wanted.planned)


def _found(where: str, topology: Topology, wanted: Expected, verdict: Verdict, also: tuple[str, ...]) -> None:
    failed = [one for one in verdict.bad if one.result == FAIL]
    said = [str(one) for one in failed if one.id == wanted.check]
    assert said, f"{where}: {wanted.check} does not fail:\n{verdict}"
    for who in wanted.names(topology):
        assert any(who in one for one in said), f"{where}: {who} is not named:\n{verdict}"
    beside = [one for one in failed if one.id not in (wanted.check, *also)]
    beside += [one for one in verdict.bad if one.result != FAIL and one.id not in wanted.unknown]
    assert not beside, f"{where}: false alarms:\n" + "\n".join(map(str, beside))


def test_every_fault_has_its_expectation() -> None:
    assert set(EXPECTED) == set(FAULTS)
