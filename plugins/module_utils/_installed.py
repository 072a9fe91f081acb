# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a stack is on a host now, in the words of a lock; told, not judged."""

from __future__ import annotations

import re

from ansible_collections.ibready.cluster.plugins.module_utils._checks.stack_installed import (
    installed as rdma_installed,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import stack_components
from ansible_collections.ibready.cluster.plugins.module_utils._facts.stack import StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import (
    Package,
    named,
)

# What a plan may name and a table compares; engines are told apart.
_PARTS = (
    *("fabric_manager", "nscq", "imex", "nvlsm", "nccl", "container_toolkit", "cuda", "dcgm"),
    "gdrcopy",
)
_ENGINES = ("docker", "containerd", "podman", "cri-o")
_UPSTREAM = re.compile(r"(?:[0-9]{1,9}:)?([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})")


def parts(facts: StackFacts) -> dict[str, str]:
    """The version of each part, "" where it is not installed; {} where nobody could look."""
    if facts.packages.value is None:
        return {}
    found = {name: _version(facts.packages.value, name) for name in _PARTS}
    rdma = rdma_installed(facts).value
    found["rdma"] = str(rdma) if rdma is not None and rdma.flavour else ""
    found["driver"] = _driver(facts, facts.packages.value)
    return found


def engines(facts: StackFacts) -> dict[str, str]:
    """The container engines that are installed, and their upstream versions."""
    packages = facts.packages.value or ()
    versions = {name: _UPSTREAM.match(_version(packages, name)) for name in _ENGINES}
    return {name: match.group(1) for name, match in versions.items() if match}


def _version(packages: tuple[Package, ...], part: str) -> str:
    mine = named(packages, stack_components.PACKAGES.get(part, (part,)))
    return mine[0].version if mine else ""


def _driver(facts: StackFacts, packages: tuple[Package, ...]) -> str:
    """The loaded driver, else the one that is installed."""
    if facts.driver.value is not None:
        kind = "open" if facts.driver.value.open else "proprietary"
        return f"{facts.driver.value.version} {kind}"
    for name in stack_components.DRIVER_INSTALLED:
        for one in packages:
            if one.name == name or one.name.startswith(f"{name}-"):
                return f"{one.version} (not loaded)"
    return ""
