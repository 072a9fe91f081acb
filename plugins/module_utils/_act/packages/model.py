# SPDX-License-Identifier: GPL-3.0-or-later
"""What a part of the plan asks of a package manager, and what the manager would do for it."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import Callable, Iterable, Mapping

APT = "apt"
DNF = "dnf"


class PackageError(Exception):
    """Why packages are not as asked: the cause, the next step, and what the tools said.

    ``kind`` is one word for programs: held, conflict, disk, lock, key, checksum, unreachable,
    version, headers, dkms, forbidden, broken, input, mixture, failed. ``changed``: the host is no
    longer as it was.
    """

    def __init__(self, kind: str, cause: str, following: str, said: str = "", *, changed: bool = False) -> None:
        super().__init__(kind, cause)
        self.kind = kind
        self.cause = cause
        self.following = following
        self.said = said
        self.changed = changed

    def __str__(self) -> str:
        fate = "" if self.changed else " Nothing was changed."
        said = f" The package manager said: {self.said}" if self.said else ""
        return f"{self.cause}.{fate} Next: {self.following}.{said}"


@dataclass(frozen=True)
class Repository:
    """One package repository and the only keys that may sign it (``fingerprints``: 40 hex).

    ``key``: the address of their file, "" where ``public_key`` is the armored key itself.
    ``alone``: while the plan's packages are brought, no repository but the plan's is asked.
    """

    name: str
    kind: str
    url: str
    key: str
    fingerprints: tuple[str, ...]
    suite: str = "./"
    components: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gpgcheck: bool = True
    repo_gpgcheck: bool = True
    alone: bool = False
    public_key: str = ""


@dataclass(frozen=True)
class Wanted:
    """A package to be there; ``version`` is a beginning of it, or "" for whatever there is."""

    name: str
    version: str = ""


@dataclass(frozen=True)
class Pin:
    """Names (globs) that a part owns, and the version that all of them must be of ("": open)."""

    names: tuple[str, ...]
    version: str = ""


@dataclass(frozen=True)
class Part:
    """One part of the plan's ``install.parts``; ``hold``: upgrades must not move its packages."""

    name: str
    packages: tuple[Wanted, ...]
    pins: tuple[Pin, ...] = ()
    conflicts: tuple[str, ...] = ()
    stream: str = ""
    hold: bool = True

    def owns(self, name: str) -> bool:
        """Whether a package of this name belongs to the part."""
        return any(package.name == name for package in self.packages) or any(
            matches(name, pin.names) for pin in self.pins
        )


@dataclass(frozen=True)
class Installed:
    """A package of the host: ``whole`` is False where its installation never ended.

    ``torn``: it ended among the files; nothing but unpacking them again makes it whole.
    """

    name: str
    version: str
    arch: str = ""
    whole: bool = True
    held: bool = False
    torn: bool = False


@dataclass(frozen=True)
class Change:
    """One package of a transaction; ``before`` or ``after`` is "" where it is not installed."""

    name: str
    before: str
    after: str
    arch: str = ""
    downgrade: bool = False

    @property
    def act(self) -> str:
        """One of installed, upgraded, downgraded, removed, reinstalled."""
        if not self.after:
            return "removed"
        if not self.before:
            return "installed"
        if self.before == self.after:
            return "reinstalled"
        return "downgraded" if self.downgrade else "upgraded"


@dataclass(frozen=True)
class Transaction:
    """What the package manager would do; sizes in bytes."""

    changes: tuple[Change, ...] = ()
    download: int = 0
    unpacked: int = 0


@dataclass(frozen=True)
class Request:
    """What the package manager is asked for: exact versions ("" where it is open)."""

    install: tuple[Wanted, ...] = ()
    remove: tuple[str, ...] = ()
    # Versions that must not be taken, as name-[epoch:]version-release; dnf only.
    exclude: tuple[str, ...] = ()


@dataclass
class Outcome:
    """What one visit did, or in check mode would do."""

    changes: list[Change] = field(default_factory=list)
    files: list[dict[str, str]] = field(default_factory=list)  # path, before, after
    held: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    holds_in: str = ""  # the file that holds are kept in

    @property
    def changed(self) -> bool:
        return bool(self.changes or self.files or self.held or self.released or self.repaired)


def matches(name: str, globs: Iterable[str]) -> bool:
    """Whether the name fits one of the globs."""
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def between(
    before: Mapping[str, Installed],
    after: Mapping[str, Installed],
    older: Callable[[str, str], bool],
) -> list[Change]:
    """One change for each package whose version differs, by name."""
    found = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            if old.version != new.version:
                down = older(new.version, old.version)
                found.append(Change(name, old.version, new.version, new.arch, down))
        elif new is not None:
            found.append(Change(name, "", new.version, new.arch))
        elif old is not None:
            found.append(Change(name, old.version, "", old.arch))
    return found
