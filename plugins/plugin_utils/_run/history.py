# SPDX-License-Identifier: GPL-3.0-or-later
"""The last runs, gzipped in a folder beside the report; named after when they were judged."""

from __future__ import annotations

import datetime
import gzip
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._ground import files
from .read import RunError

FOLDER = "history"
KEEP = 10
_NAME = re.compile(r"ibready-report-(\d{8}T\d{6}Z)\.json\.gz")
# Level 6 takes four times as long for a tenth less.
_LEVEL = 1


def stamp(run: Mapping[str, Any]) -> str:
    """``20261122T194100Z``; raises RunError where ``created`` is no time with its zone."""
    try:
        created = datetime.datetime.fromisoformat(run["created"])
        if created.tzinfo is None:
            raise ValueError("it has no zone")
        return created.astimezone(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    except (OverflowError, ValueError) as exc:
        raise RunError(f"created of the run object is no time ({exc}); next: run again") from exc


def kept(folder: Path) -> list[Path]:
    """The run objects that are kept for a report folder, oldest first."""
    try:
        found = [path for path in (folder / FOLDER).iterdir() if _NAME.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found)


def keep(folder: Path, run: Mapping[str, Any], text: str, most: int) -> None:
    """Add this run, and remove what is beyond the last ``most``, never this; raises OSError."""
    path = folder / FOLDER / f"ibready-report-{stamp(run)}.json.gz"
    if most > 0:
        files.write_whole(path, gzip.compress(text.encode(), _LEVEL, mtime=0))
    # After a clock went back this run is not the last by its name.
    others = [entry for entry in kept(folder) if entry != path or most <= 0]
    for other in others[: max(len(others) - max(most - 1, 0), 0)]:
        for rendered in other.parent.glob(f"{stem(other).name}.*"):
            rendered.unlink(missing_ok=True)


def stem(path: Path) -> Path:
    """The file without ``.json`` or ``.json.gz``: what is rendered from it is called so."""
    return path.with_name(re.sub(r"\.json(\.gz)?$", "", path.name))


def find(folder: Path, run: Mapping[str, Any], asked: str, *, by: str) -> Path:
    """The file that is asked for: a path, or how many runs before this one (1: the last).

    ``by`` is the variable that asked. Raises RunError where that many are not kept.
    """
    if not asked.isascii() or not asked.isdigit():
        return Path(asked).expanduser()
    count, mine = int(asked), stamp(run)
    older = [path for path in kept(folder) if _stamp_of(path) < mine]
    if count < 1 or count > len(older):
        there = f"{len(older)} older {'run is' if len(older) == 1 else 'runs are'} kept"
        which = f"one of 1 to {len(older)}, or a file" if older else "a file"
        raise RunError(
            f"{by}={asked}: {there} in {folder / FOLDER}; next: name {which} "
            "(ibready_report_keep says how many are kept)"
        )
    return older[-count]


def _stamp_of(path: Path) -> str:
    match = _NAME.fullmatch(path.name)
    return match.group(1) if match else ""
