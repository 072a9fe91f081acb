# SPDX-License-Identifier: GPL-3.0-or-later
"""What ran on each rig, as it is kept: no name of a file or check that is gone, and nothing counted twice."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tools import rigs


@pytest.mark.parametrize("rig", [rig.name for rig in rigs.RIGS])
def test_what_is_kept_of_a_rig_is_there_still(rig: str) -> None:
    known = {*rigs.tasks(), *(f"check {name}" for name in CATALOG)}
    assert rigs.seen(rig) <= known, f"run the rig again, or `python -m tools.rigs {rig}`"


@pytest.mark.parametrize(
    ("by", "state"),
    [
        ({"real": {"x"}, "kernel": set(), "simulated": {"x"}}, "real"),
        ({"real": set(), "kernel": {"x"}, "simulated": set()}, "real"),
        ({"real": set(), "kernel": set(), "simulated": {"x"}}, "stand-in"),
        ({"real": {"y"}, "kernel": set(), "simulated": set()}, "never run"),
    ],
)
def test_what_met_something_real_anywhere_is_real(by: Mapping[str, set[str]], state: str) -> None:
    assert rigs._state("x", {name: frozenset(found) for name, found in by.items()}) == state


def test_a_simulated_gpu_makes_no_check_of_it_real() -> None:
    by = {"real": frozenset({"check gpu.device.count", "check host.boot.secure_boot"}), "kernel": frozenset()}
    by["simulated"] = frozenset()
    assert rigs._state("check gpu.device.count", by) == "stand-in"
    assert rigs._state("check host.boot.secure_boot", by) == "real"


def test_every_file_of_tasks_has_a_line_of_its_own() -> None:
    page = rigs.render("")
    assert all(page.count(f"| `{name}` |") == 1 for name in (*rigs.tasks(), *CATALOG))
