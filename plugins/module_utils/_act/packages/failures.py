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


def following(failure: Failure, *texts: str) -> str:
    """What to do next; those that lack something, which mostly we hold, by their names."""
    named = [one.of for one in _told(*texts) if _LACKS in one.words and one.of]
    return failure.following.replace("{held}", " ".join(dict.fromkeys(named)) or "NAMES")


def said(*texts: str) -> str:
    """What failed, or the last lines, in one line of at most a thousand characters."""
    told = [one.words if one.of in one.words else f"{one.of}: {one.words}" for one in _told(*texts)]
    # The package manager repeats itself.
    return " | ".join(dict.fromkeys(told or _lines(*texts)[-8:]))[:1000]


def _told(*texts: str) -> list[forms.Failed]:
    return forms.read(_lines(*texts)[-forms.LINES :])


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
    failure = first("\n".join(texts))
    if failure:
        return PackageError(
            failure.kind, f"{doing} failed: {failure.cause}", following(failure, *texts), said(*texts), changed=changed
        )
    known = (forms.meaning(one.form, one.tool, one.words) for one in _told(*texts))
    cause, step = next((each for each in known if each[0]), ("", ""))
    return PackageError(
        "failed",
        f"{doing} failed{f': {cause}' if cause else ''}",
        step or "read what it said, and run the same by hand on the host to see more",
        said(*texts) or "nothing",
        changed=changed,
    )
