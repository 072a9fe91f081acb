# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of fabric-wide outputs from a bundle; a live host is never asked for them."""

from __future__ import annotations

from typing import Callable, Protocol, TypeVar

from ..._evidence.sources import Evidence, Output, Unavailable
from ..._ground.reading import Reading
from ..._ground.text import ParseError, flat_lines, is_whole
from ..._parse import ibhosts, iblinkinfo, ibnetdiscover, ibping, ibqueryerrors, sminfo
from ..._parse._fabric import tool_errors, unread
from ..machine.facts import Machine
from .facts import Answer, FabricFacts, not_asked

T = TypeVar("T")

# Statuses that say nothing against an answer: a counter above zero, or any of ibping's.
_FINE = {"ibqueryerrors": (0, 1)}
_ANY = ("ibping",)


class Query(Protocol):
    """What gives outputs by evidence name, or raises Unavailable."""

    def run(self, name: str, *args: str) -> Output:
        """The output of this name."""


def observe(evidence: Evidence, machine: Machine) -> FabricFacts:
    """What a bundle holds of the fabric; thousands of nodes must not each ask all of it."""
    if not evidence.recorded:
        return FabricFacts()
    return FabricFacts(
        links=answer(evidence, "iblinkinfo", iblinkinfo.parse, lambda entry: bool(entry.ports)),
        discovery=answer(evidence, "ibnetdiscover", ibnetdiscover.parse, lambda entry: bool(entry.nodes)),
        counters=answer(
            evidence,
            "ibqueryerrors",
            ibqueryerrors.parse,
            lambda entry: bool(entry.nodes) or entry.ports_checked is not None,
        ),
        hosts=answer(evidence, "ibhosts", ibhosts.parse, lambda entry: bool(entry.hosts)),
        sm=answer(evidence, "sminfo", sminfo.parse, lambda entry: True),
        ping=answer(evidence, "ibping", ibping.parse, lambda entry: True),
    )


def answer(
    evidence: Query, name: str, parse: Callable[[str], T], says_anything: Callable[[T], bool]
) -> Reading[Answer[T]]:
    """What one tool said, whether it is all, and why there is nothing where there is not."""
    try:
        output = evidence.run(name)
    except Unavailable as exc:
        return not_asked() if "not in the bundle" in exc.reason else Reading(None, str(exc))
    said = tool_errors(flat_lines(output.stderr), warnings=not output.stdout.strip())
    if not output.stdout.strip() and said:
        return Reading(Answer(None, said))
    try:
        facts = parse(output.stdout)
    except ParseError as exc:
        if exc.error_lines:
            return Reading(Answer(None, exc.error_lines))
        return Reading(None, f"{exc} (exit status {output.rc})")
    errors: tuple[str, ...] = getattr(facts, "error_lines", ()) + said
    if not says_anything(facts):
        return Reading(Answer(None, errors))
    return Reading(Answer(facts, errors, _incomplete(name, output, errors)))


def _incomplete(name: str, output: Output, errors: tuple[str, ...]) -> str:
    if not is_whole(output.stdout):
        return f"{name}: its output ends within a line"
    if unread(errors):
        return f"{name}: the text is cut: {unread(errors)}"
    if name in _ANY or (output.rc in _FINE.get(name, (0,)) and not errors):
        return ""
    last = f": {errors[-1]}" if errors else ""
    return f"{name} ended with status {output.rc}{last}"
