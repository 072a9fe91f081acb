# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/why-threads.md reports every draw that was announced, with thirty threads of its own."""

from __future__ import annotations

import re

import yaml

from tests.unit.docs.markdown import ROOT

PAGE = (ROOT / "docs/why-threads.md").read_text(encoding="utf-8")
QUERIES = yaml.safe_load((ROOT / "tests/unit/why_threads/queries.yml").read_text(encoding="utf-8"))


def test_every_draw_is_reported_with_thirty_threads_of_its_own() -> None:
    draws = [re.findall(r"^- .*issue.*\d+.*$", part, re.MULTILINE) for part in PAGE.split("\n## Draw ")[1:]]
    assert len(draws) == len(QUERIES)
    assert [len(threads) for threads in draws] == [30] * len(draws)
    assert len({thread for threads in draws for thread in threads}) == 30 * len(draws)
    assert len(re.findall(r"^\| \d+ \| \d+ \| \d+ \| \d+ \|$", PAGE, re.MULTILINE)) == len(draws)


def test_no_query_is_asked_twice() -> None:
    every = [query for queries in QUERIES.values() for query in queries]
    assert len(every) == len(set(every))
