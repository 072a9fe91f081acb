# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page takes from the table of causes has its Chinese, which names the same commands and things."""

from __future__ import annotations

import re

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import command, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Row
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import causes, page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.chinese import FOLDER, chinese
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import pages, runs

WORD = re.compile(r"--?[a-z][\w-]*[=\w/:.-]*|[A-Za-z0-9_~/][A-Za-z0-9_~/.=:+*@-]*")
# What a shell, a file or a maker calls it: typed, or looked up, as it stands.
CODE = re.compile(r"[_/=\d~+]|\w[.:-]\w|^-|[a-z][A-Z]|[A-Z]{2}")
# Of a sentence, in any form of English.
ENGLISH = "a an and are as at be by for from has have is it its no not of or than that the then to with"
# What operators say so in Chinese as well, where the English says it in another way.
TERMS = "cpu gid gpu hca mask nccl nvswitch pause pcie pod provider rail rank transport unit vf"
CHINESE = re.compile("[\u4e00-\u9fff]")


def of_row(row: Row) -> list[str]:
    return [said for said in (row.title, row.fix.note) if said]


TEXTS = [
    *(pytest.param(said, id=f"{row.id}-{at}") for row in table.rows() for at, said in enumerate(of_row(row))),
    *(pytest.param(effect.says, id=effect.id) for effect in table.effects().values()),
]


def words(said: str) -> set[str]:
    return {one.rstrip(".:,-") for one in WORD.findall(said)}


def known(said: str) -> set[str]:
    """Its words, whatever their number and case."""
    return {one.lower().rstrip("s") for one in words(said)}


@pytest.mark.parametrize("said", TEXTS)
def test_a_text_has_its_chinese_with_the_same_names(said: str) -> None:
    other = chinese(said)
    assert other, f"no Chinese in {FOLDER}: {said}"
    assert CHINESE.search(other)
    assert {one for one in words(said) if CODE.search(one) and not known(one) <= known(other)} == set()
    assert {one for one in words(other) if not known(one) <= known(said) | known(TERMS)} == set()
    assert {one for one in words(other) if one in words(ENGLISH)} == set()
    assert re.search(r"[,;:!?] |[,;:]$", other) is None, "punctuation of Latin letters"


def test_a_file_here_has_the_causes_of_the_file_there_in_their_order() -> None:
    there = {path.name: path for path in table.FOLDER.glob("*.yml") if path.name != table.TABLE}
    here = {path.name: path for path in (FOLDER / "causes").glob("*.yml")}
    assert sorted(here) == sorted(there)
    for name, path in here.items():
        assert list(yaml.safe_load(path.read_text())) == list(yaml.safe_load(there[name].read_text())["causes"]), name
    assert sorted(yaml.safe_load((FOLDER / "effects.yml").read_text())) == sorted(table.effects())


def test_what_is_equal_in_english_is_equal_in_chinese() -> None:
    seen: dict[str, str] = {}
    for path in (FOLDER / "causes").glob("*.yml"):
        texts = yaml.safe_load(path.read_text())
        for row in table.rows():
            for said, other in zip((row.title, row.fix.note), texts.get(row.id, ()), strict=False):
                assert seen.setdefault(said, other) == other, row.id


def test_what_comes_before_a_note_is_said_with_it() -> None:
    row = next(row for row in table.rows() if row.id == "rail.down")
    assert chinese(f"{command.NO_NAME}; {row.fix.note}") == f"{chinese(command.NO_NAME)}\uff1b{chinese(row.fix.note)}"
    assert chinese(f"{command.NO_NAME}; what nobody wrote here") == ""
    assert chinese(f"what nobody wrote here; {row.fix.note}") == ""
    assert chinese("") == ""


def test_the_page_has_the_chinese_of_its_causes_and_of_no_others() -> None:
    down, slow = runs.check("fail"), runs.check("fail", "ib.port.rate", "mlx5_1/1")
    run = runs.run({"n1": runs.judged(down), "n2": runs.judged(slow)})
    found = causes.causes(run)
    assert [one.id for one in found] == ["rail.down", "rail.slow"]
    seen = [one.attributes["data-zh"] for one in pages.parse(page.render(run)).elements if "data-zh" in one.attributes]
    expected = [chinese(said) for one in found for said in (one.title, one.act, one.costs)]
    assert all(expected)
    assert [one for one in expected if one not in seen] == []
    others = {chinese(row.title) for row in table.rows() if row.id not in ("rail.slow", "rail.down")}
    assert others.isdisjoint(seen)


def test_a_note_about_a_name_is_said_in_chinese_too() -> None:
    found = pages.parse(page.render(runs.run({"a b;c": runs.judged(runs.check("fail"))})))
    (note,) = (one for one in found.elements if one.attributes.get("data-zh", "").startswith(chinese(command.NO_NAME)))
    assert "光模块" in note.attributes["data-zh"]


def test_what_a_host_said_stays_as_it_was_said_and_runs_nowhere() -> None:
    assert str(Speech().of("<b>\u202e")) == "&lt;b&gt;\\u202e"
    said = str(Speech().of("a rail has no link"))
    assert said == '<span data-zh="一条 rail 没有链路">a rail has no link</span>'
