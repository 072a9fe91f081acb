# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site says its fabric is, by a design or by Slurm's file, held against a real discovery of ibsim."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import design
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm import read as slurm
from sandbox.rig.shapes import rail_optimised
from tests.fabric.conftest import Healthy
from tests.fabric.judging import Verdict

# Two groups of four hosts, a leaf a rail and group, each with a cable to both spines.
BUILT = {"leaves": 8, "spines": 2, "uplinks": 2}


def failed(verdict: Verdict) -> dict[str, str]:
    """The checks that fail, each with what it says first."""
    told: dict[str, str] = {}
    for one in verdict.bad:
        if one.result == FAIL:
            told.setdefault(one.id, str(one))
    return told


def test_a_fabric_is_what_it_was_designed_as(sound: Healthy) -> None:
    verdict = sound(rail_optimised()).judge(design=design.read(BUILT))
    assert verdict.bad == ()
    assert {"fabric.design.switches", "fabric.leaf.uplinks", "fabric.leaf.spread"} <= verdict.passed


def test_a_spine_that_was_never_built_is_missing_by_the_design(sound: Healthy) -> None:
    reported = sound(rail_optimised(spines=1))
    assert failed(reported.judge()) == {}
    told = failed(reported.judge(design=design.read(BUILT)))
    assert "8 leaves, 1 spines" in told["fabric.design.switches"]


def test_the_file_that_is_written_for_slurm_fits_its_fabric(sound: Healthy) -> None:
    reported = sound(rail_optimised())
    verdict = reported.judge(topology=slurm.conf(reported.slurm()))
    assert verdict.bad == ()
    assert {"fabric.topology.nodes", "fabric.topology.leaf", "fabric.topology.switches"} <= verdict.passed


@pytest.mark.parametrize(
    ("first", "second", "check", "named"),
    [
        pytest.param("node[1-4]", "node[5-7]", "fabric.topology.nodes", "node8", id="a node is left out"),
        pytest.param("node[1-3,5]", "node[4,6-8]", "fabric.topology.leaf", "node5", id="two are exchanged"),
    ],
)
def test_a_file_of_slurm_that_does_not_fit_is_told_by_its_check(
    sound: Healthy, first: str, second: str, check: str, named: str
) -> None:
    reported = sound(rail_optimised())
    written = reported.slurm()
    assert "=node[1-4],sm1\n" in written
    site = written.replace("=node[1-4],", f"={first},").replace("=node[5-8],", f"={second},")
    assert named in failed(reported.judge(topology=slurm.conf(site)))[check]
