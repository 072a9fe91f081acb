# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pages the site has, in which groups and order: as docs/README.md lists them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from posixpath import normpath

INDEX = "docs/README.md"
# The group that ends with the documentation of modules, filters and callbacks, which the page links to nowhere.
PLUGINS_IN = "Reference"
PLUGINS = "collection/index"

_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)")


@dataclass(frozen=True)
class Entry:
    """A page by its path in the repository; ``title`` where the list gives it another than its own."""

    path: str
    title: str = ""

    @property
    def name(self) -> str:
        """What Sphinx calls the page."""
        return self.path.removesuffix(".md")


@dataclass(frozen=True)
class Group:
    """A heading of the list, and the pages below it."""

    title: str
    entries: tuple[Entry, ...]


def groups(root: Path) -> list[Group]:
    """Read the list; every link to a Markdown page below a heading is an entry."""
    found = []
    for part in re.split(r"^## ", (root / INDEX).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rows = part.partition("\n")
        found.append(Group(title.strip(), tuple(_entry(text, target) for text, target in _LINK.findall(rows))))
    return found


def _entry(text: str, target: str) -> Entry:
    path = normpath(PurePosixPath(INDEX).parent / target)
    return Entry(path, "" if text.endswith(".md") else text)


def pages(root: Path) -> list[str]:
    """The paths of all pages that are written by hand or by `./run docs`, the list itself last."""
    return [*(entry.path for group in groups(root) for entry in group.entries), INDEX]


def index(root: Path) -> str:
    """The page that holds the navigation, as reStructuredText."""
    text = ["ibready", "=======", ""]
    for group in groups(root):
        text += [".. toctree::", "   :hidden:", f"   :caption: {group.title}", ""]
        text += [f"   {entry.title} </{entry.name}>" if entry.title else f"   /{entry.name}" for entry in group.entries]
        if group.title == PLUGINS_IN:
            text.append(f"   Modules, filters, callbacks </{PLUGINS}>")
        text.append("")
    text += [".. toctree::", "   :hidden:", "", f"   All pages </{INDEX.removesuffix('.md')}>", ""]
    return "\n".join(text)
