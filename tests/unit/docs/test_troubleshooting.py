# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check and cause that docs/troubleshooting.md names exists, and links to its own words."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import table
from tests.unit.docs.markdown import ROOT, page, pages, slug_of

PAGE = ROOT / "docs/troubleshooting.md"
TEXT = PAGE.read_text(encoding="utf-8")
AREAS = sorted({one.partition(".")[0] for one in CATALOG})
CAUSES = {row.id: row for row in table.rows()}
_CHECK = re.compile(r"\[`([a-z_.*]+)`\]\(checks\.md#([^)]*)\)")
_CAUSE = re.compile(r"\[`([a-z_]+\.[a-z_]+)`\](?!\()")
_ID = re.compile(rf"(?:{'|'.join(AREAS)})\.[a-z_]+\.[a-z_*]+|(?:{'|'.join(AREAS)})\.\*")
_FILE = re.compile(r"\.(yml|json|md|conf)$")


def test_every_check_is_in_the_catalog_and_links_to_its_entry() -> None:
    named = _CHECK.findall(TEXT)
    assert len(named) > 50
    assert [one for one, _ in named if one not in CATALOG] == []
    assert [one for one, anchor in named if anchor != slug_of(one)] == []


def test_every_cause_is_in_the_table() -> None:
    named = _CAUSE.findall(TEXT)
    assert len(named) > 50
    assert [one for one in named if one not in CAUSES] == []


def _rows() -> list[str]:
    return [line for line in TEXT.splitlines() if _CHECK.search(line) and _CAUSE.search(line)]


@pytest.mark.parametrize("line", _rows())
def test_a_row_names_a_cause_that_one_of_its_checks_shows(line: str) -> None:
    checks = [one for one, _ in _CHECK.findall(line)]
    for cause in _CAUSE.findall(line):
        signs = [sign.partition("~")[0] for sign in CAUSES[cause].signs]
        assert any(fnmatchcase(one, sign) for one in checks for sign in signs), cause


@pytest.mark.parametrize("name", [one.name for one in pages()])
def test_every_check_in_the_code_of_any_page_exists(name: str) -> None:
    spans = [span for span in page(ROOT / name).spans if _ID.fullmatch(span) and not _FILE.search(span)]
    lost = [one for one in spans if not any(fnmatchcase(known, one) for known in CATALOG)]
    assert lost == []


def test_every_quoted_message_is_one_of_the_code() -> None:
    quoted = re.findall(r"^\| `([^`]{12,})`", TEXT, re.MULTILINE)
    assert len(quoted) > 15
    assert [one for one in quoted if not _in_code(one)] == []


def _in_code(message: str) -> bool:
    """Whether the code has all parts of a message between `...`, but for what it fills in."""
    return all(_squeezed(part) in _code() for part in message.split("...") if part.strip())


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\"]+|\bf(?=\")", "", text)


def _code() -> str:
    if not _CODE:
        found = [*ROOT.glob("plugins/**/*.py"), *ROOT.glob("plugins/**/*.yml"), *ROOT.glob("playbooks/**/*.yml")]
        found += ROOT.glob("roles/*/tasks/*.yml")
        text = "".join(path.read_text(encoding="utf-8") for path in sorted(found))
        _CODE.append(_squeezed(text.replace('f"', '"')))
    return _CODE[0]


_CODE: list[str] = []
