# SPDX-License-Identifier: GPL-3.0-or-later
"""Which switches offer SHARP: aggregation nodes by switch and level."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import LEAF, SPINE
from tests.unit.fabrics import Fabric, found, judged, tree

NODES = "fabric.sharp.nodes"


def with_engines(*without: str) -> Fabric:
    """A tree of which every switch but these has an aggregation node, as a Quantum-2 has it: port 65."""
    fabric = tree()
    switches = [guid for guid, (kind, _name) in fabric.nodes.items() if kind == "S"]
    for number, guid in enumerate(switches):
        if fabric.nodes[guid][1] not in without:
            engine = f"ff{number}"
            fabric.nodes[engine] = ("H", "Mellanox Technologies Aggregation Node")
            fabric.plug((engine, 1), (guid, 65))
    return fabric


def check(fabric: Fabric, wanted: bool | None, **more: object) -> dict[str, object]:
    reported = [one for one in judged(fabric, sharp=wanted, **more).fabrics[0]["checks"] if one["id"] == NODES]
    assert len(reported) == 1
    return dict(reported[0])


def test_every_switch_has_its_engine() -> None:
    fabric = with_engines()
    one = check(fabric, True)
    switches = sum(kind == "S" for kind, _name in fabric.nodes.values())
    assert (one["result"], one["observed"]) == (
        "pass",
        f"{switches} aggregation nodes on {switches} of {switches} switches",
    )
    assert found(judged(fabric, sharp=True)) == {}


@pytest.mark.parametrize("lost", ["leaf1", "spine1"])
def test_a_switch_lacks_what_its_equals_have(lost: str) -> None:
    one = check(with_engines(lost), True)
    assert (one["result"], one["subject"], one["observed"]) == ("fail", lost, "no aggregation node")
    assert (LEAF if lost.startswith(LEAF) else SPINE) in str(one["cause"])


def test_a_level_without_any_is_not_held_against_another_level() -> None:
    fabric = tree()
    spines = [name for kind, name in fabric.nodes.values() if kind == "S" and name.startswith("spine")]
    assert spines
    assert check(with_engines(*spines), True)["result"] == "pass"


def test_no_switch_offers_any() -> None:
    one = check(tree(), True)
    assert (one["result"], str(one["observed"])[:20]) == ("fail", "0 aggregation nodes ")


@pytest.mark.parametrize(("wanted", "word"), [(None, "does not say"), (False, "does not want")])
def test_nobody_wants_it(wanted: bool | None, word: str) -> None:
    one = check(with_engines("leaf1"), wanted)
    assert one["result"] == "skip"
    assert word in str(one["cause"])
    assert "aggregation nodes on" in str(one["cause"])


def test_a_discovery_that_was_cut_tells_of_no_absence() -> None:
    fabric = with_engines("leaf1")
    answers = fabric.answers()
    text = answers["ibnetdiscover"]["stdout"]
    answers["ibnetdiscover"]["stdout"] = text[: text.rindex("Ca\t")]
    reported = judged(fabric, answers, sharp=True)
    assert NODES in found(reported, "unknown")
    assert NODES not in found(reported)


def test_an_adapter_of_another_name_is_no_engine() -> None:
    fabric = with_engines("leaf1")
    fabric.nodes["fe0"] = ("H", "storage7 mlx5_0")
    (leaf,) = [guid for guid, (_kind, name) in fabric.nodes.items() if name == "leaf1"]
    fabric.plug(("fe0", 1), (leaf, 66))
    assert check(fabric, True)["result"] == "fail"
