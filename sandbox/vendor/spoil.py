# SPDX-License-Identifier: GPL-3.0-or-later
"""Spoil the simulated vendor repositories of a running sandbox, in the ways that real ones break.

``repository`` is the beginning of a repository's path (``doca``, ``cuda``, ``doca/3.2.3``), and
everything below it is spoilt. ``sandboxed.refresh`` puts all of it back.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.config import Sandbox
from sandbox.errors import SandboxError
from sandbox.vendor import apt_repository, catalog, publish, repack, rpm_repository
from sandbox.vendor.catalog import Repository
from sandbox.vendor.sandboxed import kind
from sandbox.vendor.signing import FOREIGN, keyring


def repositories(box: Sandbox, repository: str) -> list[Repository]:
    """Return the repositories whose path begins so; SandboxError where none does."""
    whole = catalog.load(kind(box))
    found = [part for part in whole if f"{part.path}/".startswith(f"{repository.rstrip('/')}/")]
    if not found:
        known = ", ".join(part.path for part in whole)
        raise SandboxError(f"there is no simulated repository {repository!r}: known are {known}")
    return found


def foreign_key(box: Sandbox, repository: str) -> None:
    """Sign by another vendor's key; the public key that lies beside it stays the vendor's."""
    with keyring(box.vendor_keys) as ring:
        key = ring.keys()[FOREIGN]
        for entry in repositories(box, repository):
            publish.sign(entry, box.vendor, ring, key)


def wrong_checksum(box: Sandbox, repository: str, package: str) -> None:
    """Change a byte of each file of a package (a name, * and ? allowed), as a bad mirror would."""
    for entry in repositories(box, repository):
        for file in _files(box, entry, package):
            data = bytearray(file.read_bytes())
            data[-1] ^= 0xFF
            _replace(file, bytes(data))


def vanish(box: Sandbox, repository: str, package: str, version: str) -> None:
    """Take the packages of a name whose version begins so out of the repository and its index."""
    with keyring(box.vendor_keys) as ring:
        keys = ring.keys()
        for entry in repositories(box, repository):
            for file in _files(box, entry, package, version):
                file.unlink()
            folder = box.vendor / entry.path
            if entry.kind == "rpm":
                rpm_repository.sign_index(folder, ring, keys[entry.signer])
                continue
            paragraphs = (folder / "Packages").read_text().split("\n\n")
            left = [
                text.strip() + "\n"
                for text in paragraphs
                if text.strip() and (folder / repack.fields(text)["Filename"]).exists()
            ]
            apt_repository.write_index(folder, left)
            apt_repository.sign(folder, entry.label, ring, keys[entry.signer])


def truncate_index(box: Sandbox, repository: str) -> None:
    """Leave half of the index, as a mirror does that was interrupted."""
    for entry in repositories(box, repository):
        folder = box.vendor / entry.path
        names = ["Packages", "Packages.gz"] if entry.kind == "deb" else ["repodata/*primary*"]
        for file in [file for name in names for file in folder.glob(name)]:
            data = file.read_bytes()
            _replace(file, data[: len(data) // 2])


ACTS: dict[str, Callable[..., None]] = {
    "foreign_key": foreign_key,
    "wrong_checksum": wrong_checksum,
    "vanish": vanish,
    "truncate_index": truncate_index,
}


def perform(box: Sandbox, act: str, **settings: Any) -> None:
    """Carry out one act by name; `settings` are its arguments."""
    if act not in ACTS:
        raise SandboxError(f"there is no act {act!r} on a repository: known are {', '.join(ACTS)}")
    ACTS[act](box, **settings)


def _files(box: Sandbox, repository: Repository, package: str, version: str = "") -> list[Path]:
    """Return the files of the packages of a name; SandboxError where there is none."""
    chosen = {
        (entry.name, entry.version)
        for entry in repository.packages
        if fnmatch.fnmatchcase(entry.name, package) and (entry.version.rpartition(":")[2] + "-").startswith(version)
    }
    found: list[Path] = []
    for name, whole in sorted(chosen):
        pattern = {"deb": "{}_{}_*.deb", "rpm": "{}-{}.*.rpm"}[repository.kind]
        found += (box.vendor / repository.path).glob(pattern.format(name, whole.rpartition(":")[2]))
    if not found:
        raise SandboxError(f"{repository.path} has no package {package} {version}".rstrip())
    return found


def _replace(file: Path, data: bytes) -> None:
    """Exchange a file's content at once: whoever is reading it reads the old one to the end."""
    fresh = file.with_name(file.name + ".new")
    fresh.write_bytes(data)
    fresh.replace(file)
