# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that role subnet_manager writes, read by two real opensms: master, standby, handover, partitions."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.opensm import conf, fabrics, partitions
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import sminfo
from sandbox.rig import shapes
from sandbox.rig.container import Fabric, Rig
from sandbox.rig.orders import end_sm, sm, sweep
from sandbox.rig.topology import Node

TREE = shapes.fat_tree()
FIRST, SECOND = (next(node for node in TREE.nodes if node.id == name) for name in TREE.sms)
FULL, LIMITED, OUTSIDE = (TREE.hca(f"node{number}", 0) for number in (1, 2, 3))
TAKEOVER_S = 2
SWEEP_S = 10
# A standby waits until the master is silent for so long; a master that lost a trap sees who came back by its next
# sweep; and a sweep takes its time, on a machine that has others to do as well.
_BOUND_S = TAKEOVER_S + SWEEP_S + 48
_STARTS = 6
STORAGE = 0x0010
SHARED: Mapping[str, Any] = {
    "routing_engine": ["updn"],
    "root_guids": [f"{TREE.node(f'MF0;spine{number}:MQM9700/U1').guid:#018x}" for number in (1, 2)],
    "partitions": [
        {"name": "Default", "pkey": 0x7FFF, "ipoib": True, "full": ["ALL"]},
        {
            "name": "storage",
            "pkey": STORAGE,
            "full": [f"{FULL.guid + 1:#018x}"],
            "limited": [f"{LIMITED.guid + 1:#018x}"],
        },
    ],
    "settings": {},
}
PRIORITIES = fabrics.priorities(["sm1", "sm2"], {}, alone_ok=False)


def start(name: str) -> dict[str, Any]:
    """The order by which a host's opensm starts with what the role writes for it."""
    node = {"sm1": FIRST, "sm2": SECOND}[name]
    (fabric,) = fabrics.read([{"name": "compute"}], SHARED, PRIORITIES[name], {}, takeover_s=TAKEOVER_S, log_mb=64)
    values = conf.read(conf.render(conf.values(fabric, f"{node.guid + 1:#018x}")))
    files = {"partition_config_file": partitions.render(fabric.partitions), "root_guid_file": conf.roots(fabric)}
    # opensm's own, which the role does not write, and the rig else takes away.
    return sm(node.id, files, **{**values, "sweep_on_trap": "TRUE", "sweep_interval": str(SWEEP_S)})


def master(fabric: Fabric) -> int | None:
    """The port GUID of whom the hosts' ports name, where it says that it is the master."""
    try:
        told = sminfo.parse(fabric.run(FULL.id, ["sminfo"]).stdout)
    except ParseError:
        return None
    return int(told.guid, 16) if told.state_name == "SMINFO_MASTER" else None


def becomes_master(fabric: Fabric, node: Node, bound_s: float = _BOUND_S) -> bool:
    """Whether the hosts' ports come to name that host's."""
    deadline = time.monotonic() + bound_s
    while time.monotonic() < deadline:
        if master(fabric) == node.guid + 1:
            return True
        time.sleep(0.1)
    return False


def keys(fabric: Fabric, guid: int) -> list[int]:
    """The partition keys of a port, as any host may ask for them."""
    said = fabric.run(FULL.id, ["smpquery", "-G", "pkeys", f"{guid:#x}"])
    assert said.rc == 0, said
    return [key for key in (int(word, 16) for word in re.findall(r"0x[0-9a-f]{4}\b", said.stdout)) if key]


@pytest.fixture(scope="module")
def managed(simulated: Rig) -> Iterator[Fabric]:
    with simulated.fabric(TREE, 180) as fabric:
        # A master knows of standbys that were there when it looked.
        fabric.do([start("sm1"), start("sm2"), sweep()])
        yield fabric


def test_opensm_understands_every_line(managed: Fabric) -> None:
    for node in (FIRST, SECOND):
        said = managed.log(node.id)
        assert "SUBNET UP" in said or "STANDBY" in said
        assert [line for line in said.splitlines() if re.search(r"ERR |[Uu]nrecognized|PARSE|rror", line)] == []


def test_the_first_choice_is_the_master_and_the_second_stands_by(managed: Fabric) -> None:
    assert master(managed) == FIRST.guid + 1
    assert "Entering STANDBY state" in managed.log(SECOND.id)
    assert "updn" in managed.log(FIRST.id)


def test_each_port_is_in_the_partitions_that_the_site_gives_it(managed: Fabric) -> None:
    assert keys(managed, FULL.guid + 1) == [0xFFFF, 0x8000 | STORAGE]
    assert keys(managed, LIMITED.guid + 1) == [0xFFFF, STORAGE]
    assert keys(managed, OUTSIDE.guid + 1) == [0xFFFF]


def test_the_second_takes_over_and_the_first_takes_it_back(managed: Fabric) -> None:
    """Again where ibsim loses what two managers ask each other: one that waits for it never sweeps."""
    for _time in range(_STARTS):
        managed.do([end_sm(FIRST.id)])
        assert becomes_master(managed, SECOND), managed.log(SECOND.id)
        # The partitions are those of the file, whoever reads it.
        assert keys(managed, LIMITED.guid + 1) == [0xFFFF, STORAGE]
        managed.do([start("sm1")])
        if becomes_master(managed, FIRST, TAKEOVER_S + SWEEP_S):
            break
        assert managed.log(FIRST.id).rstrip().endswith("Entering MASTER state"), managed.log(FIRST.id)
    assert master(managed) == FIRST.guid + 1
    assert keys(managed, LIMITED.guid + 1) == [0xFFFF, STORAGE]
