# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog of checks as far as this process knows it: each area declares its own entries.

A module that judges one area brings that area's entries and no others; _verify/catalog has all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Entry:
    """What is known of one check before any host was looked at. ``causes``: likeliest first.

    ``looks_at``: the evidence without which the check cannot pass, one item each: a command's
    evidence name, or an absolute path in which ``*`` stands for one component. ``a|b`` in one item
    are sources of which any one will do. Tests take each item away and demand that no check of
    this id passes then. ``ask``: what to type, beside that, where it fails or cannot tell.
    """

    id: str
    title: str
    meaning: str
    causes: tuple[str, ...]
    remedy: str
    looks_at: tuple[str, ...] = ()
    severity: str = "error"
    ask: tuple[str, ...] = ()


# An entry by its severity: a failure keeps the host from being ready, or only degrades it.
error = partial(Entry, severity="error")
warning = partial(Entry, severity="warning")


# The areas of one host, in reading order; an id begins with one of them or with FLEET.
AREAS = ("host", "pci", "ib", "roce", "fabric", "gpu", "nvlink", "stack", "nccl", "container")
FLEET = "fleet"
# By id, in the order in which areas were imported.
CATALOG: dict[str, Entry] = {}


def declare(*entries: Entry) -> tuple[Entry, ...]:
    """Make these ids known; the same entry may be declared again."""
    CATALOG.update((each.id, each) for each in entries)
    return entries


def entry(check_id: str) -> Entry:
    """The catalog's entry; an id that no area declared is a programming error (KeyError)."""
    return CATALOG[check_id]
