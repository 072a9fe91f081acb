# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated host's evidence in memory: what its commands print and what its files hold.

It answers like a live host: what is not in the tree is not there (Missing), and a command that is
not in it is not installed.
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import (
    Missing,
    Output,
    Unavailable,
    decode,
)

_NO_PROGRAM = "not installed (no such program in PATH)"


class _Names:
    """What each folder holds, by the names of all that is in a tree."""

    def __init__(self, *kinds: Collection[str]) -> None:
        self._kinds = kinds
        self._sizes = [len(kind) for kind in kinds]
        self.below: dict[str, set[str]] = {}
        for name in itertools.chain(*kinds):
            folder, slash, child = name.rpartition("/")
            while slash:
                inside = self.below.get(folder)
                if inside is not None:
                    # Those above it hold it already.
                    inside.add(child)
                    break
                self.below[folder] = {child}
                folder, slash, child = folder.rpartition("/")
        # What a name that ends with a slash leaves.
        for inside in self.below.values():
            inside.discard("")

    def hold(self, *kinds: Collection[str]) -> bool:
        """Whether they are still those of these."""
        return all(
            was is now and size == len(now) for was, now, size in zip(self._kinds, kinds, self._sizes, strict=True)
        )


@dataclass
class Tree:
    """Commands by evidence name (``sminfo``, or with arguments ``sminfo@mlx5_0-1``), files, links.

    ``links`` hold the text of symbolic links, which are followed like a kernel does. ``broken``
    says why a command or path cannot be looked at, whatever else is known of it.
    """

    commands: dict[str, Output] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    # What files hold and commands print at the second look, some seconds later; the others stay as they are.
    later: dict[str, bytes] = field(default_factory=dict)
    later_commands: dict[str, Output] = field(default_factory=dict)
    _names: _Names | None = field(default=None, repr=False, compare=False)
    # Where folders are, behind the links on the way: thousands of files are asked for by some dozens of them.
    _places: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def command(self, name: str, stdout: str, rc: int = 0, stderr: str = "") -> None:
        """What this command prints; the last word wins."""
        self.commands[name] = Output(rc, stdout, stderr)

    def file(self, path: str, content: str | bytes, mode: int | None = None) -> None:
        """A file with this content; a text gets its line end."""
        if isinstance(content, str):
            content = (content if content.endswith("\n") or not content else content + "\n").encode()
        self.files[path] = content
        if mode is not None:
            self.modes[path] = mode

    def symlink(self, path: str, target: str) -> None:
        """A symbolic link with this text."""
        self.links[path] = target
        self._places.clear()

    def folder(self, path: str) -> None:
        """A directory that may be empty."""
        self.folders.add(path)

    def remove(self, path: str) -> None:
        """Take away a file, a link, or a directory with all that is below it; KeyError if none."""
        place = self._resolve(path, last=False)
        gone = [
            (kind, name)
            for kind in (self.files, self.links)
            for name in kind
            if name == place or name.startswith(place + "/")
        ]
        folders = {one for one in self.folders if one == place or one.startswith(place + "/")}
        if not gone and not folders:
            raise KeyError(path)
        for kind, name in gone:
            del kind[name]
        self.folders -= folders
        self._names = None
        self._places.clear()

    # What Evidence asks.

    recorded = False
    given: tuple[str, ...] = ()

    def run(self, name: str, *args: str) -> Output:
        entry = entry_name(name, *args)
        self._refuse(entry, name)
        if entry not in self.commands:
            # What no program prints is in a bundle only.
            known = name in COMMANDS or not self.recorded
            raise Unavailable(name, _NO_PROGRAM if known else "not in the bundle")
        return self.commands[entry]

    def read(self, path: str) -> str:
        return decode(self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        self._refuse(path)
        place = self._resolve(path)
        if place in self.files:
            return self.files[place]
        if self._is_folder(place):
            raise Unavailable(path, "not a regular file")
        raise Missing(path, "no such file")

    def list(self, path: str) -> list[str]:
        self._refuse(path)
        place = self._resolve(path)
        if not self._is_folder(place):
            raise Missing(path, "no such directory")
        return sorted(self._below().get(place.rstrip("/"), ()))

    def link(self, path: str) -> str:
        self._refuse(path)
        place = self._resolve(path, last=False)
        if place in self.links:
            return self.links[place]
        if place in self.files or self._is_folder(place):
            raise Unavailable(path, "not a symbolic link")
        raise Missing(path, "no such link")

    def mode(self, path: str) -> int:
        self._refuse(path)
        place = self._resolve(path)
        if place in self.modes:
            return self.modes[place]
        if place in self.files:
            return 0o644
        if self._is_folder(place):
            return 0o755
        raise Missing(path, "no such file")

    def again(self, seconds: float) -> tuple[Tree, float]:
        self._refuse("again")
        commands = {**self.commands, **self.later_commands}
        return replace(self, files={**self.files, **self.later}, commands=commands), seconds

    def _refuse(self, *names: str) -> None:
        for name in names:
            if name in self.broken:
                raise Unavailable(name, self.broken[name])

    def _is_folder(self, place: str) -> bool:
        return place in self.folders or place.rstrip("/") in self._below()

    def _below(self) -> dict[str, set[str]]:
        """What each folder holds."""
        kinds = (self.files, self.links, self.folders)
        if self._names is None or not self._names.hold(*kinds):
            self._names = _Names(*kinds)
        return self._names.below

    def _resolve(self, path: str, *, last: bool = True) -> str:
        """Follow the links on the way; the last component only if ``last``."""
        folder, _slash, name = posixpath.normpath(path).strip("/").rpartition("/")
        place = f"{self._folder(folder)}/{name}"
        return self._followed(place) if last else place

    def _folder(self, path: str) -> str:
        """Where a folder is, named without the slashes at its ends."""
        if not path:
            return ""
        if path not in self._places:
            above, _slash, name = path.rpartition("/")
            self._places[path] = self._followed(f"{self._folder(above)}/{name}")
        return self._places[path]

    def _followed(self, place: str) -> str:
        for _hop in range(20):
            if place not in self.links:
                break
            place = posixpath.normpath(posixpath.join(posixpath.dirname(place), self.links[place]))
        return place
