# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated PCI bus, read back by the observers that read a real host's."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci import area as checks, observe as pci
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from sandbox.config import RAILS
from tests.unit.sandbox import hardware


def observed(root: Path) -> Machine:
    hardware.put(root, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu lm\n")
    hardware.put(root, "/proc/sys/kernel/osrelease", hardware.RELEASE)
    return machine.observe(hardware.live(root))


def test_the_bus_makes_the_board_and_every_hca_sits_beside_a_gpu(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    seen = observed(tmp_path)
    assert seen.board is not None
    assert (seen.board.name, len(seen.cards), len(seen.hcas)) == ("hgx-h100-8", 8, len(RAILS))
    assert seen.virtual.value is False
    near = {one.numa_node: one.path[:2] for one in seen.hcas}
    assert near == {0: seen.cards[0].path[:2], 1: seen.cards[4].path[:2]}


def test_a_bare_node_has_no_driver_bound(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    ends = [one for one in observed(tmp_path).functions if one.watched]
    assert {one.driver for one in ends} == {""}


def test_nothing_of_the_bus_itself_is_found_wanting(tmp_path: Path) -> None:
    """What is left is about drivers and RDMA devices, which are not there yet."""
    hardware.node(tmp_path)
    seen = observed(tmp_path)
    hardware.put(tmp_path, "/proc/uptime", "100.0 100.0")
    judged = checks.judge(pci.observe(hardware.live(tmp_path), seen), seen, from_inventory({}))
    bad = {one.id for one in judged if one.result not in ("pass", "skip")}
    assert bad == {
        *("pci.gpu.driver", "pci.hca.driver", "pci.nvswitch.driver"),
        *("pci.gpu.listed", "pci.gpu.bar_size", "pci.hca.rdma", "pci.hca.slot"),
    }
