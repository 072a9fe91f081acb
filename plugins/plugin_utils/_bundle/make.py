# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish a bundle on the controller: indexes, manifest, sums, signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import (
    gpg,
    index,
    layout,
    sums,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import (
    BundleError,
    Class,
    Manifest,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._files import PUBLIC, write_whole


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
    for name, one in fetched.items():
        folder = home / name
        told = sums.of(folder, one.sums)
        wrong = [file for file, digest in told.items() if digest != one.sums[file]]
        if wrong:
            raise BundleError(
                f"{folder / wrong[0]} is not the file that the repository's signed index promises; "
                "next: remove it and run this again"
            )
        measured.update({f"{name}/{file}": digest for file, digest in told.items()})
        before = old.classes.get(name) if old else None
        same = before is not None and before.packages == one.described.packages and current
        if not (same and index.holds(folder, one.described.kind, public, key)):
            index.write(folder, one.described.kind, one.paragraphs, key)
            written.append(f"{name}/{index.SIGNED[one.described.kind]}")
    classes = dict(old.classes) if old else {}
    classes = {name: one for name, one in classes.items() if (home / name).is_dir()}
    classes |= {name: one.described for name, one in fetched.items()}
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
