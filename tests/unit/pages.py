# SPDX-License-Identifier: GPL-3.0-or-later
"""The report's page as a reader without script has it: its words, elements and data."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page

_RAW = ("script", "style")
_VOID = ("meta", "br", "input", "col", "link")
# Within a line of text.
_INLINE = ("span", "b", "code", "small", "strong", "a")


@dataclass
class Element:
    """One start tag."""

    tag: str
    attributes: dict[str, str]


@dataclass
class Seen(HTMLParser):
    """``words``: all text but scripts and styles, blanks made one. ``raw``: these, by element."""

    elements: list[Element] = field(default_factory=list)
    raw: list[tuple[Element, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    unclosed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self.unclosed.append(tag)
        if tag in _RAW:
            self.raw.append((self.elements[-1], ""))
        if tag not in _INLINE:
            self.parts.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed, f"</{tag}> closes nothing"
        assert self.unclosed.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.unclosed and self.unclosed[-1] in _RAW:
            self.raw[-1] = (self.raw[-1][0], self.raw[-1][1] + data)
        else:
            self.parts.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.parts).split())

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        (text,) = (said for one, said in self.raw if one.attributes.get("id") == "data")
        return unpacked(text)

    def ids(self) -> list[str]:
        return [one.attributes["id"] for one in self.elements if "id" in one.attributes]


def unpacked(text: str) -> dict[str, Any]:
    """The data of the script, as it packs them."""
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found


def parse(html: str) -> Seen:
    """A page, every element of which is closed where it should be."""
    found = Seen()
    found.feed(html)
    found.close()
    assert found.unclosed == []
    return found


def words(run: dict[str, Any]) -> str:
    """What the page of a run object says."""
    return parse(page.render(run)).words
