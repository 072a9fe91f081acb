# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether jobs of a host ask for SHARP: what is set where, against what the site wants."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_sharp
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.facts import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.copies import Copies
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.query import Query
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nccl_copies import Setting

NAME = "NCCL_COLLNET_ENABLE"
CONF = "/etc/nccl.conf"


def judge(conf: str | None, env: list[str], sharp: bool | None, unread: bool = False) -> list[tuple[str, str]]:
    """``conf``: the value in nccl.conf. ``env``: values that slurmd gives to jobs."""
    text: Reading[str] = Reading(None, "no file", True) if conf is None else Reading(f"{NAME}={conf}\n")
    units = tuple(Setting("slurmd.service", 0, NAME, value) for value in env)
    here = HostFacts(
        conf=text,
        asked=Query(Reading(None, "no library", True), Reading(None, "no library", True)),
        copies=Copies(
            settings=Reading(None, "denied") if unread else Reading(()),
            units=Reading(units),
        ),
    )
    expect = from_inventory({} if sharp is None else {"sharp": sharp})
    return [(check.result, check.subject) for check in check_sharp.judge(here, expect)]


@pytest.mark.parametrize(
    ("conf", "env", "sharp", "found"),
    [
        pytest.param("1", [], True, [(PASS, CONF)], id="asked for in nccl.conf"),
        pytest.param("0x1", [], True, [(PASS, CONF)], id="as NCCL reads numbers"),
        pytest.param(None, ["1"], True, [(PASS, CONF)], id="asked for by what starts jobs"),
        pytest.param("1", ["0"], True, [(FAIL, "slurmd.service")], id="what starts jobs goes first"),
        pytest.param(None, [], True, [(FAIL, CONF)], id="set nowhere"),
        pytest.param("0", [], True, [(FAIL, CONF)], id="off"),
        pytest.param("yes", [], True, [(FAIL, CONF)], id="a word is no number"),
        pytest.param("1", [], False, [(FAIL, CONF)], id="on where the site has none"),
        pytest.param(None, ["1"], False, [(FAIL, "slurmd.service")], id="on by what starts jobs"),
        pytest.param(None, [], False, [(PASS, CONF)], id="off as the site wants it"),
        pytest.param("1", [], None, [(SKIP, CONF)], id="the site says nothing"),
    ],
)
def test_what_jobs_ask_for(conf: str | None, env: list[str], sharp: bool | None, found: list[tuple[str, str]]) -> None:
    assert judge(conf, env, sharp) == found


@pytest.mark.parametrize("conf", ["1", None])
@pytest.mark.parametrize("sharp", [True, False])
def test_no_pass_and_no_absence_where_the_environment_could_not_be_read(conf: str | None, sharp: bool) -> None:
    found = judge(conf, [], sharp, unread=True)
    assert found == [(FAIL if conf and not sharp else UNKNOWN, CONF)]
