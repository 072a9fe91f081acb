# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated node's files below a directory, for code that writes, and files that took damage."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from tests.gauntlet.tree import Tree


def lay_out(tree: Tree, root: Path) -> None:
    """Write the tree's folders, files and links; what commands print is left out."""
    for folder in tree.folders:
        (root / tree._resolve(folder).lstrip("/")).mkdir(parents=True, exist_ok=True)
    for path, content in tree.files.items():
        # A file below a link is one of the folder that the link leads to.
        place = root / tree._resolve(path).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    for path, target in tree.links.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


def damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """A file's content that is no longer as written: a byte, a hole, a cut, more at its end."""
    places = st.integers(0, len(whole) - 1)
    return st.one_of(
        st.builds(
            lambda at, bits: whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :],
            places,
            st.integers(1, 255),
        ),
        st.builds(
            lambda at, size: whole[:at] + bytes(size) + whole[at + size :],
            places,
            st.integers(1, 4096),
        ),
        places.map(lambda end: whole[:end]),
        st.binary(min_size=1, max_size=16).map(lambda more: whole + more),
    ).filter(lambda text: text != whole)
