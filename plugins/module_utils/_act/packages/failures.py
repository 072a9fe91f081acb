# SPDX-License-Identifier: GPL-3.0-or-later
"""What package managers said when they failed, and the error that tells what it means."""

from __future__ import annotations

import re
from typing import Sequence

from ..._data.package_failures import FAILURES, Failure
from .model import PackageError

# A package whose dependencies are not met, as apt lists it.
_LACKS = re.compile(r"^ *([a-z0-9][a-z0-9+.:-]*) : (?:Pre)?Depends:", re.MULTILINE)


def following(failure: Failure, *texts: str) -> str:
    """What to do next; those that lack something, which mostly we hold, by their names."""
    named = [name for text in texts for name in _LACKS.findall(text)]
    return failure.following.replace("{held}", " ".join(dict.fromkeys(named)) or "NAMES")


def said(*texts: str) -> str:
    """The lines that tell something, in one line of at most a thousand characters."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    telling = [
        line
        for above, line in zip(["", *lines], lines)
        if line.startswith(("E: ", "W: ", "Err:", "Error", "dpkg: error", "error:", "Problem"))
        # dpkg names the package, and says in the next line why.
        or (above.startswith("dpkg: error") and above.endswith(":"))
    ]
    # The package manager repeats itself.
    chosen = list(dict.fromkeys(telling or lines[-8:]))
    return " ".join(chosen)[:1000]


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
    return PackageError(
        "failed",
        f"{doing} failed",
        "read what it said, and run the same by hand on the host to see more",
        said(*texts) or "nothing",
        changed=changed,
    )
