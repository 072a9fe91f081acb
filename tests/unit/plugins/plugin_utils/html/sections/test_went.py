# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts fail since when and which change often, over the last runs."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.shape import VERDICTS
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import data, model, page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import went
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import pages, runs
from tests.unit.markup import Piece

SIGNS = {"r": "ready", "d": "degraded", "u": "unknown", "n": "not_ready", "-": "absent"}


def run(unread: tuple[str, ...] = (), findings: tuple[dict[str, Any], ...] = (), **hosts: str) -> dict[str, Any]:
    """A run whose hosts went so: a sign for each of the last runs, a day apart."""
    some = len(next(iter(hosts.values())))
    days = [(runs.NOW - timedelta(days=some - 1 - at)).isoformat() for at in range(some)]
    verdicts = {name: [SIGNS[sign] for sign in signs] for name, signs in hosts.items()}
    history = {"runs": days, "unread": list(unread), "hosts": verdicts, "findings": list(findings)}
    return {**runs.run({name: runs.MIXED["n1"] for name in hosts}), "history": history}


def read(some: Mapping[str, Any]) -> went.Went:
    found = went.read(some)
    assert found is not None
    return found


def test_a_failing_host_fails_since_it_was_last_seen_better() -> None:
    found = read(run(n1="rrnnn", n2="rnrrn", n3="nnnnn", n4="rrrrr", n5="rrnnr"))
    assert [(row.hosts.shown, row.bad, row.since, row.before) for row in found.failing] == [
        (("n3",), 5, "2026-11-18 19:41 UTC", True),
        (("n1",), 3, "2026-11-20 19:41 UTC", False),
    ]


def test_a_run_that_did_not_look_is_no_failure_and_no_recovery() -> None:
    (row,) = read(run(n1="rn-un")).failing
    assert (row.bad, row.since, row.before, row.changes) == (3, "2026-11-19 19:41 UTC", False, 3)
    (row,) = read(run(n1="--n-n")).failing
    assert (row.bad, row.before) == (2, True)
    # Of a host that this run leaves out nothing else is known than what was.
    assert read(run(n1="rnn-")).rows[0].bad == 2


def test_a_host_that_changes_often_is_told_first() -> None:
    found = read(run(n1="nnnnn", n2="rnrnr", n3="rrrrn", n4="r-r-r", n5="rnnrr"))
    assert [(row.hosts.shown, row.changes) for row in found.often] == [(("n2",), 4)]
    assert [row.hosts.shown[0] for row in found.rows] == ["n2", "n1", "n3", "n5"]


def test_hosts_that_went_the_same_way_are_one_row() -> None:
    found = read(run(**{f"n{at}": "rnn" for at in range(500)}))
    assert [row.hosts.total for row in found.rows] == [500]
    assert (found.bad, found.warned, found.all) == (500, 0, 500)


def test_the_first_run_has_none_and_a_run_that_cannot_be_read_is_told() -> None:
    assert went.read(runs.run(runs.MIXED)) is None
    assert went.read(run(n1="n")) is None
    assert told.went(run(n1="n"), Speech()) is None
    made = told.went(run(("reports/x.json is damaged",), n1="n"), Speech())
    assert made is not None
    assert "A kept run cannot be read: reports/x.json is damaged" in " ".join(Piece(made.html).text.split())
    assert made.odd


def test_every_state_has_a_sign_and_a_word_beside_its_colour() -> None:
    made = told.went(run(n1="rdun-n"), Speech())
    assert made is not None
    piece = Piece(made.html)
    assert piece.row("n1")[1:] == ["·", "f", "?", "F", "-", "F"]
    assert piece.attrs("data-t-aria-label") == [
        *("verdict.ready", "verdict.degraded", "verdict.unknown", "verdict.not_ready", "went.absent"),
        "verdict.not_ready",
    ]
    assert [one.split()[0] for one in piece.row("Host or fabric")[1:]] == [f"2026-11-{day}" for day in range(17, 23)]


def test_the_first_screen_tells_who_fails_since_when_and_who_flaps() -> None:
    said = pages.words(run(n1="rrnnn", n2="nnnnn", n3="rnrnr"))
    assert "Not ready or unknown in more than one run: n2 (5 runs, since 2026-11-18 19:41 UTC or earlier)" in said
    assert "n1 (3 runs, since 2026-11-20 19:41 UTC)" in said
    assert "Changed often: n3 (4 times in 5 runs)" in said
    quiet = pages.words(run(n1="rrr", n2="rrn"))
    assert "in more than one run" not in quiet
    assert "Changed often" not in quiet


def test_the_script_reads_verdicts_and_findings_of_each_host() -> None:
    finding = {
        "id": "ib.port.state",
        "subject": "mlx5_0/1",
        "results": ["none", "fail", "absent"],
        "hosts": ["n2", "x"],
    }
    packed = data.collected(model.read(run(findings=(finding,), n1="rrr", n2="rn-")))
    strings = packed["strings"]
    assert [strings[one] for one in packed["went"]["hosts"]] == ["rrr", "rn-"]
    ((check, subject, letters, hosts),) = packed["went"]["findings"]
    assert [strings[check], strings[subject], strings[letters], hosts] == ["ib.port.state", "mlx5_0/1", ".f-", [1]]
    assert data.collected(model.read(runs.run(runs.MIXED)))["went"] is None


def test_of_2000_hosts_and_ten_runs_the_page_grows_little() -> None:
    """All that may be different is: every host went its own way, with findings of its own."""
    dice, names = random.Random(4), [f"node{at:04}" for at in range(2000)]
    signs = "".join(sign for sign in SIGNS if sign != "-")
    ways = {name: "".join(dice.choices(signs, k=10)) for name in names}
    findings = tuple(
        {
            **{"id": "ib.port.state", "subject": f"mlx5_{at}/1", "hosts": [name]},
            "results": dice.choices(("pass", "fail", "absent"), k=10),
        }
        for name in names
        for at in range(3)
    )
    whole = run(findings=findings, **ways)
    assert set(whole["history"]["hosts"][names[0]]) <= set(VERDICTS)
    grown = len(page.render(whole)) - len(page.render({**whole, "history": None}))
    assert 10_000 < grown < 400_000
