# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the subnet manager said to one port."""

from __future__ import annotations

from ..._data.opensm import START_NO_OTHER
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._parse.ibstat import Ca, Port
from ..._rails.ib_ports import IbFacts, is_infiniband, port_name
from .check_port import GUID, NO_STATE, STATE_FIRST, silent


def judge_subnet_manager(ca: Ca, port: Port, facts: IbFacts) -> Check:
    name = port_name(ca, port)
    if not is_infiniband(port):
        why = f"{port.link_layer or 'unknown'} port: no subnet manager"
        if not port.link_layer:
            return unknown("fabric.sm.answers", name, silent(facts, "link layer"))
        return skipped("fabric.sm.answers", name, why)
    answer = facts.sm.get(name)
    if answer is None:
        why = f"the port is {port.state}"
        if port.state in NO_STATE:
            why = silent(facts, "known state")
        return unknown("fabric.sm.answers", name, why, remedy=STATE_FIRST)
    if answer.unavailable:
        return unknown("fabric.sm.answers", name, answer.unavailable)
    if answer.sm is None:
        return failed("fabric.sm.answers", name, answer.error, "an answer from the master", CAPABILITY)
    shown = answer.sm.state_name or "no state shown,"
    state = f"{shown} lid {answer.sm.lid} guid {answer.sm.guid}"
    if answer.sm.state_name not in ("SMINFO_MASTER", ""):
        return failed(
            "fabric.sm.answers",
            name,
            state,
            "SMINFO_MASTER",
            CAPABILITY,
            cause="the subnet manager that the port was told of is not the master any more",
            remedy=START_NO_OTHER,
        )
    if answer.sm.lid != port.sm_lid:
        return failed(
            "fabric.sm.answers",
            name,
            state,
            f"the port's own SM lid {port.sm_lid}",
            CAPABILITY,
            cause="another subnet manager answers than the one that set up the port",
            remedy=START_NO_OTHER,
        )
    if not GUID.match(answer.sm.guid) or int(answer.sm.guid, 16) == 0:
        why = "the subnet manager showed no readable GUID"
        return unknown("fabric.sm.answers", name, why, observed=state)
    return passed("fabric.sm.answers", name, state, "SMINFO_MASTER", CAPABILITY)
