# SPDX-License-Identifier: GPL-3.0-or-later
"""No check passes by an output that ends early; every source says how its end is known.

`./run gauntlet cuts` cuts at every line of every board.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import packages
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import ask
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, QUESTIONS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import PASS, SKIP, UNKNOWN
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import rpm_qa
from tests import cases
from tests.gauntlet import cuts, fault

pytestmark = pytest.mark.thorough

# Outputs that only a bundle holds.
GIVEN = {"ibping", "nccl_log", "nvsmi_error"}


def test_every_source_says_how_its_end_is_known() -> None:
    names = {one for one in cuts.ends() if not one.startswith("/")}
    assert names == {*COMMANDS, *QUESTIONS, *GIVEN}
    for name, said in cuts.ends().items():
        assert said["end"] in cuts.KINDS, name
        assert said.get("by") or said["end"] not in (cuts.COUNTED, cuts.TWICE), name
        assert said.get("why") or said["end"] != cuts.STATUS, name


# Who reads a text reads that of every port and board in the same way.
WALK = cases.first(cuts.walk(), lambda case: (case[1].partition("@")[0], "roce" in case[0]))


@pytest.mark.parametrize(("name", "source"), WALK)
def test_an_output_that_ends_early_is_worth_no_more_than_none(name: str, source: str) -> None:
    assert list(cuts.wrong(name, source)) == []


@pytest.mark.parametrize("one", cases.first(fault.load(), lambda one: one.check), ids=lambda one: str(one.name))
def test_a_fault_whose_lines_were_cut_off_is_not_passed(one: fault.Fault) -> None:
    assert list(cuts.hidden(one)) == []


@pytest.mark.parametrize("name", [name for name in cuts.ends() if cuts.ends()[name]["end"] == cuts.STATUS])
def test_where_only_the_status_tells_another_one_is_unknown(name: str) -> None:
    # Killed in the middle, as by the kernel where memory is short.
    for board in cuts.boards():
        node, tree = cuts.board(board)
        if name not in tree.commands:
            continue
        text = tree.commands[name].stdout
        killed = cuts.shorter(tree, name, text.find("\n", len(text) // 2) + 1)
        killed.commands[name] = replace(killed.commands[name], rc=-9)
        without = cuts.judge(node, cuts.Gone(tree, name))
        for key, check in cuts.judge(node, killed).items():
            if check.result in (PASS, SKIP):
                assert key in without, check
                assert without[key].result == check.result, check


def test_a_reader_that_takes_a_shorter_list_for_a_whole_one_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def trusting(evidence: cuts.Evidence) -> Reading[packages.Packages]:
        return ask.command(evidence, "rpm_qa", rpm_qa.parse)

    monkeypatch.setattr(packages, "rpm", trusting)
    found = list(cuts.wrong("h100-pcie-2", "rpm_qa"))
    assert any("stack.packages.whole pass" in one for one in found)
    mixed = next(one for one in fault.load() if one.name.startswith("a distribution upgrade took"))
    assert any(one.startswith("rpm_qa, after a line") for one in cuts.hidden(mixed))


OF_NCCL = ("nccl.library.version", "stack.gpudirect.nccl")


@pytest.mark.parametrize("name", [name for name, source in cuts.walk() if source == "rpm_qa"])
def test_a_damaged_rpm_database_cuts_both_lists_alike_and_deceives_nobody(name: str) -> None:
    node, tree = cuts.board(name)
    texts = {one: tree.commands[one].stdout.splitlines(keepends=True) for one in ("rpm_qa", "rpm_names")}
    for kept in range(texts["rpm_names"].index("libnccl\n") + 1):
        both = tree
        for one, lines in texts.items():
            both = cuts.shorter(both, one, len("".join(lines[:kept])))
        found = cuts.judge(node, both, ["stack", "nccl"])
        told = {one.id: one.result for one in found.values() if one.id in OF_NCCL}
        assert told == dict.fromkeys(OF_NCCL, UNKNOWN), f"after {kept} packages"


def test_a_text_is_cut_where_it_says() -> None:
    text = "one\ntwo\nthree\n"
    found = {
        kind: [one.kept for one in cuts.cuts(text) if one.kind == kind]
        for kind in (cuts.EMPTY, cuts.LINE, cuts.WITHIN, cuts.LAST)
    }
    assert found[cuts.EMPTY] == [0]
    assert found[cuts.LINE] == [4, 8]
    assert found[cuts.WITHIN] == [2, 6, 9, 10, 11, 12]
    assert found[cuts.LAST] == [13]
    many = "".join(f"line {number}\n" for number in range(1000))
    assert 10 < len(cuts.cuts(many, cuts.FEW)) < 20
