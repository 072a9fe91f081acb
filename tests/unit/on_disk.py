# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated node's files below a directory, for code that writes."""

from __future__ import annotations

from pathlib import Path

from tests.gauntlet.tree import Tree


def lay_out(tree: Tree, root: Path) -> None:
    """Write the tree's folders, files and links; what commands print is left out."""
    for folder in tree.folders:
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for path, content in tree.files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    for path, target in tree.links.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
