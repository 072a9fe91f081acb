# SPDX-License-Identifier: GPL-3.0-or-later
"""Every link of every page leads somewhere."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.unit.docs.markdown import ROOT, Page, page, pages

PAGES = pages()


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_link_leads_to_a_file_and_an_anchor(one: Page) -> None:
    assert dead(one) == []


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_link_is_of_the_kind_that_is_looked_at(one: Page) -> None:
    if one.name != "CHANGELOG.md":  # antsibull-changelog writes its own.
        assert one.others == []


def dead(one: Page) -> list[str]:
    """The links of a page that lead nowhere, each with what is missing."""
    found = []
    for link in one.links:
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (one.path.parent / name).resolve() if name else one.path
        if not target.exists():
            found.append(f"{link}: no such file")
        elif ROOT not in target.parents and target != ROOT:
            found.append(f"{link}: leads out of the repository")
        elif anchor and target.suffix == ".md" and anchor not in page(target).anchors:
            found.append(f"{link}: no such heading")
    return found


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("[a](there.md) [b](there.md#two-words) [c](#here)\n\n# Here", []),
        ("[a](gone.md)", ["gone.md: no such file"]),
        ("[a](there.md#gone) ", ["there.md#gone: no such heading"]),
        ('[a](gone.md "title")', ["gone.md: no such file"]),
        ("[![a](gone.png)](gone.md)", ["gone.png: no such file", "gone.md: no such file"]),
        ("`[a](gone.md)` and\n\n    [b](gone.md)\n", []),
        ("```text\n# Here\n```\n[c](#here)", ["#here: no such heading"]),
    ],
)
def test_a_dead_link_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, lost: list[str]) -> None:
    monkeypatch.setattr("tests.unit.docs.test_links.ROOT", tmp_path)
    (tmp_path / "there.md").write_text("# There\n\n## Two `words`\n")
    (tmp_path / "one.md").write_text(text)
    assert dead(page(tmp_path / "one.md")) == lost


@pytest.mark.parametrize(
    "text",
    ["[a][b]", "[b]: gone.md", '<a href="gone.md">', "<img src=x>", "[a](<x>)", "[a](b c.md)"],
)
def test_a_link_of_another_kind_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.md").write_text(f"{text} and [b](here.md)\n")
    assert page(tmp_path / "one.md").others
