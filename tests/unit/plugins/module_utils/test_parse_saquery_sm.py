# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import saquery_sm
from tests.unit.fabrics import sm_record

# Of opensm 3.3.23 on ibsim, shown by infiniband-diags 5.x (SM_Key left out).
MASTER = sm_record("0x0002C90001000001", 14, 3)
STANDBY = sm_record("0x0002c90001000011", 13, 2)


def test_every_record_is_a_manager() -> None:
    found = saquery_sm.parse(MASTER + STANDBY).managers
    assert [(one.guid, one.priority, one.state) for one in found] == [
        ("0x0002c90001000001", 14, saquery_sm.MASTER),
        ("0x0002c90001000011", 13, saquery_sm.STANDBY),
    ]
    assert saquery_sm.facts(saquery_sm.parse(MASTER))["managers"][0]["lid"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "usage: saquery\n",
        MASTER.replace("SMState...............3", ""),
        MASTER.replace("SMState...............3", "SMState...............9"),
        MASTER.replace("Priority..............14", "Priority..............high"),
    ],
    ids=["nothing", "no record", "cut", "a state that is none", "no number"],
)
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        saquery_sm.parse(text)


def test_the_tools_own_complaint_is_kept() -> None:
    found = saquery_sm.parse("Query SA failed: Connection timed out\n")
    assert found.managers == ()
    assert found.error_lines == ("Query SA failed: Connection timed out",)
    assert saquery_sm.facts(found)["error"] is True


def test_a_record_that_is_cut_leaves_the_others() -> None:
    found = saquery_sm.parse(MASTER + STANDBY.replace("Priority..............13", "Priority..............high"))
    assert [one.state for one in found.managers] == [saquery_sm.MASTER]
    assert "cannot be read" in found.error_lines[0]
