# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics on paper: every published row, the edges of what fits, and that no port is counted twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._agent import program
from ansible_collections.ibready.cluster.plugins.module_utils._data.designs import DESIGNS, Design, Row
from ansible_collections.ibready.cluster.plugins.module_utils._design import tell
from ansible_collections.ibready.cluster.plugins.module_utils._design.size import (
    DesignError,
    Sizes,
    asked,
    chosen,
    differences,
    size,
)

ROWS = [
    pytest.param(design, row, id=f"{design.name}, {row.units} units{', managed' if row.managed else ''}")
    for design in DESIGNS.values()
    for row in design.rows
]


def sized(name: str, **given: Any) -> Sizes:
    return asked(name, given)


def test_every_design_has_a_source() -> None:
    assert {design.confidence for design in DESIGNS.values()} <= {"confirmed", "arithmetic"}
    for name, design in DESIGNS.items():
        assert (name, bool(design.source)) == (design.name, True)
        assert design.confidence == "confirmed" or not design.rows
    assert sum(len(design.rows) for design in DESIGNS.values()) == 24


@pytest.mark.parametrize(("design", "row"), ROWS)
def test_every_published_row_is_computed(design: Design, row: Row) -> None:
    found = size(design, row.nodes, manager_ports=None if row.managed else 0)
    assert [name for name, _there, _here in differences(row, found)] == [name for name, _why in row.wrong]
    assert min(found.spare.values()) >= 0
    said = "published with other numbers: " if row.wrong else "as published: "
    assert found.published.startswith(said)
    assert all(why in found.published for _name, why in row.wrong)


def test_a_size_without_a_row_says_that_it_is_computed() -> None:
    assert sized("superpod-h100", nodes=100).published == "computed: the document has no row of 100 nodes"
    assert "no counts of this design" in sized("nvl72", nodes=18).published


def test_managers_that_take_a_place_begin_a_unit_and_a_tier() -> None:
    found = sized("superpod-h100", gpus=2048)
    assert (found.nodes, found.units, found.tiers, found.leaves) == (256, 9, 3, 72)
    assert "It is not needed with 255 nodes, or without managers" in found.notes[0]
    assert "72 leaves are more than the 64 ports of a spine" in found.notes[1]
    for fits in (sized("superpod-h100", gpus=2040), sized("superpod-h100", gpus=2048, manager_ports=0)):
        assert (fits.units, fits.tiers, fits.leaves, fits.spines, fits.notes) == (8, 2, 64, 32, ())
    assert sized("superpod-h100", gpus=2040).spare["leaf"] == 4


def test_spines_are_as_many_as_part_the_links_evenly() -> None:
    found = sized("superpod-h100", nodes=95)
    assert (found.spines, found.pair_links, found.spare["spine"]) == (16, 2, 256)
    assert "16 spines, where the ports of 12 would do" in found.notes[0]


def test_two_tiers_end_where_a_spine_has_a_port_for_every_leaf() -> None:
    two, three = sized("rail-fat-tree", nodes=256), sized("rail-fat-tree", nodes=257)
    assert (two.tiers, two.spines, two.cores, two.spine_uplinks) == (2, 32, 0, 0)
    assert (three.tiers, three.pods, three.spines, three.cores) == (3, 3, 96, 64)


def test_three_tiers_end_where_a_core_has_a_port_for_every_pod() -> None:
    assert sized("rail-fat-tree", nodes=8192).pods == 64
    with pytest.raises(DesignError, match="three tiers end at 8192 nodes"):
        sized("rail-fat-tree", nodes=8193)


def test_an_oversubscribed_leaf_has_more_down_than_up() -> None:
    found = sized("rail-fat-tree", nodes=48, oversubscription=3.0)
    assert (found.down, found.uplinks, found.oversubscription, found.leaves) == (48, 16, 3.0, 8)


def test_racks_stay_together() -> None:
    found = sized("nvl72", gpus=576)
    assert (found.down, found.uplinks, found.leaves, found.spines) == (18, 18, 32, 9)
    more_ports = sized("nvl72", gpus=576, radix=144, rate=800)
    assert (more_ports.down, more_ports.leaves, more_ports.node_gbps) == (72, 8, 3200)
    assert "9 nodes are no whole racks of 18: 1 racks have 18" in sized("nvl72", gpus=36).notes[0]
    with pytest.raises(DesignError, match="no room for 18 nodes that stay together"):
        sized("nvl72", gpus=576, radix=32)


def test_gpus_that_are_no_whole_nodes_are_said() -> None:
    assert sized("rail-fat-tree", gpus=9).notes[0] == "9 GPUs are no whole nodes of 8: 2 nodes have 16"


def test_what_fits_one_switch_is_said() -> None:
    assert "all 64 ports would fit one switch of 64" in sized("rail-fat-tree", nodes=8).notes
    assert sized("rail-fat-tree", nodes=9).notes == ()


@pytest.mark.parametrize(
    ("name", "given_", "says"),
    [
        ("superpod-x100", {"nodes": 1}, "known are nvl72, rail-fat-tree"),
        ("superpod-h100", {"nodes": 1, "radix": 40}, "is 64 as published, not 40"),
        ("rail-fat-tree", {"nodes": 1, "radix": 0}, "has to be 1 to 4096"),
        ("rail-fat-tree", {"nodes": 0}, "0 nodes"),
        ("rail-fat-tree", {"gpus": 0}, "0 nodes"),
        ("rail-fat-tree", {"gpus": -8}, "-1 nodes"),
        ("rail-fat-tree", {"nodes": 10**8}, "has to be 1 to 10000000"),
        ("rail-fat-tree", {}, "how many"),
        ("rail-fat-tree", {"nodes": 1, "gpus": 8}, "how many"),
        ("rail-fat-tree", {"nodes": 1, "oversubscription": float("nan")}, "oversubscription nan"),
        ("rail-fat-tree", {"nodes": 1, "oversubscription": 0.5}, "oversubscription 0.5"),
        ("rail-fat-tree", {"nodes": 1, "manager_ports": -1}, "-1 ports of managers"),
        ("rail-fat-tree", {"nodes": 1, "radix": 1}, "no room for 1 node and an uplink"),
        ("rail-fat-tree", {"nodes": 99, "radix": 8}, "a unit of 8 leaves is more than the 4 ports"),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_reason(name: str, given_: dict[str, Any], says: str) -> None:
    with pytest.raises(DesignError, match=says):
        asked(name, given_)


@given(
    name=st.sampled_from(sorted(DESIGNS)),
    nodes=st.integers(1, 20000),
    radix=st.integers(1, 160),
    rails=st.integers(1, 16),
    over=st.floats(1.0, 20.0),
    ports=st.integers(0, 8),
)
def test_no_port_is_used_twice(name: str, nodes: int, radix: int, rails: int, over: float, ports: int) -> None:
    own = {} if DESIGNS[name].rows else {"radix": radix, "rails": rails}
    try:
        found = size(chosen(name, own), nodes, over, ports)
    except DesignError:
        return
    radix, rails, planes = found.radix, DESIGNS[name].rails if not own else rails, found.planes
    assert min(found.spare.values()) >= 0
    assert found.down + found.uplinks <= radix
    assert found.oversubscription <= over + 0.001
    assert found.places >= nodes + found.reserved
    leaves, spines = found.leaves // planes, found.spines // planes // found.pods
    # A leaf has links to each spine of its pod, a spine to each core of its group: all ports are there for them.
    assert found.pair_links * spines == found.uplinks
    assert leaves * found.down >= (nodes + found.reserved) * rails
    if found.cores:
        group = found.cores // planes // spines
        assert found.core_links * group == found.spine_uplinks
        assert found.pods * found.core_links <= radix
        assert 2 * found.spine_uplinks <= radix
    else:
        assert leaves * found.pair_links <= radix


@pytest.mark.parametrize(("design", "row"), ROWS)
def test_the_table_says_all_levels(design: Design, row: Row) -> None:
    text = "\n".join(tell.lines(size(design, row.nodes, manager_ports=None if row.managed else 0)))
    for count in (row.gpus if not row.wrong else row.nodes, row.leaves, row.spines, *filter(None, row.cables)):
        assert f" {count} " in text.replace("\n", " \n")
    assert ("cores" in text) == bool(row.cores)
    assert max(map(len, text.splitlines())) <= 120


def test_the_program_prints_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["design", "--gpus", "1016", "--design", "superpod-h100"]
    assert program.main(words) == 0
    assert "  leaves                 32  of 64 ports: 32 down, 32 up" in capsys.readouterr().out
    assert program.main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["leaves"], told["cables"]["leaf-spine"], told["notes"]) == (32, 1024, [])


def test_the_program_refuses_with_status_64(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--nodes", "4", "--design", "superpod"], ["--nodes", "4", "--gpus", "32"], []):
        with pytest.raises(SystemExit) as ended:
            program.main(["design", *words])
        assert ended.value.code == 64
    assert "there is no design 'superpod'" in capsys.readouterr().err
