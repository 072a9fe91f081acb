# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes and checks have their Chinese, which names the same commands and things; the page says it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import LOOK_AGAIN
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import command, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import silence
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
PLAIN = "fabric-wide password-less power-cycle read-only user-space"
REBOOTS = "the host reboots: drain it first"
TYPED = re.compile("`[^`]*`")
CHINESE = re.compile("[\u4e00-\u9fff]")
PLUGINS = Path(__file__).parents[5] / "plugins"
# The name of a setting, not a sentence.
NAME = "nccl_conf_forbid"


# By file below words/chinese, and by id, what has Chinese there.
CAUSES = {row.id: (row.title, row.fix.note) for row in table.rows()}
CHECKS = {known.id: (known.title, known.remedy, known.causes[0]) for known in CATALOG.values()}
SAID = {english: other for english, other in yaml.safe_load((FOLDER / "said.yml").read_text())}
OTHERS = [*(effect.says for effect in table.effects().values()), command.NO_NAME, LOOK_AGAIN, *SAID]
TEXTS = [
    *(pytest.param(one, id=f"{name}-{at}") for name, said in CAUSES.items() for at, one in enumerate(said) if one),
    *(pytest.param(one, id=f"{name}-{at}") for name, said in CHECKS.items() for at, one in enumerate(said)),
    *(pytest.param(one, id=one[:20]) for one in OTHERS),
]


# Where checks are made; and what else of the code's own words the page shows, of which no keyword tells.
ROOMS = [
    *(f"module_utils/{room}" for room in ("_areas", "_equals", "_fleet", "_ground")),
    *(f"plugin_utils/{room}" for room in ("_fabric", "_fleet", "_hosts")),
]
ELSEWHERE = {
    silence.NEXT,
    *("gave no answer for {} s to: {}", "{} (so for {})", "nodes, fabric, pings and connections"),
    *("RDMA in software on {}: no number of theirs is an HCA's", "no cable, or the other end is off"),
    *("{} hosts are more than ibready_ping_full_mesh ({}): {} random rounds", "the host says that its port is {}"),
    "ibready_ping_budget ({} s) holds {} of {} rounds, of at most {} s each",
    "nothing answers at the other end: the cable is pulled or broken, or the switch port is off",
    "the link trains without an end: a marginal cable or transceiver, or two ends without a common speed",
    "the link loses so many symbols that it has to recover: a bad or dirty cable or transceiver",
}


def literals() -> set[str]:
    """What the code says of a cause or remedy in words of its own, ``{}`` where something is filled in."""
    found: set[str] = set()
    for path in (path for room in ROOMS for path in (PLUGINS / room).rglob("*.py")):
        tree = ast.parse(path.read_text())
        named = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in ("cause", "remedy"):
                found.update(spelled(node.value, named))
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Cause", "Absent"):
                found.update(said for value in node.args for said in spelled(value, named))
    return {said for said in found if len(re.findall("[A-Za-z]{2,}", said.replace("{}", ""))) > 1} - {NAME}


def spelled(node: ast.expr, named: Mapping[str, ast.expr]) -> Iterator[str]:
    """The texts that it may be, as far as they stand there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.Name) and node.id in named:
        yield from spelled(named[node.id], {})
    elif isinstance(node, ast.IfExp | ast.BoolOp | ast.BinOp):
        some = node.values if isinstance(node, ast.BoolOp) else list(ast.iter_child_nodes(node))
        parts = [list(spelled(part, named)) for part in some if isinstance(part, ast.expr)]
        if isinstance(node, ast.BinOp):
            yield "".join(part[0] if part else "{}" for part in parts)
        else:
            yield from (said for part in (parts[1:] if isinstance(node, ast.IfExp) else parts) for said in part)


def test_every_cause_and_remedy_that_stands_in_the_code_has_its_chinese() -> None:
    every = literals()
    assert len(every) > 100
    assert sorted(said for said in every if not chinese(said)) == []
    assert sorted(set(SAID) - every - ELSEWHERE - {said.removesuffix("{}") for said in every}) == [], "said by nobody"


def test_what_is_filled_in_stands_in_the_chinese_and_is_said_in_it_where_it_has_some() -> None:
    assert chinese("the port cannot do more than 4096") == "\u8be5\u7aef\u53e3\u6700\u591a\u53ea\u80fd 4096"
    said = "unreachable by ssh: no route"
    assert chinese(said) == SAID["unreachable by ssh: {}"].replace("{}", "no route")
    nested = chinese("name the port in ibready_expect.ignore where no job uses it; else verify again")
    assert nested.endswith(SAID["verify again"])
    assert chinese("unreachable by ssh: " + 2000 * "x") == "", "as long as a host likes"


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
