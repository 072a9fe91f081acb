# SPDX-License-Identifier: GPL-3.0-or-later
"""What ibready remembers on a node, so that it can put things back: one small JSON file a subject.

The directory is this project's own. A file that cannot be read is an error that names it: to take
it for empty would forget what is to be put back.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from typing import Any, Iterator

from . import strict, whole
from .regular import open_regular
from .text import HostFileError

DIRECTORY = "/var/lib/ibready"
# How often, and how many seconds apart, another process is given time to let a folder go.
_TRIES, _PAUSE = 100, 0.1


class StateError(ValueError):
    """A state file that cannot be read or written, with the reason and the next step."""


class StateFileError(StateError, HostFileError):
    """What is remembered cannot be read."""


def below(root: str, path: str) -> str:
    """`path` on the host whose / is `root`."""
    return os.path.join(root, path.lstrip("/"))


def load(subject: str, root: str = "/") -> dict[str, Any]:
    """What was remembered, {} where nothing was."""
    return load_file(below(root, f"{DIRECTORY}/{subject}.json"))


def load_file(path: str) -> dict[str, Any]:
    """The same from a file with a name of its own."""
    try:
        with open(open_regular(path), encoding="utf-8") as stream:
            known = strict.loads(stream.read())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise StateFileError(f"{path} cannot be read: {exc}. Next: remove it, if it is lost") from exc
    if not isinstance(known, dict):
        raise StateFileError(f"{path} does not hold what ibready writes. Next: remove it")
    return known


def save(subject: str, known: dict[str, Any], root: str = "/") -> None:
    """Remember this, for good even when the power fails; {} forgets."""
    save_file(below(root, f"{DIRECTORY}/{subject}.json"), known)


def save_file(path: str, known: dict[str, Any]) -> None:
    """The same in a file with a name of its own."""
    try:
        if not known:
            whole.remove(path)
            return
        write(path, json.dumps(known, indent=2, sort_keys=True) + "\n", 0o600)
    except OSError as exc:
        raise StateError(f"{path} cannot be written: {exc.strerror}") from exc


def read(path: str) -> str:
    """The text of a file, "" where it is not there; OSError otherwise."""
    try:
        with open(open_regular(path), encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def diff(path: str, before: str, after: str) -> dict[str, str]:
    """How a file changes, as Ansible shows it; it refuses an answer that is no UTF-8."""
    texts = {"before": before, "after": after}
    plain = {name: text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name, text in texts.items()}
    return {"before_header": path, "after_header": path, **plain}


def write(path: str, text: str, mode: int, owner: whole.Owner = None) -> None:
    """Put a whole file in place at once, with its directory; "" removes it. Raises OSError."""
    if not text:
        whole.remove(path)
        return
    whole.make_folder(os.path.dirname(path))
    whole.put(path, text.encode("utf-8", "surrogateescape"), mode, owner)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Have a folder that root alone can open, and is made where it is not there, to oneself.

    Raises StateError where it cannot be made, or another process has it for ten seconds.
    """
    try:
        whole.make_folder(os.path.dirname(folder))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as exc:
        raise StateError(f"{folder} cannot be made: {exc.strerror}") from exc
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: str) -> None:
    for _turn in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE)
    raise StateError(f"another process has {folder}. Next: `fuser {folder}` names it; end it")
