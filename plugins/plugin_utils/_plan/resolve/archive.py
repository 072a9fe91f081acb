# SPDX-License-Identifier: GPL-3.0-or-later
"""Which drivers a distribution's own archive has: as the host's package lists say, else as the matrix does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..matrix.model import Matrix
from .platform import Platform


@dataclass(frozen=True)
class Driver:
    """A driver that the archive has. ``seen``: the host's own lists have it. ``signed``: with a key
    that the kernel trusts under Secure Boot."""

    branch: str
    release: str
    modules: str
    seen: bool
    signed: bool


def names(matrix: Matrix) -> list[str]:
    """The packages by whose versions an archive tells which drivers it has."""
    found = [name for fact in matrix.all("drivers.archives").values() for name in fact.get("packages").values()]
    return sorted(set(found))


def drivers(host: Platform, matrix: Matrix) -> Iterator[Driver]:
    """All that this host's archive has; what its lists do not name may be in a part of it that is switched off."""
    for fact in matrix.all("drivers.archives").values():
        if not fnmatchcase(host.system, fact.get("system")):
            continue
        for modules, package in fact.get("packages").items():
            offered = [release(text) for text in host.offered.get(package, ())]
            # A package of this name may be of another vendor's repository, and of another branch.
            mine = [text for text in dict.fromkeys(offered) if text.partition(".")[0] == fact.get("branch")]
            known = [fact.get("release")] if fact.get("release") and not mine else []
            for text in mine or known:
                yield Driver(fact.get("branch"), text, modules, bool(mine), fact.get("signed"))


def release(version: str) -> str:
    """The driver's own number in a package's: 550.163.01 of 550.163.01-2, or of 1:550.163.01-0ubuntu1."""
    upstream = version.partition(":")[2] or version
    return upstream.partition("-")[0]
