# SPDX-License-Identifier: GPL-3.0-or-later
"""What is missing in a built site is found: links, anchors, pictures, code, words in the search."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.docs.markdown import page as take_apart
from tools.site import check

WHOLE = (
    '<h1 id="begin">Begin</h1><a href="docs/b.html#far">b</a><a href="#begin">up</a><a href="https://x.example">x</a>'
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.html").write_text(WHOLE)
    (tmp_path / "docs/b.html").write_text('<p><span id="far"></span></p><a href="../a.html">a</a><img src="p.png">')
    (tmp_path / "docs/p.png").write_bytes(b"")
    return tmp_path


def test_a_whole_site_has_no_problem(site: Path) -> None:
    assert check.dead(site, check.read(site)) == []


@pytest.mark.parametrize(
    ("html", "told"),
    [
        ('<a href="gone.html">', "gone.html: no such file"),
        ('<a href="docs">', "docs: no such file"),
        ('<a href="../a.html">', "../a.html: no such file"),
        ('<a href="docs/b.html#gone">', "docs/b.html#gone: no such anchor"),
        ('<a href="#gone">', "#gone: no such anchor"),
        ('<img src="gone.png">', "gone.png: no such file"),
        ('<script src="https://x.example/a.js"></script>', "https://x.example/a.js: fetched from elsewhere"),
        ('<link rel="stylesheet" href="//x.example/a.css">', "//x.example/a.css: fetched from elsewhere"),
        ('<img src="https://x.example/a.png">', "https://x.example/a.png: fetched from elsewhere"),
    ],
)
def test_what_is_dead_or_elsewhere_is_found(site: Path, html: str, told: str) -> None:
    (site / "a.html").write_text(WHOLE + html)
    assert check.dead(site, check.read(site)) == [f"a.html: {told}"]


@pytest.mark.parametrize(
    "style", ["url(https://x.example/f.woff)", 'url("//x.example/f.woff")', '@import "https://x.example/f.woff"']
)
def test_a_font_from_elsewhere_is_found(site: Path, style: str) -> None:
    (site / "a.css").write_text(f"p {{ background: url(own.svg) }}\n{style}")
    (told,) = check.dead(site, check.read(site))
    assert told.startswith("a.css: ")
    assert told.endswith("x.example/f.woff: fetched from elsewhere")


MARKDOWN = """# Two `words`

See [b](b.md#far) and [the source](../tools/x.py), ![a picture](p.png).

```yaml
a: "<b>"
```
"""
HTML = (
    '<section id="two-words"><a href="b.html#far">b</a><img src="p.png">'
    '<div><pre><span>a</span>: <span>"&lt;b&gt;"</span>\n</pre></div></section>'
)


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ("", []),
        ('id="two-words"', ["docs/c.md: no anchor two-words"]),
        ("b.html", ["docs/c.md: no link to docs/b.html"]),
        ('<img src="p.png">', ["docs/c.md: 0 pictures of 1"]),
        ("&lt;", ["docs/c.md: no block of code that begins 'a: \"<b>\"'"]),
    ],
)
def test_what_a_page_lost_is_found(site: Path, gone: str, told: list[str]) -> None:
    (site / "c.md").write_text(MARKDOWN)
    (site / "docs/c.html").write_text(HTML.replace(gone, "") if gone else HTML)
    assert check.lost(take_apart(site / "c.md"), "docs/c.md", check.read(site)) == told


def test_a_page_that_was_not_built_is_found(site: Path) -> None:
    (site / "c.md").write_text(MARKDOWN)
    assert check.lost(take_apart(site / "c.md"), "docs/c.md", check.read(site)) == ["docs/c.md: no page"]


def test_a_page_that_no_search_finds_is_found(site: Path) -> None:
    index = '{"docnames":["a","docs/b","docs/c"],"terms":{"rail":1,"port":[0,1]}}'
    (site / "searchindex.js").write_text(f"Search.setIndex({index})")
    told = ["docs/c.md: the search has no word of it", "d.md: the search has no word of it"]
    assert check.unfound(site, ["a.md", "docs/b.md", "docs/c.md", "d.md"]) == told
