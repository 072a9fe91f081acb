# SPDX-License-Identifier: GPL-3.0-or-later
"""What a look at a fabric says of whose a GUID or LID is."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.claims import LID, NODE, PORT, Sighting
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import read
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.sightings import Sightings
from tests.unit.fabrics import Fabric, tree

MANAGER = 0x1C01


def seen(fabric: Fabric, *key: object, owners: dict[str, str] | None = None, stderr: str = "") -> list[Sighting]:
    answers: dict[str, Any] = fabric.answers()
    answers["ibnetdiscover"]["stderr"] = stderr
    look = read.read("n9", {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": answers})
    return list(Sightings([look], {"node3": "gpu3"} if owners is None else owners)(key))


def lids(fabric: Fabric) -> Fabric:
    fabric.lids = {hca.node_guid: 10 + at for at, hca in enumerate(fabric.rails)}
    return fabric


def test_an_adapter_is_the_host_s_of_the_inventory_that_it_is_called_after() -> None:
    fabric = lids(tree())
    assert seen(fabric, NODE, 0x3C00) == [Sighting("n9", "gpu3", frozenset({12}))]
    assert seen(fabric, PORT, 0x3C01) == [Sighting("n9", "gpu3", frozenset({12}))]
    assert seen(fabric, LID, MANAGER, 12) == [Sighting("n9", "gpu3", frozenset({0x3C01}))]
    assert seen(fabric, NODE, 0x3C00, owners={}) == [Sighting("n9", "", frozenset({12}))]


def test_what_is_not_there_nobody_saw() -> None:
    fabric = lids(tree())
    assert seen(fabric, NODE, 0xDEAD) == []
    assert seen(fabric, LID, MANAGER, 99) == []
    assert seen(fabric, LID, 0xBEEF, 12) == [], "a LID of another subnet"


def test_two_cables_to_one_port_are_two_devices_of_one_guid() -> None:
    fabric = lids(tree())
    fabric.cables["a20", 9] = (("3c00", 1), "4xNDR", "")
    assert [one.twice for one in seen(fabric, NODE, 0x3C00)] == [True]
    assert [one.twice for one in seen(fabric, PORT, 0x3C01)] == [True]
    assert [one.twice for one in seen(fabric, NODE, 0x2C00)] == [False]


def test_what_ibnetdiscover_complains_of_is_twice_there() -> None:
    said = "./libibnetdisc/ibnetdisc.c:660; Duplicate Port: Port with guid 0x3c01 already exists in ports DB\n"
    fabric = lids(tree())
    assert [one.twice for one in seen(fabric, PORT, 0x3C01, stderr=said)] == [True]
    assert [one.twice for one in seen(fabric, PORT, 0x2C01, stderr=said)] == [False]


def test_a_lid_of_two_ports_is_twice_there() -> None:
    fabric = lids(tree())
    fabric.lids["2c00"] = 12
    assert [one.twice for one in seen(fabric, LID, MANAGER, 12)] == [True, True]
    assert [one.twice for one in seen(fabric, LID, MANAGER, 13)] == [False]
