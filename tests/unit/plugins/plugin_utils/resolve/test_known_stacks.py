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
    desired_settings: dict[str, Any] = {one: stack.get(one) for one in _PARTS if stack.get(one)}
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
    # A container release names no RDMA stack, so that nobody shipped this one together.
    assert answer.verdict in ((KNOWN,) if stack.get("rdma") else (KNOWN, ALLOWED))


def test_a_container_release_is_known_where_there_is_no_hca() -> None:
    stack = STACKS["gpu-operator-v26.7.0"]
    bare = platform("a100", hcas=[])
    answer = resolve(bare, policy(stack), load.own(), TODAY)
    assert isinstance(answer, Answer)
    assert answer.verdict == KNOWN


@pytest.mark.skipif(not FACTS.is_file(), reason="no facts beside the checkout")
def test_none_of_the_collected_stacks_was_left_out() -> None:
    known = json.loads(FACTS.read_text())["known_stacks"]
    count = len(known["azure_hpc_images"]) + len(known["gpu_operator"])
    assert len(STACKS) == count


def test_exceptions_are_explained_and_needed() -> None:
    assert set(EXCEPTIONS) <= set(STACKS)
    assert all(one["why"] for one in EXCEPTIONS.values())
