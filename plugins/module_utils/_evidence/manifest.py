# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of an evidence bundle: whose it is, and what was looked for in vain."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .._ground import strict
from .._ground.command import Unavailable, decode
from .._ground.paths import list_names, read_regular

FORMAT = 1
NAME = "manifest.json"
# What a bundle may call a host, and so a folder be called.
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
# Of a SHA-256: enough to tell a damaged copy, and a third of the manifest's size.
_DIGITS = 16


@dataclass(frozen=True)
class Manifest:
    """What ``manifest.json`` holds.

    ``absent``: absolute paths that were looked for and are not on the host, nor is anything below
    them. ``unavailable``: why a command or path could not be told. ``links``: the text of symbolic
    links, kept here because a link in the bundle could lead out of it. ``modes``: permission bits.
    ``peers``: addresses or names of other nodes, the ways to which were asked for. ``expect``: what
    was expected of the host then, as `ibready_expect`. ``sums``: of every file, by its path in the
    bundle; "" for a folder. A bundle made by hand has none.
    """

    host: str
    collected_at: str = ""
    ibready: str = ""
    absent: frozenset[str] = frozenset()
    unavailable: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    peers: tuple[str, ...] = ()
    expect: dict[str, Any] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)

    def says_absent(self, path: str) -> bool:
        """Whether this path, or a directory above it, was not on the host."""
        while len(path) > 1 and path.startswith("/"):
            if path in self.absent:
                return True
            path = path.rpartition("/")[0]
        return False

    def to_dict(self) -> dict[str, Any]:
        """As it is written."""
        modes = {path: f"{mode:04o}" for path, mode in sorted(self.modes.items())}
        return {"format": FORMAT, **asdict(self), "absent": sorted(self.absent), "modes": modes}


def sum_of(data: bytes) -> str:
    """What stands in ``sums`` for a file that holds this."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def load(directory: str) -> Manifest:
    """The manifest of the bundle in a directory; without one, the directory's name is the host's.

    Raises Unavailable where there is no such directory, or the manifest is not one of FORMAT.
    """
    if os.path.isfile(directory):
        raise Unavailable(directory, "a file and no directory: unpack the archive first")
    names = list_names(directory, directory)
    inside = [name for name in names if os.path.isfile(os.path.join(directory, name, NAME))]
    if inside and not {NAME, "commands", "files"} & set(names):
        raise Unavailable(directory, f"no bundle; it holds those of {', '.join(inside[:5])}")
    path = os.path.join(directory, NAME)
    if not os.path.lexists(path):
        return Manifest(os.path.basename(directory))
    if os.path.islink(path):
        raise Unavailable(path, "a symbolic link, which may lead out of the bundle")
    text = decode(read_regular(path, path))
    try:
        raw = strict.loads(text)
        if raw["format"] != FORMAT:
            raise Unavailable(path, f"format {raw['format']!r:.80} is not known, only {FORMAT}")
        host = raw["host"]
        if not isinstance(host, str) or not HOST.fullmatch(host):
            raise Unavailable(path, f"says that it is of {host!r:.80}, which is no name of a host")
        return Manifest(
            host,
            str(raw.get("collected_at", "")),
            str(raw.get("ibready", "")),
            frozenset(_texts(raw.get("absent", []))),
            _pairs(raw.get("unavailable", {})),
            _pairs(raw.get("links", {})),
            {path: int(mode, 8) for path, mode in _pairs(raw.get("modes", {})).items()},
            tuple(_texts(raw.get("peers", []))),
            _expected(raw.get("expect", {})),
            _pairs(raw.get("sums", {})),
        )
    except (ValueError, KeyError, TypeError) as exc:
        raise Unavailable(path, f"not a manifest: {exc!r}") from exc


def _texts(raw: Any) -> list[str]:
    if not isinstance(raw, list) or not all(isinstance(entry, str) for entry in raw):
        raise TypeError("absent and peers must be lists of texts")
    return raw


def _expected(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise TypeError("expect must be what ibready_expect may be")
    return raw


def _pairs(raw: Any) -> dict[str, str]:
    if not isinstance(raw, dict) or not all(isinstance(entry, str) for entry in raw.values()):
        raise TypeError("links, modes, sums and unavailable must map names to texts")
    return raw
