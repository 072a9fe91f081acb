# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import pings
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import runs
from tests.unit.markup import Piece


def ping(client: str, sent: int, received: int, untested: str = "") -> dict[str, Any]:
    return {
        **{"client": client, "server": "s", "rail": "mlx5_0/1", "sent": sent},
        **{"received": received, "untested": untested, "culprit": client if untested else ""},
    }


BAD = (ping("some", 5, 4), ping("none", 5, 0), ping("idle", 0, 0, "no port"), ping("mute", 0, 0))


def html(*every: dict[str, Any]) -> str:
    found = pings.section(runs.run({}, pings=list(every)), Speech())
    assert found is not None
    return str(found.html)


def test_only_pings_that_were_all_answered_look_so() -> None:
    for one, look in (
        *((ping("all", 5, 5), "pass"), (BAD[0], "fail"), (BAD[1], "fail")),
        *((BAD[2], "unknown"), (BAD[3], "unknown")),
    ):
        (cell,) = (attrs["class"] for tag, attrs in Piece(html(one)).tags if tag == "td" and attrs.get("class"))
        assert cell == look, one
    assert Piece(html(BAD[0])).row("some")[3] == "4 of 5"
    assert Piece(html(BAD[3])).row("mute")[3] == "untested"


def test_of_many_pings_those_that_are_not_well_are_shown_and_the_rest_is_counted() -> None:
    many = [ping(f"n{number}", 5, 5) for number in range(300)]
    piece = Piece(html(*many, *BAD))
    assert [row[0] for row in piece.rows[1:]] == ["some", "none", "idle", "mute"]
    assert "4 of 304 pings: those that have a problem or are missing" in piece.text


def test_pings_without_a_matrix_were_planned_all_the_same() -> None:
    assert "This run planned no pings" not in html(BAD[2])
    assert "This run planned no pings" in html()
