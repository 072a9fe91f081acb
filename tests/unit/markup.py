# SPDX-License-Identifier: GPL-3.0-or-later
"""A piece of the page as a browser would take it: elements, their attributes, and text."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"br", "meta", "link", "img", "input", "hr"}


class Piece(HTMLParser):
    """``rows``: the cells of every table row, as text. Fails where elements are not balanced."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._open: list[str] = []
        self._cell = False
        # A slice of Markup would escape what is added to it.
        self.feed(str(html))
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell:
            self.rows[-1][-1] = f"{self.rows[-1][-1]}{data}"

    def row(self, head: str) -> list[str]:
        """The only row whose first cell holds this text."""
        (found,) = (one for one in self.rows if one and head in one[0])
        return [" ".join(cell.split()) for cell in found]

    def attrs(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [attrs[name] for _, attrs in self.tags if name in attrs]
