# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypedDict, is_typeddict

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.contact_facts import NodeReported
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import shapes
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import (
    LONGEST,
    MANY,
    AnswerError,
    Long,
    read,
)
from tests.gauntlet import render
from tests.unit.mutations import deep


@dataclass(frozen=True)
class Card:
    name: str
    lanes: int | None = None


@dataclass(frozen=True)
class Board:
    """One of everything that a type of ours is made of."""

    cards: tuple[Card, ...] = ()
    pair: tuple[int, str] = (0, "")
    by_name: dict[str, Reading[tuple[int, ...]]] = field(default_factory=dict)
    speed: Reading[float] = field(default_factory=Reading)
    mask: int | str = 0
    hot: bool = False
    state: Literal["up", "down"] = "up"


class Reported(TypedDict, total=False):
    board: Board
    kept: Any
    log: Long


WHOLE = Board(
    (Card("a", 16), Card("b")),
    (1, "x"),
    {"one": Reading((1, 2)), "none": Reading(None, "not there", missing=True)},
    Reading(2.5),
    "0x1f",
    True,
    "down",
)


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_what_was_made_json_of_a_dataclass_is_read_as_it_was() -> None:
    assert read(Board, as_json(asdict(WHOLE))) == WHOLE
    assert read(Board, asdict(WHOLE)) == WHOLE


def bent(**fields: Any) -> Any:
    return {"board": {**as_json(asdict(WHOLE)), **fields}}


WRONG = [
    ("x", "text, and not an object"),
    ({"board": []}, "board: a list, and not an object"),
    (bent(cards=None), "board.cards: nothing, and not a list"),
    (bent(cards=[{"name": "a", "lanes": 1}, {"name": 5, "lanes": 1}]),
     "board.cards[1].name: a number, and not text"),
    (bent(cards=[{"name": "a"}]), "board.cards[0].lanes: missing"),
    (bent(cards=[{"name": "a", "lanes": 1, "x\n": 1}]), r"board.cards[0].x\n: not known"),
    (bent(cards=[{"name": "a", "lanes": True}]),
     "board.cards[0].lanes: true or false, and not a whole number"),
    (bent(cards=[{"name": "a", "lanes": 10**30}]),
     "board.cards[0].lanes: no number of 64 bits"),
    (bent(pair=[1]), "board.pair: a list, and not a list of 2"),
    (bent(pair=[1, 2]), "board.pair[1]: a number, and not text"),
    (bent(by_name={"a": {"value": ["x"], "why": "", "missing": False}}),
     "board.by_name.a.value[0]: text, and not a whole number"),
    (bent(speed={"value": math.nan, "why": "", "missing": False}),
     "board.speed.value: no number of 64 bits"),
    (bent(speed={"value": "2.5", "why": "", "missing": False}),
     "board.speed.value: text, and not a number"),
    (bent(mask=None), "board.mask: nothing, and not text"),
    (bent(hot=1), "board.hot: a number, and not true or false"),
    (bent(state="sideways"), "board.state: none of up, down"),
    ({"kept": {"a": [math.inf]}}, "kept.a[0]: no number of 64 bits"),
    ({"kept": "\ud800"}, "kept: a text with half a character in it"),
    ({"kept": "x" * (LONGEST + 1)}, "kept: a text of 65,537 characters"),
    (bent(cards=[{}] * (MANY + 1)), "board.cards: 100,001 entries"),
    ({"kept": {str(one): 1 for one in range(MANY + 1)}}, "kept: 100,001 entries"),
    ({"kept": object()}, "kept: object, and not a number"),
    ({"not ours": [10**30]}, "not ours[0]: no number of 64 bits"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_of_another_type_is_named(value: Any, said: str) -> None:
    """Or has more than LONGEST characters, or MANY entries."""
    with pytest.raises(AnswerError) as caught:
        read(Reported, value)
    assert str(caught.value) == said


def test_nesting_has_an_end_and_needs_no_stack() -> None:
    for value in ({"kept": deep()}, {"board": deep()}, deep(), {"not ours": {"a": deep()}}):
        with pytest.raises(AnswerError):
            read(Reported, value)


def test_an_output_may_be_long_and_other_keys_are_kept() -> None:
    reported = {"log": "x" * (LONGEST + 1), "kept": None, "more": {"a": 1}}
    assert read(Reported, reported) == reported


def test_what_ansible_makes_of_texts_numbers_and_lists_is_as_good() -> None:
    kinds = {kind: type("Tagged", (kind,), {}) for kind in (str, int, float, list, dict)}

    def tagged(value: Any) -> Any:
        if isinstance(value, dict):
            value = {tagged(name): tagged(one) for name, one in value.items()}
        elif isinstance(value, list):
            value = [tagged(one) for one in value]
        return kinds[type(value)](value) if type(value) in kinds else value

    assert read(Reported, tagged(bent())) == {"board": WHOLE}


@pytest.mark.parametrize("board", render.boards())
def test_what_honest_nodes_answer_is_read_whole(board: str) -> None:
    node = render.node(board)
    tree = render.render(node)
    judged = _verify.verify(tree, from_inventory(node.expect))
    reported = verdict_object("n1", judged.checks, judged.facts)
    found = read(shapes.Judged, as_json(reported))
    assert found["checks"] == judged.checks
    assert found["facts"]["ib"].to_dict() == judged.facts["ib"]
    assert set(found["facts"]) == set(judged.facts)
    read(NodeReported, as_json(contact.collect(tree)))


def more(some: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(some, max_size=3), st.dictionaries(st.text(max_size=5), some, max_size=3))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    more,
    max_leaves=12,
)
SHAPES = [one for one in vars(shapes).values() if is_typeddict(one)]


@given(st.sampled_from(SHAPES), JSON)
def test_whatever_comes_is_read_or_refused_by_name(kind: Any, value: Any) -> None:
    said = ""
    try:
        read(kind, value)
    except AnswerError as exc:
        said = str(exc)
    assert said.isprintable()
