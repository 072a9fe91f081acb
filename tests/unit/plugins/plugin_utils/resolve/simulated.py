# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated host that has exactly the planned parts, and what the project's own checks say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, UNKNOWN, Check, sentence
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import Sites, install, target
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import Platform, platform
from tests.gauntlet import render
from tests.gauntlet.node import HCAS, Node
from tests.gauntlet.nodes import gpu, host, ib, pci, roce, stack as stack_area
from tests.gauntlet.tree import Tree

PRINT = "A" * 40
_SITES = Sites(
    {
        name: {"base": f"http://mirror.example.com/{name}", "fingerprints": [PRINT]}
        for name in ("doca", "mlnx_ofed", "cuda", "container_toolkit")
    }
)
# A system as the matrix calls it, and a kernel that it comes with.
SYSTEMS = {
    "ubuntu20.04": ("5.4.0-216-generic", "5.15.0-113-generic"),
    "ubuntu22.04": ("5.15.0-113-generic", "6.8.0-88-generic"),
    "ubuntu24.04": ("6.8.0-88-generic", "6.14.0-37-generic", "6.17.0-1018-oracle", "7.0.0-1008-azure"),
    "debian12": ("6.1.0-40-amd64",),
    "debian13": ("6.12.48-amd64",),
    "rhel8.10": ("4.18.0-553.el8_10.x86_64",),
    "rhel9.4": ("5.14.0-427.13.1.el9_4.x86_64",),
    "rhel10.0": ("6.12.0-55.el10.x86_64",),
}
BOARDS = (
    *("hgx-h100-8", "hgx-h200-8-roce", "hgx-a100-8", "hgx-a100-4", "dgx-1-v100", "hgx-h20-8", "hgx-b200-8"),
    *("hgx-b300-8", "gb200-nvl72-node", "gb300-nvl72-node", "h100-pcie-2", "l40s-8", "ib-login"),
)
_IDS = {"ubuntu": "ubuntu", "debian": "debian", "rhel": "rocky"}
# What the verifier says of a stack, whatever else is right with the host.
_JUDGED = ("stack.", "gpu.driver.")


def node(board: str, system: str, kernel: str) -> Node:
    """A board that runs this system and kernel."""
    described = render.node(board)
    base = next(name for name in _IDS if system.startswith(name))
    described.os_id, described.os_version, described.kernel = _IDS[base], system[len(base) :], kernel
    return described


def of(described: Node) -> Platform:
    """The platform, from what node_facts would tell of the node."""
    told = {
        "os": {"id": described.os_id, "version": described.os_version},
        "kernel": described.kernel,
        "machine": described.machine,
        "product": described.product,
        "gpus": [{"vendor": "10de", "device": described.gpu_device} for _ in described.cards],
        "nvswitches": [described.switch_device for _ in described.switches],
        "hcas": [{"vendor": "15b3", "device": HCAS[hca.model][1]} for hca in described.hcas],
    }
    return platform(told, load.own())


def checks(described: Node, stack: Mapping[str, Any]) -> list[Check]:
    """What the verifier says of the node once it has the stack, and nothing else."""
    rdma, driver = stack.get("rdma", {}), stack.get("driver", {})
    described.rdma = rdma.get("flavour", "inbox")
    described.ofed = rdma.get("nic_driver", "")
    described.driver = _release(driver.get("version", described.driver))
    described.modules = driver.get("modules", described.modules)
    described.cuda = stack.get("cuda", {}).get("version", described.cuda)
    peermem = stack.get("peer_memory", {}).get("method") == "peermem"
    described.more = {**described.more, "planned": _packages(described, stack), "peermem": peermem}
    lock = {"stack": stack, "class": "simulated", "matrix": "one", "current": "one"}
    expect = from_inventory({**described.expect, "lock": lock})
    tree = Tree()
    for one in (pci, host, ib, roce, gpu, stack_area):
        one.add(tree, described)
    judged = verify.verify(tree, expect, ("gpu", "stack")).checks
    return [check for check in judged if check.id.startswith(_JUDGED)]


def errors(described: Node, stack: Mapping[str, Any]) -> list[str]:
    """What would make the host not ready, in words."""
    found = checks(described, stack)
    bad = [check for check in found if check.result in (FAIL, UNKNOWN) and CATALOG[check.id].severity == "error"]
    return [sentence(check) for check in bad]


def _packages(described: Node, stack: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and version of the packages that the plan installs, as a package manager would list them."""
    here = of(described)
    told = install(stack, target(here.system, here.arch, load.own()), load.own(), _SITES)
    return [
        (package["name"], _built(package["version"])) for part in told["parts"].values() for package in part["packages"]
    ]


def _release(version: str) -> str:
    """A driver's whole version, of a plan that names no more than a branch."""
    return version if "." in version else f"{version}.10.01"


def _built(version: str) -> str:
    """A package's whole version, of the beginning that a plan names."""
    return (_release(version) if version.isdigit() else version or "1") + ("" if "-" in version else "-1")
