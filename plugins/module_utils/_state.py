# SPDX-License-Identifier: GPL-3.0-or-later
"""What ibready remembers on a node, so that it can put things back: one small JSON file a subject.

The directory is this project's own. A file that cannot be read is an error that names it: to take
it for empty would forget what is to be put back.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any

DIRECTORY = "/var/lib/ibready"


class StateError(ValueError):
    """A state file that cannot be read or written, with the reason and the next step."""


def below(root: str, path: str) -> str:
    """`path` on the host whose / is `root`."""
    return os.path.join(root, path.lstrip("/"))


def load(subject: str, root: str = "/") -> dict[str, Any]:
    """What was remembered, {} where nothing was."""
    return load_file(below(root, f"{DIRECTORY}/{subject}.json"))


def load_file(path: str) -> dict[str, Any]:
    """The same from a file with a name of its own."""
    try:
        with open(path, encoding="utf-8") as stream:
            known = json.load(stream)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise StateError(f"{path} cannot be read: {exc}. Next: remove it, if it is lost") from exc
    if not isinstance(known, dict):
        raise StateError(f"{path} does not hold what ibready writes. Next: remove it")
    return known


def save(subject: str, known: dict[str, Any], root: str = "/") -> None:
    """Remember this, for good even when the power fails; {} forgets."""
    save_file(below(root, f"{DIRECTORY}/{subject}.json"), known)


def save_file(path: str, known: dict[str, Any]) -> None:
    """The same in a file with a name of its own."""
    try:
        if not known:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        write(path, json.dumps(known, indent=2, sort_keys=True) + "\n", 0o600)
    except OSError as exc:
        raise StateError(f"{path} cannot be written: {exc.strerror}") from exc


def read(path: str) -> str:
    """The text of a file, "" where it is not there; OSError otherwise."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def diff(path: str, before: str, after: str) -> dict[str, str]:
    """How a file changes, as Ansible shows it; it refuses an answer that is no UTF-8."""
    texts = {"before": before, "after": after}
    plain = {
        name: text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for name, text in texts.items()
    }
    return {"before_header": path, "after_header": path, **plain}


def make_folder(path: str) -> None:
    """Make a directory, and those above it, where there is none: 0755, whatever the umask is.

    Services that are not root read below such directories. Raises OSError.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above != path:
        make_folder(above)
    try:
        os.mkdir(path)
    except FileExistsError:
        if os.path.isdir(path):  # another process was first
            return
        raise
    os.chmod(path, 0o755)


def write(path: str, text: str, mode: int) -> None:
    """Put a whole file in place at once, with its directory; "" removes it. Raises OSError."""
    if not text:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return
    folder = os.path.dirname(path)
    make_folder(folder)
    fd, staged = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=folder)
    try:
        with open(fd, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(staged, mode)
        os.replace(staged, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(staged)
        raise
