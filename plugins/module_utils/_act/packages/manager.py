# SPDX-License-Identifier: GPL-3.0-or-later
"""What `bring` needs of a package manager, whichever it is."""

from __future__ import annotations

import re
from typing import Iterable, Protocol, Sequence

from .files import File
from .model import Change, Installed, Part, Repository, Request, Transaction, Wanted


class Manager(Protocol):
    """apt or dnf. Every failure is a PackageError."""

    root: str
    # Where packages are kept between their download and their installation.
    cache: str
    # The file that holds are kept in, where they are a file's.
    holds_in: str
    # The names of packages that bring the kernel.
    kernels: re.Pattern[str]
    # Whether the repositories are those of the site rather than of the plan.
    site: bool

    def key_path(self, repository: str) -> str:
        """Where the repository's keyring lies."""

    def key_data(self, packets: bytes) -> bytes:
        """The keyring's content for these OpenPGP packets."""

    def files(self, repositories: Sequence[Repository], parts: Sequence[Part]) -> list[File]:
        """All files but keyrings, as they are to be; those of ours that are to go, too."""

    def damage(self) -> list[str]:
        """What an interrupted transaction left, one phrase each."""

    def repair(self, ours: Sequence[Part]) -> list[str]:
        """Mend that; what was done, one phrase each."""

    def installed(self) -> dict[str, Installed]:
        """Every package of the host by name (its own architecture before others)."""

    def look(self, repositories: Sequence[Repository], keys: dict[str, bytes], parts: Sequence[Part]) -> list[str]:
        """Fetch the indexes without changing the host; warnings about the host's own ones."""

    def versions(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """What the repositories have of names or globs, best first."""

    def offered(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The same, of the plan's own repositories only."""

    def request(self, parts: Sequence[Part], install: Sequence[Wanted], remove: Sequence[str]) -> Request:
        """Complete a request by what the parts' pins forbid."""

    def simulate(self, request: Request) -> Transaction:
        """What would happen."""

    def leftovers(self, request: Request, brought: Sequence[str]) -> list[str]:
        """Those packages of ours that nothing would need any more."""

    def wait(self, timeout: float) -> None:
        """Until nobody else changes packages."""

    def fetch(self, request: Request) -> None:
        """Download and check all that the request needs."""

    def apply(self, request: Request, timeout: float) -> None:
        """Do it."""

    def close(self) -> None:
        """Remove what `look` fetched."""

    def owned(self, package: str) -> list[str]:
        """The files of an installed package."""

    def helpers(self) -> list[str]:
        """Packages that the package manager itself needs for holds, and lacks."""

    def headers(self, kernel: str) -> tuple[str, Wanted | None]:
        """What the headers of a kernel are called, and the package if a repository has it."""

    def held(self) -> set[str]:
        """Names of the packages that are held."""

    def hold(self, parts: Sequence[Part], add: Sequence[str], drop: Sequence[str]) -> None:
        """Hold and release packages."""

    def acquaint(self, repositories: Sequence[Repository], *, anew: bool) -> list[str]:
        """Have the host's own commands know the checked keys; warnings where they do not.

        ``anew``: keys or repositories are others than before.
        """

    def changes_between(self, before: dict[str, Installed], after: dict[str, Installed]) -> list[Change]:
        """What really happened."""
