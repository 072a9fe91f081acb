# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Markdown page of ours is made of: headings, links, code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# The folders of the repository, but for those that only programs read.
TOPS = (
    *("causes", "docs", "execution-environment", "inventories", "matrix", "molecule", "playbooks"),
    *("plugins", "roles", "sandbox", "tests", "tools"),
)

_FENCE = re.compile(r"^( *)(```+|~~~+) *(\S*) *$")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$")
_TARGET = r"([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?"
_LINK = re.compile(rf"\]\(\s*{_TARGET}\s*\)")
# Other ways to write a link, in which nothing would be looked at.
_OTHER = re.compile(r"\]\[|^ {0,3}\[[^\]]+\]:|<(?:a\s[^>]*href|img)\b|\]\(<", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_ANCHOR = re.compile(r"<a (?:name|id)=\"([^\"]+)\">")
_LIST = re.compile(r"^ *(?:[-*+]|\d+\.) ")


@dataclass(frozen=True)
class Block:
    """One block of code, its language ("" for an indented one) and its text without the indent."""

    language: str
    text: str


@dataclass(frozen=True)
class Page:
    """One page, taken apart; `prose` holds the lines that are no code."""

    path: Path
    prose: str
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def links(self) -> list[str]:
        """The targets of all links and pictures, in order; what stands in code is none."""
        return _LINK.findall(_SPAN.sub("`code`", self.prose))

    @property
    def others(self) -> list[str]:
        """What begins a link of another kind, or one with a blank in its target."""
        prose = _SPAN.sub("`code`", self.prose)
        return [*_OTHER.findall(prose), *(["]("] * (prose.count("](") - len(self.links)))]

    @property
    def spans(self) -> list[str]:
        """The code within the prose."""
        return [text for _ticks, text in _SPAN.findall(self.prose)]

    @property
    def anchors(self) -> set[str]:
        """What a link may name after `#`, as GitHub makes it of headings."""
        seen: dict[str, int] = {}
        for line in self.prose.splitlines():
            heading = _HEADING.match(line)
            if heading:
                slug = slug_of(heading[1])
                seen[slug] = seen.get(slug, -1) + 1
                if seen[slug]:
                    seen[f"{slug}-{seen[slug]}"] = 0
        return {*seen, *_ANCHOR.findall(self.prose)}


def slug_of(heading: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def page(path: Path) -> Page:
    """Take a page apart."""
    prose: list[str] = []
    blocks: list[Block] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence:
            end = at + 1
            while end < len(lines) and lines[end].strip() != fence[2]:
                end += 1
            body = [one.removeprefix(fence[1]) for one in lines[at + 1 : end]]
            blocks.append(Block(fence[3], "\n".join(body)))
            prose.append("")
            at = end + 1
        elif _begins_code(lines, at, prose):
            end = at
            while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) >= 4):
                end += 1
            body = lines[at:end]
            depth = min(_indent(one) for one in body if one.strip())
            blocks.append(Block("", "\n".join(one[depth:] for one in body).strip("\n")))
            prose.append("")
            at = end
        else:
            prose.append(lines[at])
            at += 1
    return Page(path, "\n".join(prose), tuple(blocks))


def _begins_code(lines: list[str], at: int, prose: list[str]) -> bool:
    """Whether an indented block begins here; within a list it is deeper by the item's mark."""
    indent = _indent(lines[at])
    if not lines[at].strip() or indent < 4 or (at and lines[at - 1].strip()):
        return False
    for line in reversed(prose):
        if line.strip() and _indent(line) == 0:
            item = _LIST.match(line)
            return indent >= 4 + (len(item[0]) if item else 0)
    return True


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def pages() -> list[Page]:
    """Every page of the repository, none of what runs leave in it."""
    found = [*ROOT.glob("*.md")]
    for top in TOPS:
        found += (ROOT / top).rglob("*.md")
    return [page(path) for path in sorted(found) if path.parts[-2][0] != "."]
