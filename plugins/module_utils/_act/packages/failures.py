# SPDX-License-Identifier: GPL-3.0-or-later
"""What package managers said when they failed, and the error that tells what it means."""

from __future__ import annotations

import re
from typing import Sequence

from ..._data.package_failures import FAILURES, Failure
from ..._parse import failures as forms
from .model import PackageError

# What a package manager says of what it lacks.
_LACKS = "Depends: "


def said(*texts: str) -> str:
    """What failed, or the last lines, in one line of at most a thousand characters."""
    lines = _lines(*texts)
    return _shown(_read(lines), lines)


def _read(lines: Sequence[str]) -> list[forms.Failed]:
    return forms.read(lines[-forms.LINES :])


def _shown(read: Sequence[forms.Failed], lines: Sequence[str]) -> str:
    told = [one.words if one.of in one.words else f"{one.of}: {one.words}" for one in read]
    # The package manager repeats itself.
    return " | ".join(dict.fromkeys(told or lines[-8:]))[:1000]


def _following(failure: Failure, read: Sequence[forms.Failed]) -> str:
    """What to do next; those that lack something, which mostly we hold, by their names."""
    named = [one.of for one in read if _LACKS in one.words and one.of]
    return failure.following.replace("{held}", " ".join(dict.fromkeys(named)) or "NAMES")


def _lines(*texts: str) -> list[str]:
    return [line for text in texts for line in text.splitlines() if line.strip()]


def beside(error: PackageError, unread: Sequence[str]) -> PackageError:
    """The error, and the host's other repositories that could not be read: mostly its cause."""
    if not unread:
        return error
    return PackageError(
        error.kind,
        f"{error.cause}; and a repository of the host's own cannot be read: {unread[0]}",
        f"fix that repository first, or take it away; then, if it still fails, {error.following}",
        error.said,
        changed=error.changed,
    )


def first(words: str) -> Failure | None:
    """The first failure that these words tell of."""
    return next((entry for entry in FAILURES if re.search("|".join(entry.patterns), words)), None)


def of_build(*texts: str) -> bool:
    """Whether a kernel module that DKMS could not build is what failed."""
    failure = first("\n".join(texts))
    return failure is not None and failure.kind == "dkms"


def unreadable(*texts: str) -> bool:
    """Whether the package manager cannot even read where its repositories are."""
    failure = first("\n".join(texts))
    return failure is not None and failure.kind == "sources"


def explain(*texts: str, doing: str, changed: bool = False) -> PackageError:
    """The error for output of a package manager that failed at ``doing`` something."""
    failure, lines = first("\n".join(texts)), _lines(*texts)
    read = _read(lines)
    shown = _shown(read, lines)
    if failure:
        following = _following(failure, read)
        return PackageError(failure.kind, f"{doing} failed: {failure.cause}", following, shown, changed=changed)
    known = (forms.meaning(one.form, one.tool, one.words) for one in read)
    cause, step = next((each for each in known if each[0]), ("", ""))
    return PackageError(
        "failed",
        f"{doing} failed{f': {cause}' if cause else ''}",
        step or "read what it said, and run the same by hand on the host to see more",
        shown or "nothing",
        changed=changed,
    )
