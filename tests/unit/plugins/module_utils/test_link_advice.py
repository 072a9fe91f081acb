# SPDX-License-Identifier: GPL-3.0-or-later
"""What the firmware says against a link, and what mends that."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib import link_advice
from ansible_collections.ibready.cluster.plugins.module_utils._data.link_advice import ROWS
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mlxlink import Mlxlink
from tests.gauntlet import render, run

SAYS = "Unsupported cable"
# The recommendations of NVIDIA's PRM (PDDR, status opcodes), by what of a remedy each must have.
SAID = {
    "power class": ["Power budget exceeded", "Module temperature shutdown"],
    "made for this HCA": [
        "Cable compliance code mismatch (protocol mismatch between cable and port)",
        "Stamping of non-NVIDIA Cables/Modules",
        "Unsupported cable",
        "Bad/unsupported EEPROM",
        "No active protocol enabled over the cable",
        "Long range for non-NVIDIA cable/module",
    ],
    "--port_state UP": ["Port is close by command", "Management forced the port Down", "Port is disabled by Ekey"],
    "leave the cable; set speed": [
        "Logical mismatch between link partners",
        "FEC mismatch",
        "Negotiation failed: next page exchange",
    ],
    "see first that the other end is plugged in and on; then set speed": ["No partner detected during force mode"],
    "clean and reseat": [
        "Bad signal integrity",
        "FC FEC is not locked",
        "KR tuning was not completed",
        "Shorted cable",
    ],
    "plugged in": ["Cable is unplugged", "Remote fault received", "Autoneg: no partner detected"],
}


@pytest.mark.parametrize(("mends", "words"), [(key, word) for key, words in SAID.items() for word in words])
def test_each_recommendation_has_the_remedy_of_its_kind(mends: str, words: str) -> None:
    found = link_advice.of(Mlxlink(recommendation=words))
    assert found is not None
    assert (words in found, mends in found.remedy) == (True, True), found.remedy


def test_every_row_is_the_first_for_some_words() -> None:
    first = {link_advice.of(Mlxlink(recommendation=word)).remedy for words in SAID.values() for word in words}  # type: ignore[union-attr]
    assert first == {remedy for _words, remedy in ROWS}


@pytest.mark.parametrize(
    "words", ["", "N/A", "No issue was observed.", "Troubleshooting in process", "Info not available"]
)
def test_what_says_nothing_is_no_cause(words: str) -> None:
    assert link_advice.of(Mlxlink(recommendation=words)) is None
    assert link_advice.of(None) is None


def test_words_that_no_row_knows_are_told_all_the_same() -> None:
    found = link_advice.of(Mlxlink(recommendation="Phase EO failure\x1b[31m"))
    assert found == "mlxlink found: Phase EO failure [31m"
    assert "what mlxlink says" in found.remedy


def test_a_down_port_is_asked_and_one_without_mlxlink_goes_by_its_physical_state() -> None:
    node = render.node("hgx-h100-8")
    node.hca("mlx5_3").state, node.hca("mlx5_3").physical = "Down", "Polling"
    tree = render.render(node)
    tree.command("mlxlink@mlx5_3-1", tree.commands["mlxlink@mlx5_3-1"].stdout.replace("No issue was observed", SAYS))

    def cause() -> str:
        return next(
            check.cause for check in run.judge(node, tree) if (check.id, check.result) == ("ib.port.state", "fail")
        )

    assert SAYS in cause()
    del tree.commands["mlxlink@mlx5_3-1"]
    assert cause().startswith("nothing answers at the other end")
