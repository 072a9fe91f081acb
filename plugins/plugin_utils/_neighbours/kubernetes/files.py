# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of the manifests on the controller: written whole, and cleared of what was ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ....module_utils._ground import strict
from ..._ground import files as _files
from .names import KubernetesError

# Which files of the folder are ours.
INDEX = ".ibready.json"


@dataclass(frozen=True)
class Change:
    """One file: its path below the folder, and its text before and after ("" where there is
    none)."""

    path: str
    before: str
    after: str


def changes(folder: Path, files: Mapping[str, str]) -> list[Change]:
    """What would differ; KubernetesError where the folder cannot be read, or has a file of that
    name that is not ours."""
    ours = _ours(folder)
    listed = dict.fromkeys([*files, *ours])
    found = [Change(path, _text(folder / path), files.get(path, "")) for path in listed]
    differ = sorted((change for change in found if change.before != change.after), key=lambda item: item.path)
    for change in differ:
        if change.path not in ours and (folder / change.path).exists():
            raise KubernetesError(
                f"{folder / change.path} is there, and no earlier run wrote it. Next: name another "
                "kubernetes_rdma_dir, or move the file away"
            )
    return differ


def write(folder: Path, files: Mapping[str, str], found: list[Change]) -> None:
    """Make the folder so; raises OSError."""
    listed = json.dumps({"files": sorted(files)}, indent=2) + "\n"
    # Before anything else: a run that ends in the middle leaves nothing that nobody knows of.
    known = sorted({*_ours(folder), *files})
    _files.write_whole(folder / INDEX, json.dumps({"files": known}, indent=2) + "\n")
    for change in found:
        path = folder / change.path
        if change.after:
            _files.write_whole(path, change.after)
        else:
            path.unlink(missing_ok=True)
    _files.write_whole(folder / INDEX, listed)


def _ours(folder: Path) -> list[str]:
    """The files of an earlier run."""
    path = folder / INDEX
    text = _text(path)
    if not text:
        return []
    try:
        found = [str(file) for file in strict.loads(text)["files"]]
    except (KeyError, TypeError, ValueError):
        raise KubernetesError(f"{path} is not ours. Next: name another kubernetes_rdma_dir") from None
    if any(Path(item).is_absolute() or ".." in Path(item).parts for item in found):
        raise KubernetesError(f"{path} names files elsewhere. Next: see who wrote it")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as exc:
        raise KubernetesError(f"{path} cannot be read: {exc}") from None
