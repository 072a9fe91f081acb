# SPDX-License-Identifier: GPL-3.0-or-later
"""What is bent in a raw text of one part is found and named, unless a reason excuses it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._equals.compare import plain
from tests.gauntlet.bent import leaves, parts, texts
from tests.gauntlet.bent.leaves import BOARDS, SEED, Bent, Count, Way
from tests.unit.corpus import CORPUS, sidecars, text_of

# Of the leaves that no reason excuses, and of all ways.
LEAVES, WAYS = 80, 50
XML = "<log><gpu id='1'><a>\n  7 MiB</a><b><c>On</c><d/></b></gpu></log>"
QOS = "tc: 3 ratelimit: unlimited, tsa: vendor\n\t priority:  4\nprio:0 dscp:07,06,\nmode: Link 2: 9 GB/s\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(XML, {"gpu/a": "7 MiB", "gpu/b/c": "On", "gpu/b/d": ""}, id="XML"),
        pytest.param(
            QOS,
            {
                "tc": "3",
                "tc 3 ratelimit": "unlimited",
                "tsa": "vendor",
                "tc/priority": "4",
                "prio": "0",
                "prio 0 dscp": "07,06,",
                "mode Link 2": "9 GB/s",
            },
            id="several keys in a line",
        ),
        pytest.param("Info\n----\nState : Active\n", {"Info/State": "Active"}, id="a title above a rule"),
        pytest.param("link a/1 state UP netdev e0\n", {"link": "a/1", "state": "UP", "netdev": "e0"}, id="pairs"),
        pytest.param("A=b=c\n", {"A": "b=c"}, id="an assignment"),
    ],
)
def test_every_value_of_a_text_is_a_leaf(text: str, told: dict[str, str]) -> None:
    assert {one.path: one.value for one in texts.leaves(text)} == told


@pytest.mark.parametrize("text", [XML, QOS, "Rate: 400\nState: 4: ACTIVE\n"])
@pytest.mark.parametrize("way", texts.WAYS)
def test_a_leaf_is_bent_in_its_place_alone(text: str, way: str) -> None:
    for at, one in enumerate(texts.leaves(text)):
        new = texts.bent(one, way, Random(at))
        if new is None:
            continue
        assert new != text
        kept = {other.path: other.value for other in texts.leaves(new)} if way != texts.MISSING else {}
        changed = [other.path for other in texts.leaves(text) if kept and kept.get(other.path) != other.value]
        # A number in a line may be part of the next key's name.
        assert [path for path in changed if not path.startswith(one.path)] == []


def share(count: tuple[int, int]) -> float:
    return 100 * count[0] / count[1]


def lost(done: Sequence[Bent]) -> str:
    return "\n".join(f"{one.board} {one.way} {one.spot.path}" for one in done if not one.found and not one.excuse)


def drawn(ways: Sequence[Way], count: int) -> list[Way]:
    return Random(SEED).sample(ways, count)


def test_a_drawn_leaf_of_one_part_is_found() -> None:
    done = leaves.bend(drawn(leaves.every(BOARDS[:2]), 80))
    count = Count.of(done)
    assert len(done) > 40
    assert share(count.leaves) >= LEAVES, lost(done)
    assert share(count.ways) >= WAYS, lost(done)


def test_who_is_not_asked_again_would_say_the_same() -> None:
    for one in drawn(leaves.every(BOARDS[:1]), 6):
        mine = leaves.node(one.board)
        few, all_ = (mine.new(one.spot, one.way, Random(SEED), anew=anew) for anew in (False, True))
        assert few == all_, one.spot.path


@pytest.mark.thorough
def test_each_leaf_of_one_part_on_six_boards_is_found() -> None:
    done = leaves.bend(leaves.once(leaves.every(BOARDS)))
    for kind in (parts.GPU, parts.HCA):
        mine = [one for one in done if one.spot.part.kind == kind]
        count = Count.of(mine)
        assert share(count.leaves) >= LEAVES, lost(mine)
        assert share(count.ways) >= WAYS, lost(mine)
    count = Count.of(done)
    assert share(count.leaves) >= LEAVES, lost(done)
    assert share(count.ways) >= WAYS, lost(done)


def recorded(row: dict[str, Any]) -> bool | None:
    """Whether two healthy outputs were recorded that differ in what a row excuses; None where none were."""
    seen: dict[str, set[str]] = {}
    tools = [path.name for path in CORPUS.glob("*") if path.is_dir() and re.search(row["leaf"], f"{path.name}/")]
    for tool in tools:
        for _tool, sidecar in (param.values for param in sidecars(tool)):
            for one in texts.leaves(text_of(sidecar)):
                seen.setdefault(one.path, set()).add(one.value)
    return any(len(values) > 1 for values in seen.values()) if seen else None


@pytest.mark.parametrize("row", parts.excuses(), ids=lambda row: row["leaf"])
def test_two_healthy_ones_differ_in_what_a_row_excuses(row: dict[str, Any]) -> None:
    if not row["differ"]:
        if not CORPUS.exists():
            pytest.skip("no corpus (set IBREADY_CORPUS)")
        assert recorded(row)
        return
    leaf, one, other = row["differ"]
    assert re.search(row["leaf"], plain(leaf))
    assert one != other
    assert not recorded(row), "a recording shows it"


@pytest.mark.thorough
@pytest.mark.parametrize("row", parts.excuses(), ids=lambda row: row["leaf"])
def test_a_row_excuses_a_leaf_that_there_is(row: dict[str, Any]) -> None:
    every = {one.spot for one in leaves.every(BOARDS)}
    mine = [spot for spot in every if re.search(row["leaf"], plain(parts.name(spot)))]
    assert any(parts.excuse(spot) == row["reason"] for spot in mine)
