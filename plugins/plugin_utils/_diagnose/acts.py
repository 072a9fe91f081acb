# SPDX-License-Identifier: GPL-3.0-or-later
"""What would mend a cause, host by host, for whoever is allowed to do it (playbooks/repair.yml)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from . import command
from .finding import Finding
from .parts import Parts
from .row import Fix

# The consents of a converge that a repair gives where its own allow the kind of act; every other variable of a command
# is the site's own choice.
CONSENTS = {
    "ibready_reboot_ok": "reboot",
    "ibready_fabric_restart_ok": "service",
    "ibready_replace_stack_ok": "packages",
}


@dataclass(frozen=True)
class Act:
    """One act on one host. ``words``: the program and its words, none for a converge. ``consents``: variables that
    allow a converge to disrupt. ``choices``: variables (name=value) whose value only the site can say."""

    host: str
    kind: str
    words: tuple[str, ...] = ()
    consents: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def of(fix: Fix, findings: Sequence[Finding], parts: Mapping[str, Parts]) -> list[Act]:
    """Every act once, in the findings' order; none where only hands mend it, or what it has to name is not known."""
    if not fix.mends:
        return []
    there = [finding for finding in findings if finding.host in parts]
    if fix.play:
        consents, choices = _variables(fix.play)
        made: Iterator[Act] = (Act(entry.host, fix.act, (), consents, choices) for entry in there)
    else:
        made = _commands(fix, there, parts)
    return list(dict.fromkeys(made))


def _commands(fix: Fix, findings: Sequence[Finding], parts: Mapping[str, Parts]) -> Iterator[Act]:
    for finding in findings:
        words = command.filled(fix.words, command.values(finding, parts[finding.host]))
        if words:
            yield Act(finding.host, fix.act, tuple(words))


def _variables(play: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    given = [value for option, value in pairwise(play) if option == "-e"]
    consents = tuple(name for name in CONSENTS if f"{name}=true" in given)
    return consents, tuple(entry for entry in given if entry.partition("=")[0] not in consents)
