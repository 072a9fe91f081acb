# SPDX-License-Identifier: GPL-3.0-or-later
"""Two facts that do not go together, and the shape of the rules that find them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..matrix.model import CONFIRMED, Matrix, least
from .candidates import Candidate
from .platform import Platform

REFUSE = "refuse"
WARN = "warn"


@dataclass(frozen=True)
class Found:
    """What a rule's function returns: the two facts, how sure the less sure one is, and who says it.

    ``source``: "" where the rule's own is the one.
    """

    one: str
    other: str
    confidence: str = CONFIRMED
    source: str = ""


@dataclass(frozen=True)
class Collision:
    """A broken rule. ``blocks``: it refuses the stack; otherwise it only warns."""

    rule: str
    says: str
    one: str
    other: str
    confidence: str
    source: str
    blocks: bool

    def __str__(self) -> str:
        return f"{self.rule}: {self.one}; {self.other}. {self.says}"


@dataclass(frozen=True)
class Alone:
    """A rule about one part on this platform."""

    rule: str
    part: str
    test: Callable[[Platform, Candidate, Matrix], Found | None]


@dataclass(frozen=True)
class Pair:
    """A rule about two parts."""

    rule: str
    one: str
    other: str
    test: Callable[[Platform, Candidate, Candidate, Matrix], Found | None]


def collision(rule: str, found: Found | None, matrix: Matrix) -> Collision | None:
    """The finding with what the matrix says of its rule; None where nothing was found."""
    if found is None:
        return None
    fact = matrix.all("rules.rules")[rule]
    confidence = least(found.confidence, fact.sure())
    word = f" stack_accept {rule} takes it all the same." if fact.get("stops") else ""
    return Collision(
        rule,
        fact.get("says") + word,
        found.one,
        found.other,
        confidence,
        found.source or fact.source,
        fact.get("stops") or (fact.get("effect") == REFUSE and confidence == CONFIRMED),
    )


def no_architecture(host: Platform, repository: str, matrix: Matrix) -> Found | None:
    """That a vendor's repository has nothing for processors of this kind."""
    fact = matrix.get("repositories.repositories", repository)
    if fact is None or host.arch in fact.get("arch"):
        return None
    here = f"the host's processors are {host.arch or 'of a kind that nobody told'}"
    return Found(here, f"{fact.get('title')} is for {', '.join(fact.get('arch'))}", fact.sure("arch"), fact.source)
