# SPDX-License-Identifier: GPL-3.0-or-later
"""Which package files a bare host would need for a whole plan, found without changing this one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, Sequence

from . import choose, dkms, keyring, ledger, refuse
from .manager import Manager
from .model import Part, Repository, Request, Wanted


@dataclass(frozen=True)
class PackageFile:
    """One file as the signed index of its repository states it.

    ``size``: bytes; ``sha256``: 64 hex digits; ``index``: its paragraph for an apt index, "" for
    rpm.
    """

    name: str
    version: str
    file: str
    address: str
    size: int
    sha256: str
    index: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Seeker(Manager, Protocol):
    """A package manager that looks at the host as if it had fewer packages."""

    def listed(self, request: Request) -> list[PackageFile]:
        """The files that the request would have to download."""

    def bring(self, wanted: Sequence[PackageFile], folder: str) -> None:
        """Download them, checked against the index's sums."""


@dataclass(frozen=True)
class Search:
    """``kernels``: running kernels that modules are to be built for."""

    repositories: tuple[Repository, ...]
    parts: tuple[Part, ...]
    kernels: tuple[str, ...]


def request(manager: Seeker, search: Search, fetch: keyring.Fetch) -> Request:
    """What a bare host is asked for all parts at once; leaves the manager's view open.

    Raises PackageError, as the installation would.
    """
    keys = {repository.name: keyring.fetched(repository, fetch) for repository in search.repositories}
    manager.look(search.repositories, keys, search.parts)
    have = manager.installed()
    install: list[Wanted] = []
    remove: list[str] = []
    parts = (*search.parts, Part("helpers", tuple(map(Wanted, manager.helpers()))))
    # Asked once: with a distribution's lists, each question takes seconds.
    named = {package.name for part in parts for package in part.packages}
    strays = {stray.name for part in parts for stray in choose.strays(part, have, ())}
    offered = manager.versions([*named, *strays])
    for part in parts:
        picked, _warnings = choose.pick(part, have, (), lambda _names: offered)
        install += [entry for entry in picked if entry not in install]
        remove += choose.conflicting(part, have)
    asked = manager.request(search.parts, install, list(dict.fromkeys(remove)))
    found = manager.simulate(asked)
    builds = [change.name for change in found.changes if change.after and dkms.is_dkms(change.name)]
    if not builds:
        return asked
    for kernel in search.kernels:
        called, package = manager.headers(kernel)
        if package is None:
            raise refuse.headers(called, kernel, builds[0])
        if package not in install:
            install.append(package)
    return manager.request(search.parts, install, list(asked.remove))


def had(manager: Manager) -> dict[str, Any]:
    """The packages of this host, and which of them ibready brought."""
    brought = {name for part in ledger.names(manager.root) for name in ledger.load(manager.root, part).brought}
    return {
        "packages": {name: entry.version for name, entry in manager.installed().items()},
        "brought": sorted(brought),
    }
