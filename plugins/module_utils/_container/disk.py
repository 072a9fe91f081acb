# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines' files on the host: read, tried out beside their place, and put there whole."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils import _paths, _state
from ansible_collections.ibready.cluster.plugins.module_utils._command import Missing, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._container.model import EngineError

_MODE = 0o644
# Whatever is larger is no engine's configuration.
_LARGEST = 1024 * 1024


def read(root: str, path: str) -> str | None:
    """A file's text with its bytes kept (surrogateescape), None where there is none."""
    place = _state.below(root, path)
    try:
        data = _paths.read_regular(place, path, limit=_LARGEST)
    except Missing:
        return None
    except Unavailable as exc:
        raise EngineError(str(exc), f"see what {path} is") from exc
    return data.decode("utf-8", "surrogateescape")


def others(root: str, mine: str, *patterns: str) -> dict[str, str]:
    """The texts of other files, by path; `patterns` in the order in which they are read."""
    found = {}
    for pattern in patterns:
        for place in sorted(glob.glob(_state.below(root, pattern))):
            path = "/" + os.path.relpath(place, root)
            text = read(root, path) if path != mine else None
            if text is not None:
                found[path] = text
    return found


@contextlib.contextmanager
def tried(root: str, path: str, text: str) -> Iterator[str]:
    """The path of a file with this text, beside the real one where that has a folder."""
    place = _state.below(root, path)
    folder = os.path.dirname(os.path.realpath(place))
    made = "" if os.path.isdir(folder) else tempfile.mkdtemp(prefix="ibready-")
    try:
        # No name that an `imports` or a folder of drop-ins would take up.
        fd, staged = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=made or folder)
        try:
            with open(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
                stream.write(text)
            yield staged
        finally:
            os.unlink(staged)
    except OSError as exc:
        raise EngineError(
            f"{path} cannot be tried out: {exc.strerror}", "see that its folder can be written"
        ) from exc
    finally:
        if made:
            shutil.rmtree(made, ignore_errors=True)


def put(root: str, path: str, text: str | None) -> None:
    """Write a file whole, with the mode and owner that it had; None removes it."""
    place = os.path.realpath(_state.below(root, path))
    try:
        had = os.stat(place) if os.path.exists(place) else None
        _state.write(place, text or "", _MODE if had is None else had.st_mode & 0o7777)
        if had is not None and text and (had.st_uid, had.st_gid) != _owner(place):
            os.chown(place, had.st_uid, had.st_gid)
    except OSError as exc:
        raise EngineError(
            f"{path} cannot be written: {exc.strerror}",
            "see that its folder can be written and has space",
        ) from exc


def _owner(place: str) -> tuple[int, int]:
    told = os.stat(place)
    return told.st_uid, told.st_gid
