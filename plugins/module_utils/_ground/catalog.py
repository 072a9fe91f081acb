# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog of checks as far as this process knows it: each area declares its own rows (checks.yml).

A module that judges one area brings that area's checks and no others; _verify/catalog has all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .table import load

# By word: the severity, and what a failure does, after "Where it fails,".
CONSEQUENCES = {
    "stops": ("error", "jobs do not start, hang or abort"),
    "slows": ("error", "jobs run slower: a collective waits for its slowest part"),
    "loses": ("error", "results or data are damaged or lost, often without a word"),
    "falls_back": ("error", "jobs go on by a slower way (TCP, host memory, PCI Express) and do not say so"),
    "promised": ("error", "what the site, its plan or the board promises is not there, and jobs count on it"),
    "unproved": ("error", "nothing is proved of what it would show"),
    "later": ("warning", "all works until the next boot, update, reset or fault"),
    "wears": ("warning", "a part errs or wears out: plan its repair"),
    "costs": ("warning", "it costs some speed, and may be meant so: nothing breaks by it"),
    "some_jobs": ("warning", "it harms some jobs only, such as those of MPI, of storage or of very many ranks"),
    "unlike": ("warning", "it is unlike its equals or the usual, and nothing tells which of them is right"),
    "hint": ("warning", "it is a sign only: other checks or a longer look prove the harm"),
    "unseen": ("warning", "it does nothing by itself, but faults or wrong settings would go unseen"),
}


@dataclass(frozen=True)
class Entry:
    """What is known of one check before any host was looked at.

    ``consequence``: what follows for jobs where it fails, a word of CONSEQUENCES; ``why``: a reason of the check's own
    where that word's sentence is not enough. Source: the project's judgement. ``causes``: likeliest first.
    ``looks_at``: the evidence without which the check cannot pass, one item each: a command's evidence name, or an
    absolute path in which ``*`` stands for one component. ``a|b`` in one item are sources of which any one will do.
    Tests take each item away and demand that no check of this id passes then. ``ask``: what to type, beside that,
    where it fails or cannot tell.
    """

    id: str
    title: str
    consequence: str
    meaning: str
    causes: tuple[str, ...]
    remedy: str
    why: str = ""
    looks_at: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()

    @property
    def severity(self) -> str:
        """Whether a failure keeps the host from being ready ("error"), or only degrades it ("warning")."""
        return CONSEQUENCES[self.consequence][0]


# The areas of one host, in reading order; an id begins with one of them or with FLEET.
AREAS = ("host", "pci", "ib", "roce", "fabric", "gpu", "nvlink", "stack", "nccl", "container")
FLEET = "fleet"
# By id, in the order in which areas were imported.
CATALOG: dict[str, Entry] = {}


def declare(rows: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Make these checks known, rows by id; the same may be declared again."""
    entries = load(Entry, rows)
    CATALOG.update((each.id, each) for each in entries)
    return entries


def entry(check_id: str) -> Entry:
    """The catalog's entry; an id that no area declared is a programming error (KeyError)."""
    return CATALOG[check_id]
