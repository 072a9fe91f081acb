# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat apt repositories: the Packages index, the Release file, and its signatures."""

from __future__ import annotations

import gzip
import hashlib
from datetime import UTC, datetime
from pathlib import Path

from sandbox.vendor.signing import Key, Keyring

INDEXES = ("Packages", "Packages.gz")


def paragraph(control: str, file: Path, name: str | None = None) -> str:
    """Return a package's paragraph of the index."""
    data = file.read_bytes()
    return (
        f"{control.rstrip()}\nFilename: ./{name or file.name}\nSize: {len(data)}\n"
        f"SHA256: {hashlib.sha256(data).hexdigest()}\n"
    )


def write_index(folder: Path, paragraphs: list[str]) -> None:
    """Write Packages, plain and compressed."""
    text = "\n".join(paragraphs).encode()
    (folder / "Packages").write_bytes(text)
    (folder / "Packages.gz").write_bytes(gzip.compress(text, 6, mtime=0))


def release(folder: Path, label: str) -> str:
    """Return the Release file of a flat repository, dated now."""
    now = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S UTC")
    sums = "".join(
        f" {hashlib.sha256((folder / name).read_bytes()).hexdigest()} {(folder / name).stat().st_size} {name}\n"
        for name in INDEXES
    )
    return (
        f"Origin: {label}\nLabel: {label}\nSuite: stable\nDate: {now}\n"
        f"Architectures: amd64\nDescription: SIMULATED by ibready's sandbox\nSHA256:\n{sums}"
    )


def sign(folder: Path, label: str, ring: Keyring, key: Key) -> None:
    """Write Release, InRelease and Release.gpg."""
    text = release(folder, label).encode()
    (folder / "Release").write_bytes(text)
    (folder / "InRelease").write_bytes(ring.clearsign(key, text))
    (folder / "Release.gpg").write_bytes(ring.detached(key, text))
