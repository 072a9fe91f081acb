# SPDX-License-Identifier: GPL-3.0-or-later
"""Which phase of the work a play is: by the playbook that it stands in, and by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PLAYBOOKS = Path(__file__).resolve().parents[3] / "playbooks"
PLAN, CONVERGE, VERIFY, REPORT = "plan", "converge", "verify", "report"

# A playbook of ours is its own phase, but for these; by name where single plays of one differ.
BOOKS: Mapping[str, str] = {"judge": VERIFY, "verify": REPORT, "site": CONVERGE}
PLAYS: Mapping[tuple[str, str], str] = {
    ("converge", "Plan"): PLAN,
    ("converge", "Look at the nodes of later batches as well"): PLAN,
    ("bundle", "Plan from the vendors' repositories"): PLAN,
}


def phase(path: str, play: str) -> str:
    """``path``: as Ansible tells it, ``FILE:LINE``. A foreign play is its own phase."""
    book = Path(path.rpartition(":")[0])
    if book.resolve().parent != PLAYBOOKS:
        return play
    return PLAYS.get((book.stem, play), BOOKS.get(book.stem, book.stem))
