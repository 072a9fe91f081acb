# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and links to be shown below a root, as values first."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tree:
    """``files``: absolute path to content; ``links``: absolute path to the link's text."""

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    def file(self, path: str, content: str | bytes) -> None:
        """A text gets its line end."""
        if isinstance(content, str):
            content = (content if content.endswith("\n") else content + "\n").encode()
        self.files[path] = content

    def link(self, path: str, text: str) -> None:
        self.links[path] = text

    def folder(self, path: str) -> None:
        self.folders.add(path)

    def write(self, root: Path) -> None:
        """Write all of it; what is there already is replaced."""
        for folder in sorted(self.folders):
            below(root, folder).mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            target = below(root, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for path, text in self.links.items():
            relink(below(root, path), text)


def below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def relink(place: Path, text: str) -> None:
    """Make `place` a symbolic link with this text, whatever it was."""
    place.parent.mkdir(parents=True, exist_ok=True)
    remove(place)
    place.symlink_to(text)


def remove(place: Path) -> None:
    """Take away a file, a link, or a directory with all that is below it, if it is there."""
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)


def relative(place: str, target: str) -> str:
    """The text of a link at `place` that leads to `target`, as the kernel writes it."""
    return os.path.relpath(target, os.path.dirname(place))
