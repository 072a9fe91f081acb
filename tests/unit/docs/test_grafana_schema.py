# SPDX-License-Identifier: GPL-3.0-or-later
"""The board is what Grafana's own types hold: what they do not know, Grafana would drop without a word."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

BOARD: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs/grafana-dashboard.json").read_text())


def lost(written: Any, kept: Any, place: str = "") -> Iterator[str]:
    """Yield the places of what was written and is not kept as it was."""
    if isinstance(written, dict) and isinstance(kept, dict):
        for key, value in written.items():
            yield from lost(value, kept[key], f"{place}.{key}") if key in kept else [f"{place}.{key}"]
    elif isinstance(written, list) and isinstance(kept, list) and len(written) == len(kept):
        for index, pair in enumerate(zip(written, kept, strict=True)):
            yield from lost(*pair, f"{place}[{index}]")
    elif written != kept:
        yield place


def through_types(board: dict[str, Any]) -> Any:
    """Return the board as it is after Grafana's types of boards, panels, options and queries have read it."""
    register_default_plugins()
    return json.loads(JSONEncoder().encode(Dashboard.from_json(copy.deepcopy(board))))


def test_grafana_keeps_every_word_of_the_board() -> None:
    assert list(lost(BOARD, through_types(BOARD))) == []


@pytest.mark.parametrize(
    "place", ["panels.0", "panels.0.options", "panels.0.fieldConfig.defaults", "panels.0.targets.0"]
)
def test_a_word_that_grafana_does_not_know_is_found(place: str) -> None:
    """Options and queries have types of their own, by the kind of the panel and of the source."""
    board = copy.deepcopy(BOARD)
    there: Any = board
    for step in place.split("."):
        there = there[int(step)] if isinstance(there, list) else there[step]
    there["colour"] = "red"

    (found,) = lost(board, through_types(board))

    assert found.endswith(".colour")


def test_every_panel_and_query_has_a_type_of_grafana() -> None:
    """Of a kind that is unknown to them the types keep whatever is there, and would find nothing."""
    board = Dashboard.from_json(copy.deepcopy(BOARD))
    drawn = [panel for panel in board.panels or [] if panel.type_val != "row"]

    assert drawn
    assert all(type(panel.options).__name__ == "Options" for panel in drawn)
    assert {type(query).__name__ for panel in drawn for query in panel.targets or []} == {"Dataquery"}
