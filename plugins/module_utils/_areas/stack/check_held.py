# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether packages that ibready holds, and repositories that it wrote, are as it left them."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, outcome, skipped, unknown
from ..._ground.look import look
from ..._ground.text import few
from .facts import Brought, Held, OurFiles, StackFacts

_ID = "stack.packages.held"
_BROUGHT = "stack.packages.brought"
_FILES = "stack.files.ours"
_REPOSITORIES = "stack.packages.repositories"
_EXPECTED = "held, as site.yml left them"
_WHOLE = "one address, and the key that must sign"
_SHOWN = 4


def judge(facts: StackFacts) -> Iterator[Check]:
    """stack.packages.held, .brought and .repositories, and stack.files.ours."""
    yield look(_ID, "host", facts.held, _judge, missing=lambda: skipped(_ID, "host", facts.held.why))
    yield look(_BROUGHT, "host", facts.brought, _there, missing=lambda: skipped(_BROUGHT, "host", facts.brought.why))
    files = facts.files_of_ours
    yield look(_FILES, "host", files, _files, missing=lambda: skipped(_FILES, "host", files.why))
    found = facts.repositories
    if found.value is None:
        yield (skipped if found.missing else unknown)(_REPOSITORIES, "host", found.why or "nobody looked")
    for one in found.value or ():
        if one.unknown:
            yield unknown(_REPOSITORIES, one.path, one.unknown)
        else:
            yield outcome(not one.wrong, _REPOSITORIES, one.path, one.wrong or "whole", _WHOLE, CAPABILITY)


def _judge(held: Held) -> Check:
    if not held.loose:
        return outcome(True, _ID, "host", f"{held.count} packages", _EXPECTED, CAPABILITY)
    observed = f"{len(held.loose)} of {held.count} are not: {few(held.loose, _SHOWN)}"
    return outcome(False, _ID, "host", observed, _EXPECTED, CAPABILITY)


def _there(brought: Brought) -> Check:
    expected = "installed, as site.yml left them"
    if not brought.gone:
        return outcome(True, _BROUGHT, "host", f"{brought.count} packages", expected, CAPABILITY)
    observed = f"{len(brought.gone)} of {brought.count} are gone: {few(brought.gone, _SHOWN)}"
    return outcome(False, _BROUGHT, "host", observed, expected, CAPABILITY)


def _files(ours: OurFiles) -> Check:
    expected = "files, as site.yml wrote them"
    observed = few(ours.wrong, _SHOWN, "; ") or f"{ours.count} files"
    return outcome(not ours.wrong, _FILES, "host", observed, expected, CAPABILITY)
