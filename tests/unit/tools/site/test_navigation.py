# SPDX-License-Identifier: GPL-3.0-or-later
"""The site has every page once, in the groups and the order of docs/README.md."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.unit.docs.markdown import ROOT
from tools.site import navigation

LISTED = Counter(navigation.pages(ROOT))


def test_every_page_of_docs_is_listed_once() -> None:
    there = [f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")]
    assert len(there) > 50
    assert {page: LISTED[page] for page in there if LISTED[page] != 1} == {}


def test_so_is_every_page_of_the_top_the_roles_and_the_rigs() -> None:
    paths = [*ROOT.glob("*.md"), *ROOT.glob("roles/*/README.md"), *ROOT.glob("sandbox/**/README.md")]
    paths += ROOT.glob("tests/*/README.md")
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    assert {"README.md", "README.zh-CN.md", "roles/nccl/README.md", "sandbox/README.md"} <= set(names)
    assert {page: LISTED[page] for page in names if LISTED[page] != 1} == {}


def test_nothing_is_listed_that_is_not_there() -> None:
    assert [page for page in LISTED if not (ROOT / page).is_file()] == []


def test_the_groups_are_those_of_the_list() -> None:
    titles = [group.title for group in navigation.groups(ROOT)]
    assert titles[:3] == ["Start here", "Verify", "The InfiniBand fabric"]
    assert navigation.PLUGINS_IN in titles


def test_the_list_is_read_by_its_headings_and_links(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / navigation.INDEX).write_text(
        "# All\n[no](none.md)\n## Begin\n| [Overview](../README.md), [one.md](one.md) | as in `x` |\n"
        "## Reference\n| the roles | [mpi](../roles/mpi/README.md) |\n| [a picture](one.png) |\n"
    )
    begin, reference = navigation.groups(tmp_path)
    assert begin.entries == (navigation.Entry("README.md", "Overview"), navigation.Entry("docs/one.md"))
    assert reference.entries == (navigation.Entry("roles/mpi/README.md", "mpi"),)
    index = navigation.index(tmp_path).splitlines()
    assert [line.strip() for line in index if line.startswith("   ") and ":hidden:" not in line] == [
        ":caption: Begin",
        "Overview </README>",
        "/docs/one",
        ":caption: Reference",
        "mpi </roles/mpi/README>",
        "Modules, filters, callbacks </collection/index>",
        "All pages </docs/README>",
    ]
