# SPDX-License-Identifier: GPL-3.0-or-later
"""What the planner gives, the verifier passes; what the planner refuses for sure, it does not call ready."""

from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import InstallError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import Answer, resolve
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import Platform
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import Policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests import cases
from tests.unit.plugins.plugin_utils.resolve import simulated
from tests.unit.plugins.plugin_utils.resolve.hosts import TODAY

_WISHES = {
    "rdma_flavour": ("auto", "inbox", "doca", "mlnx_ofed"),
    "driver_modules": ("auto", "open", "proprietary"),
    "driver": ("auto", "535", "550", "570", "580", "595", "620"),
    "cuda": ("auto", "12", "13.0"),
    "nccl": ("auto", "2.12", "2.19", "2.28"),
    "peer_memory": ("auto", "none", "peermem", "dmabuf"),
}
_HOSTS = [
    (board, system, kernel)
    for board in simulated.BOARDS
    for system, kernels in simulated.SYSTEMS.items()
    for kernel in kernels
]
# What the verifier sees of a refused stack on a host that has it.
_VISIBLE = ("GPU_MODULES", "GPUDIRECT", "DMABUF")
_FEW = 80
Host = tuple[str, str, str]
Request = tuple[Host, dict[str, str]]


def requests(count: int) -> Iterator[Request]:
    """So many requests, drawn the same way every time: a host, and at most three wishes."""
    drawn = random.Random(20261120)
    for _ in range(count):
        names = drawn.sample(list(_WISHES), drawn.randint(0, 3))
        yield drawn.choice(_HOSTS), {name: drawn.choice(_WISHES[name]) for name in names}


@functools.cache
def platform(host: Host) -> Platform:
    return simulated.of(simulated.node(*host))


def not_ready(host: Host, stack: Mapping[str, Any]) -> list[str]:
    return _errors(host, json.dumps(stack))


# Many requests are answered alike, and a judgement takes far longer than a plan.
@functools.cache
def _errors(host: Host, stack: str) -> list[str]:
    return simulated.errors(simulated.node(*host), json.loads(stack))


def judged(request: Request) -> str:
    """ "" where planner and verifier agree, else what they disagree about."""
    host, wishes = request
    found = resolve(platform(host), Policy(**wishes), load.own(), TODAY)
    if isinstance(found, Answer):
        said = not_ready(host, found.stack)
        return f"{host} {wishes} is planned, and not ready: {said}" if said else ""
    if found.nearest:
        said = not_ready(host, found.nearest)
        if said:
            return f"{host} {wishes}: the nearest is not ready: {said}"
    if found.rule not in _VISIBLE:
        return ""
    asked = as_asked(host, wishes)
    return "" if asked is None or not_ready(host, asked) else f"{host} {wishes} is refused ({found.rule}), and ready"


def as_asked(host: Host, wishes: dict[str, str]) -> dict[str, Any] | None:
    """The refused stack: what goes without these wishes, with what they say put into it; None where nothing goes."""
    free = Policy(**wishes).without("rdma_flavour", "driver_modules", "peer_memory")
    found = resolve(platform(host), replace(free, peer_memory="none"), load.own(), TODAY)
    if isinstance(found, Refusal):
        return None
    stack = {part: dict(fields) for part, fields in found.stack.items()}
    stack["peer_memory"] = {"method": wishes.get("peer_memory", "auto")}
    flavour = wishes.get("rdma_flavour", "auto")
    if flavour == "inbox":
        stack["rdma"] = {"flavour": flavour}
    elif flavour not in ("auto", stack["rdma"]["flavour"]):
        return None
    if wishes.get("driver_modules", "auto") != "auto":
        stack["driver"]["modules"] = wishes["driver_modules"]
    return stack


def test_what_is_planned_is_ready_and_what_is_refused_is_not() -> None:
    wrong = [said for request in requests(_FEW) if (said := judged(request))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
def test_what_is_planned_is_ready_for_many_requests() -> None:
    wrong = [said for request in requests(300) if (said := judged(request))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
def test_every_host_without_a_wish_gets_what_is_ready() -> None:
    wrong = [said for host in _HOSTS if (said := judged((host, {})))]
    assert not wrong, "\n".join(wrong)


def test_the_drawn_requests_are_of_all_kinds() -> None:
    """Otherwise the tests above look at nothing."""
    kinds = {"planned": 0, "refused": 0, "visible": 0}
    for host, wishes in requests(_FEW):
        found = resolve(platform(host), Policy(**wishes), load.own(), TODAY)
        kinds["planned" if isinstance(found, Answer) else "refused"] += 1
        kinds["visible"] += isinstance(found, Refusal) and found.rule in _VISIBLE
    assert all(count >= 5 for count in kinds.values()), kinds


_BOARDS_OF_STACKS = ("hgx-a100-8", "hgx-h100-8", "dgx-1-v100", "hgx-b200-8")


def shipped(names: list[str]) -> Iterator[Request]:
    for name, board in itertools.product(names, _BOARDS_OF_STACKS):
        fact = load.own().all("stacks.stacks")[name]
        system = str(fact.get("system", "ubuntu22.04")).replace("rhel8.7", "rhel8.10")
        if system not in simulated.SYSTEMS:
            continue
        wishes = {part: str(fact.get(part)) for part in ("driver", "cuda", "nccl") if fact.get(part)}
        rdma = fact.get("rdma")
        if rdma:
            wishes |= {"rdma_flavour": rdma["flavour"], "rdma_version": rdma["version"]}
        for kernel in simulated.SYSTEMS[system]:
            yield (board, system, kernel), wishes


def every_shipped(names: list[str]) -> int:
    """How many hosts of these stacks get a plan; each of them has to be ready."""
    planned = 0
    for host, wishes in shipped(names):
        found = resolve(platform(host), Policy(**wishes), load.own(), TODAY)
        if isinstance(found, Answer):
            planned += 1
            assert not not_ready(host, found.stack), (host, wishes)
    return planned


def test_shipped_stacks_are_ready_wherever_they_are_planned() -> None:
    assert every_shipped(list(load.own().all("stacks.stacks"))[::9]) > 5


@pytest.mark.thorough
def test_more_shipped_stacks_are_ready_wherever_they_are_planned() -> None:
    every = list(load.own().all("stacks.stacks"))
    assert every_shipped(every) > 100 if cases.ALL else every_shipped(every[::3]) > 35


def test_a_plan_can_be_installed_or_says_that_it_may_not() -> None:
    for host, wishes in requests(_FEW):
        described = simulated.node(*host)
        found = resolve(simulated.of(described), Policy(**wishes), load.own(), TODAY)
        if not isinstance(found, Answer):
            continue
        try:
            simulated._packages(described, found.stack)
        except InstallError as exc:
            pytest.fail(f"{host} {wishes}: {exc}")
