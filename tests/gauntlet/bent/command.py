# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run gauntlet ledger`: write the ledger, hold it against today's fields, or show some boards.

Without a word every field is bent in every way, and docs/evidence-ledger.md is written; that takes
a quarter of an hour. ``check`` bends each field in a way in which the page says that it is found,
``reasons`` writes the page with the reasons of now and bends nothing. Names of boards print the lines
of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.gauntlet import render
from tests.gauntlet.bent import ledger, walk
from tests.gauntlet.bent.ledger import NOBODY, Row
from tests.gauntlet.bent.node import Healthy

# Of a hundred fields so many may wait for somebody's time.
_LATER = 5


def main(words: Sequence[str]) -> int:
    """The exit status is 0 only where every field is judged or has a reason, and the page is right."""
    if list(words) in (["check"], ["reasons"]):
        rows = ledger.read(ledger.PAGE.read_text())
        if list(words) == ["reasons"]:
            rows = list(map(ledger.reasoned, rows))
            ledger.PAGE.write_text(ledger.page(rows))
        wrong = [*_without_reason(rows), *(_stale(rows) if list(words) == ["check"] else ())]
    else:
        rows = [ledger.row(came) for came in walk.walk(words or render.boards())]
        wrong = list(_without_reason(rows))
        if words:
            print(*map(ledger.line, rows), sep="", end="")
        else:
            ledger.PAGE.write_text(ledger.page(rows))
        print(ledger.summary(rows))
    for said in wrong:
        print(f"WRONG  {said}")
    return 1 if wrong else 0


def _without_reason(rows: Sequence[Row]) -> Iterator[str]:
    """Fields that nobody judges and nobody speaks of, reasons for none, and too many for later."""
    for row in rows:
        if row.by == (NOBODY,) and not any(reason.covers(row) for reason in ledger.reasons()):
            yield f"{row.source} {row.field} on {row.board}: no check judges it, and reasons.yml does not say why"
    later = sum(map(ledger.is_later, rows))
    if 100 * later > _LATER * len(rows):
        yield f"{later} of {len(rows)} fields are not judged yet: at most {_LATER} of 100 may be"


def _stale(rows: Sequence[Row]) -> Iterator[str]:
    """Where the page and today's fields and checks differ."""
    open_ = [row for row in rows if row.by == (NOBODY,)]
    for pattern in (pattern for reason in ledger.reasons() for pattern in reason.fields):
        if not any(ledger.fits(pattern, row) for row in open_):
            yield f"reasons.yml: {pattern}: there is no such field, or it is judged"
    known = {(row.source, row.field): row for row in rows}
    bent: set[tuple[str, str]] = set()
    for board in render.boards():
        healthy = Healthy(board)
        for each in walk.fields(healthy):
            row = known.get(each.key)
            if not each.attempts or (row is not None and row.board != board):
                continue
            bent.add(each.key)
            if row is None:
                yield f"{' '.join(each.key)} on {board}: not on the page"
            elif row.found and not _found(healthy, each, row):
                yield f"{' '.join(each.key)} on {board}: {row.note} is not found by {', '.join(row.by)}"
    for row in rows:
        if (row.source, row.field) not in bent:
            yield f"{row.source} {row.field}: on the page, and not on {row.board}"


def _found(healthy: Healthy, each: walk.Field, row: Row) -> bool:
    attempts = [bending for way, bending in each.attempts if ledger.said(way) == row.note]
    return any(healthy.alone(each.areas, bending).wrong & set(row.by) for bending in attempts)
