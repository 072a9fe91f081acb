# SPDX-License-Identifier: GPL-3.0-or-later
"""Which words of a page are the name of something that has a page: a module, a check, a page of docs/."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.unit.docs.markdown import slug_of

COLLECTION = "ibready.cluster"
PAGE = re.compile(r"\bdocs/([\w-]+)\.md\b")
# The kinds of plugins as antsibull-docs names their files, the first wins.
KINDS = ("module", "callback", "filter", "role")

_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_CHECK = re.compile(r"^## ([a-z0-9_]+(?:\.[a-z0-9_]+)+)$", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """A page of the site and, where a part of it is meant, its anchor."""

    page: str
    anchor: str = ""


def plugins(folder: Path) -> dict[str, str]:
    """The page by each name of a plugin that antsibull-docs wrote a page of."""
    found: dict[str, str] = {}
    for kind in KINDS:
        for path in sorted(folder.glob(f"*_{kind}.rst")):
            name = path.stem.removesuffix(f"_{kind}")
            page = f"{folder.name}/{path.stem}"
            found.setdefault(f"{COLLECTION}.{name}", page)
            # `report` and `ibping` are more often a word or a tool than the module.
            if kind == "module":
                found[f"plugins/modules/{name}.py"] = page
                if "_" in name or name.endswith("verify"):
                    found[name] = page
    return found


def places(source: Path, folder: Path) -> dict[str, Place]:
    """Where each such word leads, in the pages below ``source``."""
    found = {name: Place(page) for name, page in plugins(folder).items()}
    found |= {f"docs/{path.name}": Place(f"docs/{path.stem}") for path in (source / "docs").glob("*.md")}
    for check in _CHECK.findall((source / "docs/checks.md").read_text(encoding="utf-8")):
        found[check] = Place("docs/checks", slug_of(check))
    return found


def told_in(source: Path, pages: list[str], named: dict[str, str]) -> dict[str, list[str]]:
    """For each plugin's page the pages that name it in code, in their order."""
    found: dict[str, list[str]] = {}
    for page in pages:
        words = dict.fromkeys(_CODE.findall((source / page).read_text(encoding="utf-8")))
        for plugin in dict.fromkeys(named[word] for word in words if word in named):
            found.setdefault(plugin, []).append(page.removesuffix(".md"))
    return found
