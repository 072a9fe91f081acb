# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the site is whole: links and anchors lead somewhere, nothing comes from elsewhere, no text is lost."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from tests.unit.docs.markdown import Page as Source, page as take_apart
from tools.site import navigation

# What a browser gets by itself, by the attribute that names it.
_FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
_IN_STYLE = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])((?:https?:)?//[^\"')\s]+)")


@dataclass
class Page(HTMLParser):
    """A page as a browser has it."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    fetched: list[str] = field(default_factory=list)
    pictures: int = 0
    blocks: list[str] = field(default_factory=list)
    _inside: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self.anchors |= {told[name] for name in ("id", "name") if name in told}
        if tag == "a" and "href" in told:
            self.links.add(told["href"])
        if _FETCHED.get(tag, "") in told:
            self.fetched.append(told[_FETCHED[tag]])
        self.pictures += tag == "img"
        if tag == "pre":
            self._inside += 1
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag == "pre"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.blocks[-1] += data


def read(site: Path) -> dict[str, Page]:
    """Every page of a site by its path."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        page = found[path.relative_to(site).as_posix()] = Page()
        page.feed(path.read_text(encoding="utf-8"))
        page.close()
    return found


def target(page: str, link: str) -> tuple[str, str] | None:
    """The path in the site and the anchor that a link leads to; None where it leads out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = normpath(join(dirname(page), unquote(parts.path))) if parts.path else page
    return path, unquote(parts.fragment)


def dead(site: Path, pages: dict[str, Page]) -> list[str]:
    """Links that lead nowhere, and what a browser would fetch from elsewhere."""
    found = []
    for name, page in pages.items():
        for link in [*sorted(page.links), *page.fetched]:
            led = target(name, link)
            if led is None:
                continue
            path, anchor = led
            if path.startswith("..") or not (site / path).is_file():
                found.append(f"{name}: {link}: no such file")
            elif anchor and path in pages and anchor not in pages[path].anchors:
                found.append(f"{name}: {link}: no such anchor")
        found += [f"{name}: {link}: fetched from elsewhere" for link in page.fetched if _is_elsewhere(name, link)]
    for style in sorted(site.rglob("*.css")):
        told = _IN_STYLE.findall(style.read_text(encoding="utf-8"))
        found += [f"{style.relative_to(site)}: {link}: fetched from elsewhere" for link in told]
    return found


def _is_elsewhere(page: str, link: str) -> bool:
    return not link.startswith("data:") and target(page, link) is None


def lost(source: Source, name: str, pages: dict[str, Page]) -> list[str]:
    """What a Markdown page has, and its page of the site has not."""
    path = f"{name.removesuffix('.md')}.html"
    if path not in pages:
        return [f"{name}: no page"]
    page = pages[path]
    found = [f"{name}: no anchor {anchor}" for anchor in sorted(source.anchors - page.anchors)]
    blocks = {block.strip("\n") for block in page.blocks}
    for block in source.blocks:
        if block.text.strip("\n") not in blocks:
            found.append(f"{name}: no block of code that begins {block.text.splitlines()[0]!r}")
    wanted = sum(link.endswith(".png") for link in source.links)
    if page.pictures < wanted:
        found.append(f"{name}: {page.pictures} pictures of {wanted}")
    led = {to[0] for link in page.links if (to := target(path, link))}
    for link in source.links:
        to = target(name, link)
        if to and to[0].endswith(".md"):
            html = f"{to[0].removesuffix('.md')}.html"
            if html in pages and html not in led:
                found.append(f"{name}: no link to {html}")
    return found


def unfound(site: Path, names: list[str]) -> list[str]:
    """Pages that the search does not know."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    known = {
        index["docnames"][at] for ats in index["terms"].values() for at in (ats if isinstance(ats, list) else [ats])
    }
    return [f"{name}: the search has no word of it" for name in names if name.removesuffix(".md") not in known]


def problems(root: Path, site: Path) -> list[str]:
    """All of it."""
    pages = read(site)
    names = navigation.pages(root)
    found = dead(site, pages)
    for name in names:
        found += lost(take_apart(root / name), name, pages)
    return found + unfound(site, names)
