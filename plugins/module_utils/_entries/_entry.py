# SPDX-License-Identifier: GPL-3.0-or-later
"""What the catalog holds of one check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """What is known of one check before any host was looked at. ``causes``: likeliest first.

    ``looks_at``: the evidence without which the check cannot pass, one item each: a command's
    evidence name, or an absolute path in which ``*`` stands for one component. ``a|b`` in one item
    are sources of which any one will do. Tests take each item away and demand that no check of
    this id passes then.
    """

    id: str
    severity: str
    title: str
    meaning: str
    causes: tuple[str, ...]
    remedy: str
    looks_at: tuple[str, ...] = ()
