# SPDX-License-Identifier: GPL-3.0-or-later
"""A sandbox's node that simulates its hardware is judged like the host that it stands for."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.observe import SANDBOX_MARK
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from tests import cases
from tests.gauntlet import fault, render, run
from tests.gauntlet.tree import Tree

BOARD = "hgx-h100-8"
# The machine's own, or not simulated: verbs, counters and cables. Each says so.
NOT_SHOWN = {
    *("host.boot.secure_boot", "host.cpu.governor", "host.kernel.iommu"),
    *("host.memory.available", "host.memory.pressure", "host.memory.uncorrected", "host.memory.corrected"),
    *("host.kernel.arguments", "host.memory.nodes", "host.cpu.load", "host.cpu.online", "host.cpu.throttled"),
    *("host.cpu.clock", "host.floor.needed", "host.floor.usual"),
    *("host.disk.space", "host.disk.nvme", "host.bmc.sensors", "host.bmc.log"),
    *("host.clock.synchronised", "host.rdma.devices"),
    *("ib.port.ber", "ib.port.mtu", "ib.port.optics", "ib.port.flapping", "ib.port.unsteady"),
    *("container.verbs.opens", "container.gpu.visible", "container.gpu.count", "container.cuda.driver"),
    *("stack.kmod.next", "stack.mpi.pml", "stack.mpi.transports", "stack.mpi.ucx_conf"),
}


def marked(tree: Tree, *, hardware: bool) -> Tree:
    tree.file(SANDBOX_MARK, json.dumps({"what": "everything", "hardware": hardware}))
    tree.file("/run/.containerenv", "")
    return tree


def ids(checks: list[Check], *results: str) -> set[str]:
    return {one.id for one in checks if one.result in results}


def test_all_that_a_host_is_judged_by_and_the_node_shows_is_judged() -> None:
    described = render.node(BOARD)
    host = run.judge(described, render.render(described))
    node = run.judge(described, marked(render.render(described), hardware=True))
    assert ids(host, PASS) - ids(node, PASS) == NOT_SHOWN
    assert not ids(node, FAIL, UNKNOWN)
    for one in node:
        if one.id in NOT_SHOWN:
            assert (one.result, "everything" in one.cause) == (SKIP, True)


def test_without_hardware_nothing_of_it_is_judged() -> None:
    described = render.node(BOARD)
    node = run.judge(described, marked(render.render(described), hardware=False))
    areas = {one.partition(".")[0] for one in ids(node, PASS)}
    assert not areas & {"pci", "gpu", "nvlink"}


@pytest.mark.parametrize("area", ["pci", "gpu", "nvlink", "stack"])
def test_what_is_wrong_with_the_simulated_hardware_is_found(area: str) -> None:
    mine = (one for one in fault.load() if one.board == BOARD and one.area == area)
    faults = cases.some(mine, lambda one: one.check.rpartition(".")[0])
    assert faults
    for one in faults:
        if one.check in NOT_SHOWN:
            continue
        described, tree = fault.broken(one)
        bad = ids(run.judge(described, marked(tree, hardware=True)), FAIL)
        assert one.check in bad, one.name
