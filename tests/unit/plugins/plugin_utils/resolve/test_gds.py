# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect Storage in a plan: which nvidia-fs goes with which CUDA, kernel modules, driver and kernel."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.gds import OPEN_ONLY
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.versions import within
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve import rules_gds
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import Answer, resolve
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.candidates import Candidate
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import Platform
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import Policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests.unit.plugins.plugin_utils.resolve.hosts import TODAY, platform

MATRIX = load.own()
RELEASES = MATRIX.all("extras.gds")


def asked(host: Platform, **wishes: str) -> Answer | Refusal:
    return resolve(host, Policy(**{"gds": "newest", **wishes}), MATRIX, TODAY)


def answer(host: Platform, **wishes: str) -> Answer:
    found = asked(host, **wishes)
    assert isinstance(found, Answer), found
    return found


def minded(found: Answer) -> set[str]:
    return {warning.rule for warning in found.warnings if warning.rule.startswith("GDS_")}


def test_it_comes_only_where_it_is_asked_for() -> None:
    assert "gds" not in answer(platform(), gds="auto").stack
    assert "gds" not in answer(platform(), gds="none").stack
    assert "gds" not in answer(platform("cpu")).stack
    assert "gds" not in answer(platform(), driver="none", container_toolkit="none").stack


@pytest.mark.parametrize(
    ("cuda", "release"),
    [("12.4", "2.19.7"), ("12.8", "2.24.3"), ("13.0", "2.26.6"), ("13.2", "2.28.4"), ("13.3", "2.29.4")],
)
def test_the_newest_is_the_release_that_came_with_the_cuda_of_the_plan(cuda: str, release: str) -> None:
    found = answer(platform(), cuda=cuda)
    assert found.stack["gds"] == {"version": release}
    assert found.stack["cuda"]["version"] == cuda
    assert not minded(found)


def test_nvidia_fs_is_released_by_itself_since_2_30() -> None:
    for cuda in ("13.4", "13.5", "14.0"):
        assert [name for name, fact in RELEASES.items() if within(cuda, fact.get("cuda"))] == ["2.30"]


def test_a_release_of_another_cuda_is_told_and_may_be_had() -> None:
    """As GPU Operator 26.3 has it: 2.27.3 beside driver 580."""
    found = answer(platform(), gds="2.27", driver="580", cuda="13.0")
    assert found.stack["gds"] == {"version": "2.27.3"}
    assert minded(found) == {"GDS_CUDA"}
    (told,) = (warning for warning in found.warnings if warning.rule == "GDS_CUDA")
    assert (told.one, told.other) == ("nvidia-fs 2.27.3 came with CUDA 13.1", "cuda 13.0 is to be used")


def test_a_release_that_nobody_knows_is_told() -> None:
    found = answer(platform(), gds="2.99.1")
    assert found.stack["gds"] == {"version": "2.99.1"}
    assert "RELEASE_KNOWN" in {warning.rule for warning in found.warnings}


_BEFORE = ".".join(map(str, (*OPEN_ONLY[:2], OPEN_ONLY[2] - 1)))
_SINCE = ".".join(map(str, OPEN_ONLY))


@pytest.mark.parametrize(
    ("release", "modules", "arch", "refused"),
    [
        (_BEFORE, "proprietary", "x86_64", False),
        (_SINCE, "proprietary", "x86_64", True),
        ("2.30", "proprietary", "x86_64", True),
        (_SINCE, "open", "x86_64", False),
        (_SINCE, "proprietary", "aarch64", False),
    ],
)
def test_it_takes_open_kernel_modules_from_a_release_on(release: str, modules: str, arch: str, refused: bool) -> None:
    host, driver = platform(arch=arch), Candidate("driver", "580.126.20", branch="580", modules=modules)
    found = rules_gds.modules(host, Candidate("gds", release), driver, MATRIX)
    assert (found is not None) is refused


def test_with_it_the_open_modules_are_chosen_where_the_branch_prefers_the_closed() -> None:
    assert answer(platform("a100"), gds="none", driver="535").stack["driver"]["modules"] == "proprietary"
    assert answer(platform("a100"), driver="535", cuda="12.2").stack["driver"]["modules"] == "open"


def test_closed_modules_are_refused_by_name_with_what_would_go() -> None:
    found = asked(platform(), gds="2.26.6", driver_modules="proprietary")
    assert isinstance(found, Refusal)
    assert found.rule == "GDS_MODULES"
    assert found.one == "nvidia-fs 2.26.6 needs open kernel modules"
    assert found.other.endswith("proprietary")
    assert found.change


def test_a_gpu_that_needs_the_closed_modules_gets_a_release_from_before_where_it_is_named() -> None:
    refused = asked(platform("v100"))
    assert isinstance(refused, Refusal)
    assert refused.rule == "GDS_MODULES"
    found = answer(platform("v100"), gds="2.16.1")
    assert found.stack["driver"]["modules"] == "proprietary"
    assert minded(found) == {"GDS_CUDA", "GDS_KERNEL"}


def test_releases_that_come_only_by_name_are_those_for_closed_modules() -> None:
    assert [name for name, fact in RELEASES.items() if fact.get("by_name")] == [
        name for name in RELEASES if within(name, f"<{_SINCE}")
    ]


def test_the_driver_of_a_distribution_is_refused() -> None:
    card = {"gpus": ["A100 PCIe"], "board": "", "hcas": []}
    found = asked(platform(system="debian13", kernel="6.12.48+deb13-amd64", **card), driver_flavour="distribution")
    assert isinstance(found, Refusal)
    assert (found.rule, found.other) == ("GDS_DRIVER", "the driver is that of the archive of debian13")
    assert "stack_driver_flavour nvidia" in found.says


def test_without_a_cuda_nobody_knows_whose_cufile() -> None:
    found = asked(platform(), cuda="none")
    assert isinstance(found, Refusal)
    assert (found.rule, found.change) == ("GDS_CUDA", {"stack_gds": "none"})


@pytest.mark.parametrize(
    ("release", "kernel", "doubted"),
    [
        ("2.16.1", "5.15.0-25-generic", False),
        ("2.16.1", "6.0.0-1-generic", True),
        ("2.28.4", "6.17.0-1007-nvidia", False),
        ("2.28.4", "7.0.0-1008-azure", True),
        ("2.29.4", "7.0.0-1008-azure", False),
        ("2.28.4", "", False),
    ],
)
def test_a_kernel_that_a_later_release_was_changed_for_is_told(release: str, kernel: str, doubted: bool) -> None:
    gds = Candidate("gds", release, fact=RELEASES[release])
    assert (rules_gds.kernel(platform(kernel=kernel), gds, MATRIX) is not None) is doubted
