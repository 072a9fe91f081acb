# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of ours on a host as they are to be: what is not so, written, and had back as it was.

By its path, one in a folder ``*.wants`` of systemd is a link, and one below PROGRAMS a program.
"""

from __future__ import annotations

import os
from typing import Callable, Dict, Mapping, Tuple

from . import state, whole

PROGRAMS = "/usr/local/lib/ibready"
UNITS = "/etc/systemd/system"
# Folders beside a file, unit or device of somebody else's, which go with the last that is in them.
_BESIDE = (".network.d", ".service.d", ".device.wants")

# What each file holds and what it should, "" for none; of a link, its aim.
Files = Dict[str, Tuple[str, str]]


def mode_of(path: str) -> int:
    """The permissions of most."""
    return 0o755 if path.startswith(f"{PROGRAMS}/") else 0o644


def look(wanted: Mapping[str, str], root: str = "/") -> Files:
    """Those that are not as they should be. Raises OSError."""
    present = {path: _present(path, root) for path in wanted}
    return {path: (present[path], text) for path, text in wanted.items() if present[path] != text}


def write(changed: Files, root: str = "/", mode: Callable[[str], int] = mode_of) -> None:
    """Put them in place, each at once. Raises OSError."""
    for path, (before, after) in changed.items():
        place = state.below(root, path)
        folder = os.path.dirname(place)
        if not _is_link(path):
            state.write(place, after, mode(path))
        else:
            if before:
                os.unlink(place)
            if after:
                whole.make_folder(folder)
                os.symlink(after, place)
        if not after and folder.endswith(_BESIDE) and not os.listdir(folder):
            os.rmdir(folder)


def put_back(changed: Files, root: str = "/", mode: Callable[[str], int] = mode_of) -> None:
    """Have them as they were, however many of them were written. Raises OSError."""
    for path, (before, after) in changed.items():
        if _present(path, root) == after != before:
            write({path: (after, before)}, root, mode)


def diffs(changed: Files) -> list[dict[str, str]]:
    """How they change, as Ansible shows it."""
    return [state.diff(path, before, after) for path, (before, after) in sorted(changed.items())]


def _is_link(path: str) -> bool:
    return os.path.dirname(path).endswith(".wants")


def _present(path: str, root: str) -> str:
    place = state.below(root, path)
    if not _is_link(path):
        return state.read(place)
    return os.readlink(place) if os.path.islink(place) else ""
