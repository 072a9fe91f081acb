# SPDX-License-Identifier: GPL-3.0-or-later
"""What a snapshot needs of a package manager, beyond what `_packages.manager` has."""

from __future__ import annotations

from typing import Collection, Mapping, Protocol, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Part,
    Request,
    Transaction,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.model import (
    Package,
    Packages,
)


class Pool(Protocol):
    """apt or dnf, as `SnapshotApt` and `SnapshotDnf` are. Every failure is a PackageError."""

    root: str
    cache: str

    def packages(self) -> Packages:
        """What the package database says now."""

    def plain(self, package: Package) -> str:
        """The name without an architecture."""

    def wanted(self, package: Package) -> Wanted:
        """The package in exactly this version and architecture, to be installed."""

    def unwanted(self, package: Package) -> str:
        """Exactly this package, to be removed."""

    def look_at(self, kept: Mapping[str, bytes]) -> list[str]:
        """Fetch the indexes as if these were the files of repositories; what went wrong."""

    def versions(self, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """What the repositories have of these names."""

    def simulate(self, request: Request) -> Transaction: ...

    def fetch(self, request: Request) -> None: ...

    def apply(self, request: Request, timeout: float) -> None: ...

    def wait(self, timeout: float) -> None: ...

    def damage(self) -> list[str]: ...

    def repair(self, ours: Sequence[Part]) -> list[str]: ...

    def owned(self, package: str) -> list[str]: ...

    def purge(self, residue: Sequence[str]) -> None:
        """Remove what removed packages left (`Packages.residue`)."""

    def mark(self, automatic: Sequence[str], manual: Sequence[str]) -> None:
        """Say which packages were brought as dependencies, and which were asked for."""

    def hold_names(self, add: Sequence[str], drop: Sequence[str]) -> None:
        """Hold and release packages by name."""

    def close(self) -> None: ...
