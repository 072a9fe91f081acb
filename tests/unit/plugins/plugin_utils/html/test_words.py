# SPDX-License-Identifier: GPL-3.0-or-later
"""Every word of the page is there in both languages, and none is there for nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.environment import FOLDER
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import FILES, Speech, words
from tests.unit import pages, runs

PLACE = re.compile(r"{([^}:]*)[^}]*}")
# t("key"), t.on("key"), t.attr("title", "key"), word("key"), "key" as a whole string.
QUOTED = re.compile(r"""["'`]([a-z_.]+)["'`$]""")
# Those that are put together: "verdict." ~ word.
BEGUN = re.compile(r"""["'`]([a-z_]+[._])(?:["'`]|\$)""")


def sources() -> str:
    files = [one for kind in ("*.j2", "*.js", "*.py") for one in Path(FOLDER).rglob(kind)]
    files += Path(FOLDER).with_name("picture").glob("*.py")
    files += Path(FOLDER).with_name("speech").glob("*.py")
    return "\n".join(one.read_text() for one in files)


@pytest.mark.parametrize("key", words())
def test_every_word_has_both_languages_with_the_same_places(key: str) -> None:
    english, chinese = words()[key]
    assert english.strip()
    assert chinese.strip()
    forms = english.split("|")
    assert len(forms) in (1, 2)
    assert "|" not in chinese
    assert {frozenset(PLACE.findall(one)) for one in forms[-1:]} == {frozenset(PLACE.findall(chinese))}
    # dataset has lower case only, and t is the key itself.
    assert all(re.fullmatch(r"(?!t$)[a-z]+", one) for one in PLACE.findall(english))
    assert len(forms) == 1 or "n" in PLACE.findall(forms[1])
    if key not in ("column.moved", "language"):
        assert re.search("[\u4e00-\u9fff]", re.sub(r"{\w+}|/|\s", "", chinese)) or key == "pings.of"


def test_no_word_is_there_for_nothing() -> None:
    said = sources()
    whole, begun = set(QUOTED.findall(said)), tuple(BEGUN.findall(said))
    assert [key for key in words() if key not in whole and not key.startswith(begun)] == []


def test_words_of_different_files_have_different_keys() -> None:
    files = {one.stem: yaml.safe_load(one.read_text()) for one in Path(FOLDER).with_name("words").glob("*.yml")}
    assert sorted(files) == sorted(FILES)
    assert sorted(key for said in files.values() for key in said) == sorted(words())


def test_one_and_many() -> None:
    t = Speech()
    assert t.plain("grid.count", n=1, shown=1) == "1 of 1 host"
    assert t.plain("grid.count", n=2000, shown=0) == "0 of 2,000 hosts"
    assert str(t("grid.count", n=2000, shown=3)) == (
        '<span data-t="grid.count" data-n="2,000" data-shown="3">3 of 2,000 hosts</span>'
    )


def test_no_number_stands_before_a_word_that_it_may_not_fit() -> None:
    assert Speech().plain("strips.count", n=1, odd=1) == "1 distribution; 1 outlier among the hosts"
    assert Speech().plain("strips.count", n=2, odd=0) == "2 distributions; 0 outliers among the hosts"
    # A word that goes by n has both forms, |; any other number has them with it.
    many = re.compile(r"{[a-z]+} (?!ms|class)(more |of \w+ )?[a-z]+s\b(?! \w+ed)")
    assert [key for key, (english, _) in words().items() if many.search(english.partition("|")[0])] == []


def test_what_is_said_is_escaped_in_text_and_attribute() -> None:
    said = str(Speech()("saw", observed="<b a='\"'>\u202e"))
    assert "<b" not in said
    (span,) = pages.parse(said).elements
    assert span.attributes["data-observed"] == "<b a='\"'>\\u202e"


def test_every_word_of_a_page_is_one_that_the_script_can_say() -> None:
    seen = pages.parse(page.render(runs.run(runs.MIXED, fabric=runs.fabric(runs.check("fail")))))
    for one in seen.elements:
        for name, key in one.attributes.items():
            if name == "data-t" or name.startswith("data-t-"):
                english, chinese = seen.data["words"][key]
                for place in PLACE.findall(chinese):
                    assert f"data-{place}" in one.attributes, (key, english)
