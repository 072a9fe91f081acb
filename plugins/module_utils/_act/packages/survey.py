# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host has of the parts that are asked for: packages, files, keys, built modules."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Sequence

from ..._parse.dkms_status import DkmsModule
from ..._parse.packages import is_of_a_kernel
from . import choose, dkms, files, kernels, keyring, ledger, openpgp
from .files import File
from .manager import Manager
from .model import Installed, Part, Repository, matches


@dataclass(frozen=True)
class Order:
    """What is asked. ``absent``: names of parts that are to go, with all that they brought. ``stay``: names (globs) of
    what is not to be touched. ``hold_kernel``: whether the kernel stays while a part has modules for it; None leaves it
    as it is."""

    repositories: tuple[Repository, ...]
    parts: tuple[Part, ...]
    absent: tuple[str, ...] = ()
    replace_ok: bool = False
    hold_kernel: bool | None = None
    forbid: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()
    lock_timeout: float = 120
    min_free_mb: int = 300
    kernel: str = field(default_factory=lambda: os.uname().release)


class Survey:
    """One host as it is. `packages` is what is installed, or would be in check mode."""

    def __init__(self, manager: Manager, order: Order) -> None:
        self.manager = manager
        self.order = order
        self.gone = tuple(Part(name, ()) for name in order.absent)
        self.parts = (*order.parts, *self.gone)
        names = {*ledger.names(manager.root), *(part.name for part in self.parts), kernels.LEDGER}
        self.ledgers = {name: ledger.load(manager.root, name) for name in names}
        self.packages: dict[str, Installed] = {}

    def look(self) -> None:
        self.packages = self.manager.installed()

    def place(self, path: str) -> str:
        return os.path.join(self.manager.root, path.lstrip("/"))

    def kept_keys(self) -> dict[str, bytes | None]:
        """The keyrings that are right as they lie there, by the repository's name."""
        found: dict[str, bytes | None] = {}
        for repository in self.order.repositories:
            path = self.place(self.manager.key_path(repository.name))
            found[repository.name] = keyring.kept(path, repository)
        return found

    def pending(self, keys: dict[str, bytes | None]) -> list[File]:
        wanted = [
            File(self.manager.key_path(name), self.manager.key_data(packets))
            for name, packets in keys.items()
            if packets is not None
        ]
        wanted += self.manager.files(self.order.repositories, [*self.order.parts, *self.gone])
        return [file for file in wanted if files.read(self.place(file.path)) != file.data]

    def unsettled(self) -> bool:
        """Whether packages have to be looked for at all; most visits end without."""
        have = self.packages
        if self.manager.helpers():
            return True
        for part in self.order.parts:
            if not all(choose.is_as_wanted(package, have.get(package.name)) for package in part.packages):
                return True
            if self.lost(part) or self.conflicting(part) or choose.strays(part, have, self.others(part)):
                return True
            if self.unbuilt(part) and not dkms.headers(self.manager.root, self.order.kernel):
                return True
        return any(name in have and have[name].whole for part in self.gone for name in self.book(part).brought)

    def conflicting(self, part: Part) -> list[str]:
        """What is in the way; what the part brought is, too, once something else is asked."""
        asked = {package.name for package in part.packages}
        return choose.conflicting(part, self.packages, self.book(part).of(asked))

    def book(self, part: Part) -> ledger.Ledger:
        return self.ledgers.get(part.name, ledger.Ledger())

    def lost(self, part: Part) -> list[str]:
        """What the part brought or holds for what is asked, and is not there any more."""
        book = self.book(part)
        if book.begun or set(book.wanted) != {package.name for package in part.packages}:
            return []
        return sorted(
            name for name in {*book.packages, *book.holds} if name not in self.packages and not is_of_a_kernel(name)
        )

    def others(self, part: Part) -> set[str]:
        """Names that other parts brought, and those that are not to be touched."""
        stay = {name for name in self.packages if self.stays(name)}
        return stay | {name for other, book in self.ledgers.items() if other != part.name for name in book.brought}

    def stays(self, name: str) -> bool:
        """Whether a package is of a part that stays as it was found, and of none that is asked for."""
        asked = (package.name for part in self.order.parts for package in part.packages)
        return matches(name, self.order.stay) and name not in asked

    def brought(self) -> list[str]:
        parts = [*self.order.parts, *self.gone]
        return sorted({name for part in parts for name in self.book(part).brought})

    def owner(self, name: str) -> bool:
        return any(part.owns(name) for part in self.order.parts)

    def unbuilt(self, part: Part) -> tuple[DkmsModule, ...]:
        """What DKMS has not built for the running kernel, of the part's packages."""
        owned = [name for name in self.packages if dkms.is_dkms(name) and part.owns(name)]
        listed = [path for name in owned for path in self.manager.owned(name)]
        modules = dkms.sources(self.manager.root, listed)
        return dkms.unbuilt(self.manager.root, modules, self.order.kernel)

    def kernel(self) -> set[str]:
        """The packages of the kernel that are to be held: none without modules of a part that is held."""
        if not self.order.hold_kernel:
            return set()
        gone = {part.name for part in self.gone}
        ours = {name for other, book in self.ledgers.items() if other not in gone for name in book.holds}
        ours |= {name for part in self.order.parts if part.hold for name in self.packages if part.owns(name)}
        if not any(kernels.has_modules(name) for name in ours & set(self.packages)):
            return set()
        return {name for name in self.packages if self.manager.kernels.fullmatch(name)}

    def write(self, part: Part, book: ledger.Ledger) -> None:
        """Write the part's ledger where it changed."""
        if book != self.book(part):
            files.put(ledger.path(self.manager.root, part.name), ledger.text(book))
            self.ledgers[part.name] = book

    def forget(self, part: Part) -> None:
        """Remove the ledger of a part that is gone."""
        files.put(ledger.path(self.manager.root, part.name), None)
        self.ledgers.pop(part.name, None)

    def shown(self, pending: Sequence[File]) -> list[dict[str, str]]:
        """Files as they are and as they will be, for people."""
        return [
            {
                "path": file.path,
                "before": _shown(files.read(self.place(file.path))),
                "after": _shown(file.data),
            }
            for file in pending
        ]


def _shown(data: bytes | None) -> str:
    """A file's text for people; a keyring as the fingerprints of its keys."""
    if data is None:
        return ""
    try:
        text = data.decode("ascii")
        if not text.startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----"):
            return text
    except UnicodeDecodeError:
        pass
    try:
        return "".join(f"public key {fingerprint}\n" for fingerprint in openpgp.fingerprints(data))
    except openpgp.KeyFileError:
        return f"{len(data)} bytes\n"
