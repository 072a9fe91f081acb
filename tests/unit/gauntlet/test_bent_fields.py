# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields are named, bent and put back, whatever they are in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from tests.gauntlet.bent import fields


class Pair(NamedTuple):
    left: int
    right: str


@dataclass(frozen=True)
class Card:
    name: str = "GPU 3"
    busy: bool = False
    health: int | None = None


@dataclass(frozen=True)
class Host:
    cards: tuple[Card, ...] = (Card(), Card("GPU 4"))
    ecc: dict[str, int] = field(default_factory=lambda: {"items": 3, "mlx5_0": 4})
    pairs: tuple[Pair, ...] = (Pair(1, "x"),)
    errors: tuple[str, ...] = ()


def test_equal_things_share_a_field_and_have_places_of_their_own() -> None:
    found = list(fields.places(Host()))
    names = [place for place in found if place.field == "Card.name"]
    assert [place.value for place in names] == ["GPU 3", "GPU 4"]
    assert {"Host.ecc[items]", "Host.ecc[*]", "Host.cards[]", "Host.errors[]"} <= {place.field for place in found}


@pytest.mark.parametrize("kind", fields.KINDS)
def test_what_is_bent_is_bent_in_its_place_alone(kind: str) -> None:
    before = list(fields.places(Host()))
    bent = 0
    for place in before:
        new = fields.bent(place.value, kind, place.hint)
        if new == place.value:
            continue
        bent += 1
        host = fields.replaced(Host(), place.steps, new)
        assert fields.at(host, place.steps) == new
        others = [each for each in before if each.steps[: len(place.steps)] != place.steps]
        assert all(
            fields.at(host, each.steps) == each.value for each in others if each.steps != place.steps[: len(each.steps)]
        )
    assert bent > 0


def test_something_is_made_where_a_healthy_node_has_nothing() -> None:
    made = {place.field: fields.bent(place.value, fields.MORE, place.hint) for place in fields.places(Host())}
    assert made["Card.health"] == 7
    assert made["Host.errors[]"] == ("bent",)
    assert made["Card.name"] == "GPU 4"


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        ("81559 MiB", fields.NUMBER, "815597 MiB"),
        ("81559 MiB", fields.ZERO, "0 MiB"),
        ("Active", fields.WORD, "bent"),
        ("Active", fields.MISSING, ""),
        (3, fields.NUMBER, 37),
        (0.5, fields.ZERO, 0.0),
        (True, fields.WORD, False),
        (True, fields.NUMBER, True),
        ((1, 2), fields.MISSING, (1,)),
    ],
)
def test_each_kind_is_wrong_in_its_own_way(value: object, kind: str, wanted: object) -> None:
    assert fields.bent(value, kind) == wanted
