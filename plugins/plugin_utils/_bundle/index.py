# SPDX-License-Identifier: GPL-3.0-or-later
"""The signed index of one class's folder: a flat apt repository, or an rpm repository."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import gpg
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError
from ansible_collections.ibready.cluster.plugins.plugin_utils._files import PUBLIC, write_whole

APT_INDEXES = ("Packages", "Packages.gz")
SIGNED = {"apt": "InRelease", "dnf": "repodata/repomd.xml.asc"}


def write(folder: Path, kind: str, paragraphs: Sequence[str], key: str) -> None:
    """Write the index of the packages in a folder, and sign it; raises BundleError, OSError."""
    if kind == "apt":
        _apt(folder, paragraphs, key)
    else:
        _rpm(folder, key)


def holds(folder: Path, kind: str, public_key: bytes, key: str) -> bool:
    """Whether the index is there and has the key's signature."""
    signature = folder / SIGNED[kind]
    signed = None if kind == "apt" else signature.with_suffix("")
    return signature.is_file() and not gpg.why_not(public_key, key, signature, signed)


def release(indexes: dict[str, bytes], now: datetime) -> str:
    """The Release file of a flat repository. ``indexes``: name to content."""
    sums = "".join(
        f" {hashlib.sha256(indexes[name]).hexdigest()} {len(indexes[name])} {name}\n"
        for name in sorted(indexes)
    )
    return (
        "Origin: ibready bundle\nLabel: ibready bundle\nSuite: stable\n"
        f"Date: {now.strftime('%a, %d %b %Y %H:%M:%S UTC')}\n"
        f"Description: what one class of hosts needs, and nothing else\nSHA256:\n{sums}"
    )


def _apt(folder: Path, paragraphs: Sequence[str], key: str) -> None:
    plain = ("\n\n".join(paragraphs) + "\n").encode()
    indexes = {"Packages": plain, "Packages.gz": gzip.compress(plain, 6, mtime=0)}
    for name, data in indexes.items():
        write_whole(folder / name, data, PUBLIC)
    text = release(indexes, datetime.now(UTC)).encode()
    write_whole(folder / "Release", text, PUBLIC)
    write_whole(folder / "InRelease", gpg.clearsign(key, text), PUBLIC)


def _rpm(folder: Path, key: str) -> None:
    program = shutil.which("createrepo_c")
    if program is None:
        raise BundleError(
            "there is no createrepo_c on the controller, which writes the index of rpm packages; "
            "next: install it there (package createrepo_c or createrepo-c)"
        )
    shutil.rmtree(folder / "repodata", ignore_errors=True)
    done = subprocess.run(
        # gzip, which every dnf reads.
        [program, "--quiet", "--general-compress-type=gz", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BundleError(
            f"createrepo_c failed in {folder}: {' '.join(done.stderr.split())[:500]}; next: run it "
            "there by hand to see more"
        )
    index = folder / "repodata/repomd.xml"
    write_whole(index.with_name("repomd.xml.asc"), gpg.detached(key, index.read_bytes()), PUBLIC)
