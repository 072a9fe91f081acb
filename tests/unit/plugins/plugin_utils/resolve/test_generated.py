# SPDX-License-Identifier: GPL-3.0-or-later
"""Three hundred drawn requests: no plan breaks what vendors say (vendors.yml), and each can be installed."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._parse.version_text import numbers
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import Sites, install, target
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import Answer, resolve
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import Policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests.unit.plugins.plugin_utils.resolve.hosts import platform

TODAY = "2026-11-29"
VENDORS = yaml.safe_load((Path(__file__).parent / "vendors.yml").read_text())
COUNT = 300
LEAST = 0.6
_ASKED = 0.4
# Packages whose version is whatever there is, and their parts' names in a stack.
_ANY_VERSION = re.compile(r"nvidia-persistenced|infiniband-diags|linux-modules-nvidia-.*")
_BY_PACKAGES = ("driver", "fabric_manager", "nscq", "imex", "nvlsm", "nccl", "container_toolkit")
_VERSIONS = {"nccl": r"\d+\.\d+\.\d+-1\+cuda\d+\.\d+", "doca": r"\d+\.\d+\.\d+", "driver": r"\d{3}\.\d\d+(\.\d+)?"}
Request = tuple[dict[str, Any], dict[str, str]]


def requests() -> Iterator[Request]:
    """The same every time: a host of a generation on a system with a kernel and engines, and some wishes."""
    drawn = random.Random(20261129)
    for _ in range(COUNT):
        host = dict(drawn.choice(VENDORS["hosts"]))
        system = drawn.choice(list(VENDORS["systems"]))
        host |= {"system": system, "kernel": drawn.choice(VENDORS["systems"][system])}
        host["engines"] = drawn.choice(VENDORS["engine_sets"])
        asked = {name: drawn.choice(VENDORS["wishes"][name]) for name in VENDORS["wishes"] if drawn.random() < _ASKED}
        flavour, _space, version = asked.pop("rdma", "").partition(" ")
        wishes = asked | ({"rdma_flavour": flavour} if flavour else {})
        yield host, wishes | ({"rdma_version": version} if version else {})


@functools.cache
def answers() -> list[tuple[Request, Answer | Refusal]]:
    found = []
    for host, wishes in requests():
        given = {key: value for key, value in host.items() if key not in ("generation", "switches")}
        found.append(((host, wishes), resolve(platform(**given), Policy(**wishes), load.own(), TODAY)))
    return found


def allowed() -> Iterator[tuple[dict[str, Any], dict[str, str], Mapping[str, Any]]]:
    for (host, wishes), found in answers():
        if isinstance(found, Answer):
            yield host, wishes, found.stack


def outside(value: str, first: object, last: object) -> bool:
    mine = numbers(value)
    return bool(first and mine < numbers(str(first))) or bool(last and mine > numbers(str(last)))


def broken(host: dict[str, Any], wishes: dict[str, str], stack: Mapping[str, Any]) -> Iterator[str]:
    """What vendors say that this stack breaks."""
    kind = VENDORS["generations"][host["generation"]]
    driver, cuda, nccl = (stack[part] for part in ("driver", "cuda", "nccl"))
    branch, version = int(driver["branch"]), driver["version"]
    first, last = kind["branches"]
    if branch < first or (last and branch > last):
        yield f"branch {branch} is none of this generation"
    if driver["modules"] not in kind["modules"]:
        yield f"{driver['modules']} modules do not drive it"
    if (driver["modules"] == "open" and branch < VENDORS["open_from"]) or (
        driver["modules"] == "proprietary" and branch > VENDORS["proprietary_to"]
    ):
        yield f"branch {branch} has no {driver['modules']} modules"
    if host["system"] not in VENDORS["driver_systems"]:
        yield "no driver packages for the system"
    if outside(cuda["version"], *kind["cuda"]):
        yield f"CUDA {cuda['version']} does not build for it"
    if numbers(version) < numbers(VENDORS["cuda_drivers"][cuda["version"].partition(".")[0]]):
        yield f"CUDA {cuda['version']} needs a newer driver than {version}"
    if nccl["version"] not in VENDORS["nccl"]:
        yield f"no NCCL {nccl['version']} was published"
    if outside(nccl["version"], VENDORS["nccl_from"].get(host["generation"]), None):
        yield f"NCCL {nccl['version']} is older than the GPU"
    if nccl["cuda"].partition(".")[0] != cuda["version"].partition(".")[0]:
        yield f"NCCL of CUDA {nccl['cuda']} beside CUDA {cuda['version']}"
    yield from _kernel(host, driver)
    yield from _rdma(host, stack)
    yield from _holes(wishes, stack)
    toolkit = stack.get("container_toolkit", {}).get("version", "0")
    if numbers(toolkit) >= (1, 19):
        yield from (
            f"toolkit {toolkit} beside {name} {found}"
            for name, found in host["engines"].items()
            if numbers(found) < numbers(VENDORS["engines"][name])
        )
    for part in ("fabric_manager", "nscq", "imex"):
        if stack.get(part, driver)["version"] != version:
            yield f"{part} is of another version"
    if host.get("switches") and "fabric_manager" not in stack:
        yield "no fabric manager"


def _kernel(host: dict[str, Any], driver: Mapping[str, str]) -> Iterator[str]:
    kernel = numbers(host["kernel"])[:2]
    for row in VENDORS["unbuilt"]:
        concerned = (
            str(row["branch"]) == driver["branch"] and row.get("modules", driver["modules"]) == driver["modules"]
        )
        too_old = row["from"] is None or numbers(driver["version"]) < numbers(str(row["from"]))
        if concerned and kernel >= numbers(row["kernel"]) and too_old:
            yield f"{driver['version']} does not build on {host['kernel']}"


def _rdma(host: dict[str, Any], stack: Mapping[str, Any]) -> Iterator[str]:
    kind, rdma = VENDORS["generations"][host["generation"]], stack.get("rdma")
    method = stack.get("peer_memory", {}).get("method", "none")
    if rdma and rdma["flavour"] != "inbox":
        series = f"{rdma['flavour']} {'.'.join(map(str, numbers(rdma['version'])[:2]))}"
        if host["system"] not in VENDORS["rdma_systems"][series]:
            yield f"{series} has no packages for {host['system']}"
        hcas = {"b300": ["ConnectX-8"]}.get(host.get("host", ""), host.get("hcas", []))
        if set(hcas) & set(VENDORS["rdma_without"].get(series, ())):
            yield f"{series} does not drive {hcas}"
    if method == "dmabuf" and not (
        kind["dmabuf"] and stack["driver"]["modules"] == "open" and numbers(host["kernel"])[:2] >= (5, 12)
    ):
        yield "DMA-BUF does not go here"
    if method == "peermem" and (not kind.get("peermem", True) or not rdma or rdma["flavour"] == "inbox"):
        yield "nvidia-peermem does not go here"


def _holes(wishes: dict[str, str], stack: Mapping[str, Any]) -> Iterator[str]:
    """A hole may stand only where the site named the release, or its branch has no mended one in reach."""
    driver, toolkit = stack["driver"], stack.get("container_toolkit", {}).get("version", "99")
    mended = VENDORS["driver_mended"].get(driver["branch"])
    if mended and numbers(driver["version"]) < numbers(mended) and wishes.get("driver") != driver["version"]:
        yield f"{driver['version']} has a hole"
    if numbers(toolkit) <= numbers(VENDORS["toolkit_holes_to"]) and wishes.get("container_toolkit") != toolkit:
        yield f"toolkit {toolkit} has a hole"


def test_no_plan_breaks_what_vendors_say() -> None:
    wrong = [f"{host} {wishes}: {said}" for host, wishes, stack in allowed() for said in broken(host, wishes, stack)]
    assert not wrong, "\n".join(wrong)


def test_every_plan_names_its_packages_in_full() -> None:
    matrix = load.own()
    sites = Sites({name: {"base": "https://mirror.example.com"} for name in matrix.all("repositories.repositories")})
    fingerprints = {"fingerprints": ["0123456789ABCDEF0123456789ABCDEF01234567"]}
    sites = Sites({name: {**given, **fingerprints} for name, given in sites.given.items()})
    for host, wishes, stack in allowed():
        here = platform(**{key: value for key, value in host.items() if key not in ("generation", "switches")})
        parts = install(stack, target(here.system, here.arch, matrix), matrix, sites)["parts"]
        named = {entry["name"]: entry["version"] for part in parts.values() for entry in part["packages"]}
        lacking = [part for part in _BY_PACKAGES if part in stack and not _packages(part, stack, here.system, named)]
        assert not lacking, (host, wishes, lacking)
        bare = [name for name, version in named.items() if not version and not _ANY_VERSION.fullmatch(name)]
        assert not bare, (host, wishes, bare)
        assert not [text for entry in named.items() for text in entry if "{" in text.replace("{kernel}", "")]
        for part, form in _VERSIONS.items():
            for name, version in named.items():
                if name.startswith(
                    {"nccl": "libnccl", "doca": "doca", "driver": ("cuda-drivers", "nvidia-open")}[part]
                ):
                    assert re.fullmatch(form, version), (host, wishes, name, version)


def _packages(part: str, stack: Mapping[str, Any], system: str, named: Mapping[str, str]) -> bool:
    """Whether a package of this part is among those that are named, in its version."""
    version = stack[part]["version"]
    return any(found.startswith(version) for found in named.values())


def test_most_of_them_are_planned() -> None:
    planned = sum(1 for _ in allowed())
    assert planned >= LEAST * COUNT, f"{planned} of {COUNT}"


def test_each_dimension_is_asked_for_and_planned() -> None:
    """Otherwise the tests above look at nothing."""
    for name, values in VENDORS["wishes"].items():
        key = "rdma_flavour" if name == "rdma" else name
        assert len({str(wishes.get(key)) for _host, wishes, _stack in allowed()}) > len(values) // 2 - 1, name
    assert {host["generation"] for host, *_rest in allowed()} == set(VENDORS["generations"])
    assert {host["system"] for host, *_rest in allowed()} == set(VENDORS["systems"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"driver": {"branch": "595", "version": "595.91.07", "modules": "open"}}, "none of this generation"),
        ({"driver": {"branch": "580", "version": "580.178.04", "modules": "open"}}, "do not drive it"),
        ({"cuda": {"version": "13.0"}}, "does not build for it"),
        ({"nccl": {"version": "2.27.9", "cuda": "12.9"}}, "was published"),
        ({"peer_memory": {"method": "dmabuf"}}, "DMA-BUF"),
        ({"container_toolkit": {"version": "1.17.7"}}, "has a hole"),
    ],
)
def test_the_judge_sees_what_is_broken(change: dict[str, Any], said: str) -> None:
    host = next(host for host, _wishes in requests() if host["generation"] == "Volta")
    stack = {
        "driver": {"branch": "580", "version": "580.178.04", "modules": "proprietary"},
        "cuda": {"version": "12.9"},
        "nccl": {"version": "2.28.9", "cuda": "12.9"},
        "rdma": {"flavour": "inbox"},
    }
    assert not list(broken(host | {"kernel": "6.8.0-1-generic", "engines": {}}, {}, stack))
    assert any(said in each for each in broken(host | {"kernel": "6.8.0", "engines": {}}, {}, {**stack, **change}))
