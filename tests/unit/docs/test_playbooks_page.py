# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/playbooks.md leaves out no playbook, and no variable that one reads."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from tests.unit.docs import known
from tests.unit.docs.markdown import ROOT, Page, page, slug_of

BOOKS = ROOT / "playbooks"
TOLD = page(ROOT / "docs/playbooks.md")
_PART = re.compile(r"(?:import_playbook|include_tasks|import_tasks): *([\w/.]+\.yml)")


@cache
def sections() -> dict[str, str]:
    """The text below each heading of the second level, by its anchor."""
    found: dict[str, str] = {}
    for part in re.split(r"^## ", TOLD.path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        found[slug_of(title)] = text
    return found


def named(anchor: str, seen: tuple[str, ...] = ()) -> set[str]:
    """The code in a section and in those of this page that it links to or names."""
    text = sections()[anchor]
    found = {span for span in re.findall(r"`([^`]+)`", text)}
    found |= {f"{name}.yml" for name in re.findall(r"\b([a-z]+)\.yml\b", text)}
    for link in re.findall(r"\]\(#(\w+)\)", text):
        if link in sections() and link not in (*seen, anchor):
            found |= named(link, (*seen, anchor))
    for name in re.findall(r"those of (?:\[)?([a-z]+)\.yml", text):
        if f"{name}yml" not in (*seen, anchor):
            found |= named(f"{name}yml", (*seen, anchor))
    return found


def read_by(book: Path) -> set[str]:
    """The variables of ours in a playbook and in all that it takes in, but those that it sets."""
    text = re.sub(r"(^|\s)#.*$", "", book.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = set(re.findall(r"\b[a-z][a-z0-9_]+\b", text)) & known.VARIABLES
    for name in _PART.findall(text):
        part = book.parent / name
        if part.is_file():
            found |= read_by(part)
    return found - set(re.findall(r"^ +(\w+):", text, re.MULTILINE))


@pytest.mark.parametrize("name", sorted(known.PLAYBOOKS))
def test_every_playbook_has_a_section_and_a_row(name: str) -> None:
    text = sections()[f"{name}yml"]
    for row in ("| does |", "| touches |", "| variables |", "| status 0 |"):
        assert row in text
    assert f"\n| [{name}.yml](#{name}yml) |" in TOLD.prose
    typed = [line for block in _section(TOLD, name) for line in block.splitlines()]
    book = "site.yml" if name == "site" else f"playbooks/{name}.yml"
    assert any(line.startswith(f"ansible-playbook {book} ") for line in typed)


def _section(told: Page, name: str) -> list[str]:
    return [block.text for block in told.blocks if f"{name}.yml" in block.text]


@pytest.mark.parametrize("name", sorted(known.PLAYBOOKS))
def test_every_variable_that_a_playbook_reads_is_told(name: str) -> None:
    patterns = named(f"{name}yml")
    wanted = read_by(BOOKS / f"{name}.yml")
    assert wanted, "nothing was found to compare"
    assert {one for one in wanted if not any(fnmatchcase(one, as_) for as_ in patterns)} == set()


def test_parts_and_the_sandboxs_are_named() -> None:
    spans = set(TOLD.spans)
    assert {f"playbooks/parts/{name}.yml" for name in known.PARTS} <= spans
    for path in BOOKS.glob("sandbox/*.yml"):
        assert f"playbooks/sandbox/{path.name}" in spans or path.name in spans


def test_no_section_is_about_a_playbook_that_is_gone() -> None:
    reported = {anchor.removesuffix("yml") for anchor in sections() if anchor.endswith("yml")}
    assert reported == known.PLAYBOOKS
