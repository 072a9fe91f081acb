# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish a bundle on the controller: indexes, manifest, sums, signatures."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from .._ground.files import PUBLIC, write_whole
from . import gpg, layout, sums
from .layout import BundleError, Class, Manifest

SIGNED = {"apt": "InRelease", "dnf": "repodata/repomd.xml.asc"}


@dataclass(frozen=True)
class Fetched:
    """One class as it was fetched; ``paragraphs``: of its packages, for an apt index.

    ``sums``: file name to the SHA256 that the vendor's signed index states.
    """

    described: Class
    paragraphs: tuple[str, ...]
    sums: Mapping[str, str]


def finish(
    home: Path,
    key: str,
    fetched: Mapping[str, Fetched],
    beside: Sequence[Path],
    now: str,
    made_by: str,
    simulated: str,
) -> list[str]:
    """Write what is not yet so, and return its paths; raises BundleError, OSError.

    ``beside``: the lock and the bill of materials. Classes that were not fetched now stay.
    """
    public = gpg.public(key)
    old = _old(home)
    current = _verified(home, public, key)
    written: list[str] = []
    measured: dict[str, str] = {}
    for name, item in fetched.items():
        folder = home / name
        reported = sums.of(folder, item.sums)
        wrong = [file for file, digest in reported.items() if digest != item.sums[file]]
        if wrong:
            raise BundleError(
                f"{folder / wrong[0]} is not the file that the repository's signed index promises; "
                "next: remove it and run this again"
            )
        measured.update({f"{name}/{file}": digest for file, digest in reported.items()})
        before = old.classes.get(name) if old else None
        same = before is not None and before.packages == item.described.packages and current
        if not (same and _holds(folder, item.described.kind, public, key)):
            write_index(folder, item.described.kind, item.paragraphs, key)
            written.append(f"{name}/{SIGNED[item.described.kind]}")
    classes = dict(old.classes) if old else {}
    classes = {name: kind for name, kind in classes.items() if (home / name).is_dir()}
    classes |= {name: entry.described for name, entry in fetched.items()}
    made = Manifest(now, made_by, simulated, classes)
    if old is not None and replace(made, created=old.created) == old:
        made = old
    contents = {path.name: path.read_bytes() for path in beside if path.is_file()}
    contents |= {layout.KEY: public, layout.MANIFEST: made.text().encode()}
    written += [name for name, data in contents.items() if _write(home / name, data)]
    names = sums.files(home)
    text = layout.sums_text({**sums.of(home, (n for n in names if n not in measured)), **measured})
    if _write(home / layout.SUMS, text.encode()) or not _verified(home, public, key):
        write_whole(home / layout.SIGNATURE, gpg.detached(key, text.encode()), PUBLIC)
        written += [layout.SUMS, layout.SIGNATURE]
    return written


def _old(home: Path) -> Manifest | None:
    try:
        return layout.manifest((home / layout.MANIFEST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, BundleError):
        return None


def _verified(home: Path, public: bytes, key: str) -> bool:
    if not (home / layout.SIGNATURE).is_file() or not (home / layout.SUMS).is_file():
        return False
    return not gpg.why_not(public, key, home / layout.SIGNATURE, home / layout.SUMS)


def _write(path: Path, data: bytes) -> bool:
    if path.is_file() and path.read_bytes() == data:
        return False
    write_whole(path, data, PUBLIC)
    return True


def write_index(folder: Path, kind: str, paragraphs: Sequence[str], key: str) -> None:
    """Write the index of the packages in a folder, and sign it; raises BundleError, OSError."""
    if kind == "apt":
        _apt(folder, paragraphs, key)
    else:
        _rpm(folder, key)


def _holds(folder: Path, kind: str, public_key: bytes, key: str) -> bool:
    """Whether the index is there and has the key's signature."""
    signature = folder / SIGNED[kind]
    signed = None if kind == "apt" else signature.with_suffix("")
    return signature.is_file() and not gpg.why_not(public_key, key, signature, signed)


def release(indexes: dict[str, bytes], now: datetime) -> str:
    """The Release file of a flat repository. ``indexes``: name to content."""
    sums = "".join(
        f" {hashlib.sha256(indexes[name]).hexdigest()} {len(indexes[name])} {name}\n" for name in sorted(indexes)
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
