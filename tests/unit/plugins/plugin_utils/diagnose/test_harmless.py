# SPDX-License-Identifier: GPL-3.0-or-later
"""No remedy harms: what it takes away, touches or starts has evidence of its own."""

from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import COUNTERS, Counter
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL
from ansible_collections.ibready.cluster.plugins.module_utils._ground.equals import SAY_WHICH
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import table
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import Diagnosis, diagnose
from tests.gauntlet import run
from tests.unit import fleets
from tests.unit.harmless import touches

BOARD = fleets.BOARD


def diagnosed(*nodes: list[dict[str, object]], board: str = BOARD) -> Diagnosis:
    """The diagnosis of a fleet of these nodes, each with its changes."""
    names = ("node1", "node2", "node3", "node4")
    made = [
        fleets.host(name, *fleets.bent(board, at, node=node))
        for at, (name, node) in enumerate(zip(names, nodes, strict=False), 1)
    ]
    return diagnose(fleets.report(made))


# Faults that are no cable's, nor any other part's of the host.
NO_PART = (
    "a link elsewhere damages packets that arrive marked as bad",
    "packets of a partition arrive that the port is not in",
    "a storm of management packets is dropped",
    "the policy of the physical function keeps a virtual one down",
    "hundreds of answers stay out within seconds",
    "somebody switched a rail's port off",
    "one NVSwitch has no driver",
)


@pytest.mark.parametrize("name", NO_PART)
def test_no_part_is_touched_where_none_is_at_fault(name: str) -> None:
    one = fleets.named(name)
    mine = [check for check in run.judged(one) if check.result == FAIL]
    assert {check.id: touches(check.remedy) for check in mine} == {check.id: [] for check in mine}
    odd = fleets.host(fleets.ODD, *fleets.broken(one))
    found = diagnose(fleets.report([*fleets.equals(one.board), odd]))
    assert found.causes
    assert {cause.id: touches(cause.note) for cause in found.causes} == {cause.id: [] for cause in found.causes}


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda one: str(one.name))
def test_a_counter_touches_the_cable_only_where_it_counts_what_the_link_itself_does(counter: Counter) -> None:
    assert (re.search(r"cable|transceiver|the link", counter.means) is None) == bool(counter.remedy)
    assert touches(counter.remedy) == []


TEXTS = {
    **{entry.id: entry.remedy for entry in CATALOG.values()},
    **{row.id: row.fix.note for row in table.rows()},
}


# The inventory wants a standby that is not there.
WANTED = ("fabric.sm.standby", "sm.reserve")
STARTS = [
    name for name, text in TEXTS.items() if re.search(r"\bstart\b.*(opensm|subnet manager|standby)|^sm\.", name + text)
]


@pytest.mark.parametrize("name", [name for name in STARTS if name not in WANTED])
def test_a_subnet_manager_is_started_only_where_none_runs(name: str) -> None:
    assert re.search(r"only where none|start no other|^(?!.*\bstart)", TEXTS[name])


def test_beside_a_manager_that_is_discovering_no_other_is_started() -> None:
    one = fleets.named("the subnet manager is still discovering")
    check = next(check for check in run.judged(one) if check.id == one.check)
    assert check.remedy.startswith("start no other")
    odd = fleets.host(fleets.ODD, *fleets.broken(one))
    found = diagnose(fleets.report([*fleets.equals(one.board), odd]))
    assert [cause.id for cause in found.causes] == ["sm.unsettled"]
    assert found.causes[0].note.startswith("start no other")


def test_of_two_firmware_versions_without_a_majority_neither_is_burnt() -> None:
    older = [{"hca": hca.name, "firmware": "28.39.1002"} for hca in fleets.described(BOARD, 1).hcas]
    (cause,) = diagnosed(older, []).causes
    assert (cause.id, list(cause.hosts)) == ("hca.firmware", ["node1", "node2"])
    assert (cause.note, cause.mends, list(cause.acts), cause.confidence) == (SAY_WHICH, False, [], "possible")


def test_the_odd_firmware_of_four_is_brought_to_what_the_others_have() -> None:
    (cause,) = diagnosed([{"hca": "mlx5_3", "firmware": "28.39.1002"}], [], [], []).causes
    assert (cause.id, list(cause.hosts), cause.confidence) == ("hca.firmware", ["node1"], "sure")
    assert "to the version that the finding expects" in cause.note


def test_one_guid_on_two_hosts_is_one_cause() -> None:
    twin = fleets.described(BOARD, 1).hca("mlx5_3").guid
    (cause,) = diagnosed([], [{"hca": "mlx5_3", "guid": twin}], []).causes
    assert (cause.id, list(cause.hosts)) == ("hca.same_guid", ["node1", "node2"])


def test_a_host_that_has_not_booted_since_its_stack_came_has_one_cause() -> None:
    """GPUs with nouveau, NVSwitches without a driver, openibd not started: nothing of it is broken."""
    node = fleets.described(BOARD, 1)
    drivers = {card.address: {"driver": "nouveau"} for card in node.cards}
    drivers |= {pci: {"driver": ""} for pci in node.switches}
    nvidia = ["nvidia", "nvidia_uvm", "nvidia_modeset"]
    change = [{"more": {"modules": ["nouveau"], "missing": nvidia, "pci": drivers, "units": {"openibd": "failed"}}}]
    file = {"file": "/etc/modprobe.d/ibready-nouveau.conf", "text": "blacklist nouveau\n"}
    odd = fleets.host(fleets.ODD, *fleets.bent(BOARD, 7, node=change, evidence=[file]))
    first, *others = diagnose(fleets.report([*fleets.equals(BOARD), odd])).causes
    assert (first.id, first.confidence, others) == ("host.reboot_waits", "sure", [])
    explained = {finding.check.id for finding in first.explains}
    assert {"pci.nvswitch.driver", "pci.gpu.driver", "host.service.openibd"} <= explained
