# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes and checks have their Chinese, which names the same commands and things; the page says it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import LOOK_AGAIN
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import command, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import causes, page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech._rows import checks as rows
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.chinese import FOLDER, chinese
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import pages, runs

WORD = re.compile(r"--?[a-z][\w-]*[=\w/:.-]*|[A-Za-z0-9_~/][A-Za-z0-9_~/.=:+*@-]*")
# What a shell, a file or a maker calls it: typed, or looked up, as it stands.
CODE = re.compile(r"[_/=\d~+]|\w[.:-]\w|^-|[a-z][A-Z]|[A-Z]{2}")
# Of a sentence, in any form of English.
ENGLISH = "a an and are as at be by for from has have is it its no not of or than that the then to with"
# What operators say so in Chinese as well, where the English says it in another way.
TERMS = (
    "cpu fabric gid gpu hca leaf mask nccl nvlink nvswitch pause pcie pod provider rail rank sweep transport unit vf"
)
# Of plain English, for all that it looks like a name.
PLAIN = "fabric-wide power-cycle read-only"
REBOOTS = "the host reboots: drain it first"
TYPED = re.compile("`[^`]*`")
CHINESE = re.compile("[\u4e00-\u9fff]")


# By file below words/chinese, and by id, what has Chinese there.
CAUSES = {row.id: (row.title, row.fix.note) for row in table.rows()}
CHECKS = {known.id: (known.title, known.remedy, known.causes[0]) for known in CATALOG.values()}
OTHERS = [*(effect.says for effect in table.effects().values()), command.NO_NAME, LOOK_AGAIN]
TEXTS = [
    *(pytest.param(one, id=f"{name}-{at}") for name, said in CAUSES.items() for at, one in enumerate(said) if one),
    *(pytest.param(one, id=f"{name}-{at}") for name, said in CHECKS.items() for at, one in enumerate(said)),
    *(pytest.param(one, id=one[:20]) for one in OTHERS),
]


def words(said: str) -> set[str]:
    return {one.rstrip(".:,-") for one in WORD.findall(said)}


def known(said: str) -> set[str]:
    """Its words, whatever their number and case."""
    return {re.sub("(?<=ch)es$|s$", "", one.lower()) for one in words(said)}


@pytest.mark.parametrize("said", TEXTS)
def test_a_text_has_its_chinese_with_the_same_names(said: str) -> None:
    other = chinese(said)
    assert other, f"no Chinese in {FOLDER}, nor as zh of a checks.yml: {said}"
    assert CHINESE.search(other)
    names = {one for one in words(said) - words(PLAIN) if CODE.search(one)}
    assert {one for one in names if not known(one) <= known(other)} == set()
    assert sorted(TYPED.findall(said)) == sorted(TYPED.findall(other))
    assert {one for one in words(other) if not known(one) <= known(said) | known(TERMS)} == set()
    assert {one for one in words(other) if one in words(ENGLISH)} == set()
    assert re.search(f"{CHINESE.pattern}[,;:!?]", other) is None, "punctuation of Latin letters"


FILES: dict[str, dict[str, Sequence[str]]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in (FOLDER / "causes").glob("*.yml")
}


def test_a_file_of_causes_has_those_of_the_file_there_in_their_order() -> None:
    there = {path.stem: yaml.safe_load(path.read_text()) for path in table.FOLDER.glob("*.yml")}
    there.pop(table.TABLE.removesuffix(".yml"))
    assert {name: list(said) for name, said in FILES.items()} == {
        name: list(said["causes"]) for name, said in there.items()
    }
    assert sorted(yaml.safe_load((FOLDER / "effects.yml").read_text())) == sorted(table.effects())


def test_what_is_equal_in_english_is_equal_in_chinese() -> None:
    for name, said in ((name, said) for some in FILES.values() for name, said in some.items()):
        # A note that says no more than a phrase needs none.
        assert len(said) == len(CAUSES[name]) or CAUSES[name][1] in ("", REBOOTS), name
        assert [chinese(one) for one in CAUSES[name][: len(said)]] == said, name
    for name, said in rows.CHINESE.items():
        assert tuple(chinese(one) for one in CHECKS[name]) == said, name


def test_what_comes_before_a_note_is_said_with_it() -> None:
    note = CAUSES["rail.down"][1]
    assert chinese(f"{command.NO_NAME}; {note}") == f"{chinese(command.NO_NAME)}\uff1b{chinese(note)}"
    assert chinese(f"{command.NO_NAME}; what nobody wrote here") == ""
    assert chinese(f"what nobody wrote here; {note}") == ""
    assert chinese("") == ""
    assert chinese(f"{command.NO_NAME}; " * 5000 + note) == "", "as long as a host likes"


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


def test_the_page_s_script_has_the_chinese_of_what_is_wrong_and_of_no_more() -> None:
    remedy = CATALOG["ib.port.rate"].remedy
    bad = runs.check("fail", "ib.port.rate", "mlx5_1/1", remedy=remedy, cause="the host's own words")
    run = runs.run({"n1": runs.judged(runs.check(), bad)})
    expected = (CATALOG["ib.port.rate"].title, remedy)
    assert pages.parse(page.render(run)).data["chinese"] == {said: chinese(said) for said in expected}


def test_a_note_about_a_name_is_said_in_chinese_too() -> None:
    found = pages.parse(page.render(runs.run({"a b;c": runs.judged(runs.check("fail"))})))
    (note,) = (one for one in found.elements if one.attributes.get("data-zh", "").startswith(chinese(command.NO_NAME)))
    assert "光模块" in note.attributes["data-zh"]


def test_what_a_host_said_stays_as_it_was_said_and_runs_nowhere() -> None:
    assert str(Speech().of("<b>\u202e")) == "&lt;b&gt;\\u202e"
    said = str(Speech().of("a rail has no link"))
    assert said == '<span data-zh="一条 rail 没有链路">a rail has no link</span>'
