# SPDX-License-Identifier: GPL-3.0-or-later
"""Every stack that somebody shipped is a policy that the resolver answers, and calls known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import Fact
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import (
    ALLOWED,
    KNOWN,
    Answer,
    resolve,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import Platform
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import Policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests.unit.corpus import CORPUS
from tests.unit.plugins.plugin_utils.resolve.hosts import TODAY, platform

STACKS = load.own().all("stacks.stacks")
EXCEPTIONS = yaml.safe_load((Path(__file__).parent / "exceptions.yml").read_text())
FACTS = CORPUS.parent / "facts" / "stack_matrix.json"
_KERNELS = {
    "ubuntu20": "5.4.0-216-generic",
    "ubuntu22": "5.15.0-25-generic",
    "ubuntu24": "6.8.0-31-generic",
    "rhel8": "4.18.0-553.el8_10.x86_64",
    "rhel9": "5.14.0-427.13.1.el9_4.x86_64",
}
_PARTS = ("driver", "cuda", "nccl", "container_toolkit", "dcgm", "gdrcopy", "gds")


def host(stack: Fact) -> Platform:
    """An HGX A100, which every driver of the list runs."""
    system = stack.get("system", "ubuntu22.04")
    if system.startswith("azurelinux"):
        return platform("a100", system="", distribution=system)
    kernel = next(value for key, value in _KERNELS.items() if system.startswith(key))
    return platform("a100", system=system, kernel=kernel)


def policy(stack: Fact) -> Policy:
    # What the shipment has not is not to be installed; without CUDA nobody could name NCCL's build.
    without = ("container_toolkit", "nccl") if stack.get("system") else ()
    desired_settings: dict[str, Any] = {one: stack.get(one) for one in _PARTS if stack.get(one)}
    desired_settings |= {one: "none" for one in without if not stack.get(one)}
    rdma = stack.get("rdma")
    if rdma:
        desired_settings |= {"rdma_flavour": rdma["flavour"], "rdma_version": rdma["version"]}
    return Policy(**desired_settings)


@pytest.mark.parametrize("name", STACKS)
def test_a_shipped_stack_is_known_or_allowed(name: str) -> None:
    stack = STACKS[name]
    answer = resolve(host(stack), policy(stack), load.own(), TODAY)
    if name in EXCEPTIONS:
        assert isinstance(answer, Refusal)
        assert answer.rule == EXCEPTIONS[name]["rule"]
        return
    assert isinstance(answer, Answer), answer
    for part in _PARTS:
        if stack.get(part):
            assert answer.stack[part]["version"].startswith(stack.get(part))
    # A container release names no system, so that nobody shipped this one for it.
    assert answer.verdict == (KNOWN if stack.get("system") else ALLOWED)


@pytest.mark.parametrize(
    "other",
    [
        {"container_toolkit": "1.18.1"},
        {"dcgm": "4.5.2"},
        {"nccl": "2.29.7+cuda12.9", "cuda": "12.9"},
        {"host": "v100", "driver_modules": "proprietary"},
        {"host": "b200"},
        {"gpus": ["10de:2204"], "board": ""},
        {"arch": "aarch64"},
        {"system": "rhel9.4"},
    ],
    ids=str,
)
def test_a_stack_is_known_only_whole_and_for_what_it_was_shipped_for(other: dict[str, Any]) -> None:
    stack = STACKS["azure-2026-03-09-rocky9.7"]
    wishes = {**vars(policy(stack)), **{key: value for key, value in other.items() if key in vars(Policy())}}
    changed = {key: value for key, value in other.items() if key not in vars(Policy())}
    here = {"host": "a100", "system": "rhel9.7", "kernel": "5.14.0-611.5.1.el9_7.x86_64"}
    whole = resolve(platform(**here), policy(stack), load.own(), TODAY)
    assert isinstance(whole, Answer)
    assert whole.verdict == KNOWN
    found = resolve(platform(**{**here, **changed}), Policy(**wishes), load.own(), TODAY)
    assert not isinstance(found, Answer) or found.verdict == ALLOWED


@pytest.mark.skipif(not FACTS.is_file(), reason="no facts beside the checkout")
def test_none_of_the_collected_stacks_was_left_out() -> None:
    known = json.loads(FACTS.read_text())["known_stacks"]
    count = len(known["azure_hpc_images"]) + len(known["gpu_operator"])
    assert len(STACKS) == count


def test_exceptions_are_explained_and_needed() -> None:
    assert set(EXCEPTIONS) <= set(STACKS)
    assert all(one["why"] for one in EXCEPTIONS.values())
