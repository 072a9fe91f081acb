# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one port of one HCA, and the GUIDs of both: facts in, checks out, no I/O."""

from __future__ import annotations

import re
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    Expectations,
    Expected,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    LAST_UNICAST_LID,
    IbFacts,
    is_infiniband,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port

# ibstat prints rates without their fraction.
_HALVED = (2.5, 12.5)
_GUID = re.compile(r"\A0x[0-9a-fA-F]{1,16}\Z")

# What a Down port says of its rate, LID and subnet manager means nothing.
_DOWN = "the port is Down"
_STATE_FIRST = "mend ib.port.state first"

NOTHING_EXPECTED = (
    "nobody expects a value: the inventory has no ibready_expect.{key}, "
    "and fewer than 3 hosts were compared"
)


def judge_port(ca: Ca, port: Port, expect: Expectations) -> Iterator[Check]:
    name = port_name(ca, port)
    active = Expected("Active", CAPABILITY)
    if port.state == "Initializing":
        cause = (
            "no subnet manager has set up the port"
            if not port.sm_lid
            else "the subnet manager has not swept the port yet"
        )
        yield failed("ib.port.state", name, port.state, "Active", CAPABILITY, cause=cause)
    elif not port.state:
        yield unknown("ib.port.state", name, "ibstat showed no state")
    else:
        yield equal("ib.port.state", name, port.state, active)
    if not port.physical_state:
        yield unknown("ib.port.physical_state", name, "ibstat showed no physical state")
    else:
        yield equal(
            "ib.port.physical_state", name, port.physical_state, Expected("LinkUp", CAPABILITY)
        )
    yield _rate(name, port, expect)
    if not is_infiniband(port):
        return
    if port.state == "Down":
        yield unknown("ib.port.lid", name, _DOWN, remedy=_STATE_FIRST)
        yield unknown("ib.port.sm", name, _DOWN, remedy=_STATE_FIRST)
    else:
        yield _lid(name, port)
        yield _sm_lid(name, port)
    yield judge_guid("ib.port.guid", name, port.port_guid)


def _rate(name: str, port: Port, expect: Expectations) -> Check:
    wanted = expect.get("rate_gbps")
    if port.rate is None:
        return unknown("ib.port.rate", name, "ibstat showed no rate")
    if port.state == "Down":
        return unknown("ib.port.rate", name, _DOWN, remedy=_STATE_FIRST)
    if port.rate <= 0:
        return unknown("ib.port.rate", name, "ibstat showed no real rate", observed=port.rate)
    if wanted is None:
        why = NOTHING_EXPECTED.format(key="rate_gbps")
        return unknown(
            "ib.port.rate", name, why, observed=_gbps(port.rate), remedy=set_key("rate_gbps")
        )
    if port.rate == wanted.value or (wanted.value in _HALVED and port.rate == int(wanted.value)):
        return passed("ib.port.rate", name, _gbps(port.rate), _gbps(wanted.value), wanted.source)
    cause = ""
    if port.rate > wanted.value:
        cause = "the inventory expects less than the hardware gives; correct ibready_expect"
    return failed(
        "ib.port.rate", name, _gbps(port.rate), _gbps(wanted.value), wanted.source, cause=cause
    )


def _lid(name: str, port: Port) -> Check:
    expected = f"1 to {LAST_UNICAST_LID}"
    if port.lid is None:
        return unknown("ib.port.lid", name, "ibstat showed no base lid")
    if 1 <= port.lid <= LAST_UNICAST_LID:
        return passed("ib.port.lid", name, port.lid, expected, CAPABILITY)
    return failed("ib.port.lid", name, port.lid, expected, CAPABILITY)


def _sm_lid(name: str, port: Port) -> Check:
    if port.sm_lid is None:
        return unknown("ib.port.sm", name, "ibstat showed no SM lid")
    if 1 <= port.sm_lid <= LAST_UNICAST_LID:
        return passed("ib.port.sm", name, f"SM lid {port.sm_lid}", "an SM lid", CAPABILITY)
    return failed("ib.port.sm", name, f"SM lid {port.sm_lid}", "an SM lid", CAPABILITY)


def judge_subnet_manager(ca: Ca, port: Port, facts: IbFacts) -> Check:
    name = port_name(ca, port)
    if not is_infiniband(port):
        why = f"{port.link_layer or 'unknown'} port: no subnet manager"
        if not port.link_layer:
            return unknown("fabric.sm.answers", name, "ibstat showed no link layer")
        return skipped("fabric.sm.answers", name, why)
    answer = facts.sm.get(name)
    if answer is None:
        why = f"the port is {port.state or 'in no known state'}"
        return unknown("fabric.sm.answers", name, why, remedy=_STATE_FIRST)
    if answer.unavailable:
        return unknown("fabric.sm.answers", name, answer.unavailable)
    if answer.sm is None:
        return failed(
            "fabric.sm.answers", name, answer.error, "an answer from the master", CAPABILITY
        )
    state = f"{answer.sm.state_name} lid {answer.sm.lid} guid {answer.sm.guid}"
    if answer.sm.state_name != "SMINFO_MASTER":
        return failed(
            "fabric.sm.answers",
            name,
            state,
            "SMINFO_MASTER",
            CAPABILITY,
            cause="the subnet manager that the port was told of is not the master any more",
        )
    if answer.sm.lid != port.sm_lid:
        return failed(
            "fabric.sm.answers",
            name,
            state,
            f"the port's own SM lid {port.sm_lid}",
            CAPABILITY,
            cause="another subnet manager answers than the one that set up the port",
        )
    if not _GUID.match(answer.sm.guid) or int(answer.sm.guid, 16) == 0:
        why = "the subnet manager showed no readable GUID"
        return unknown("fabric.sm.answers", name, why, observed=state)
    return passed("fabric.sm.answers", name, state, "SMINFO_MASTER", CAPABILITY)


def judge_guid(check_id: str, subject: str, guid: str) -> Check:
    if not guid:
        return unknown(check_id, subject, "ibstat showed no GUID")
    if not _GUID.match(guid):
        return unknown(check_id, subject, "ibstat showed no readable GUID", observed=guid)
    if int(guid, 16) == 0:
        return failed(check_id, subject, guid, "not zero", CAPABILITY)
    return passed(check_id, subject, guid, "not zero", CAPABILITY)


def equal(check_id: str, subject: str, observed: str, wanted: Expected) -> Check:
    if observed == wanted.value:
        return passed(check_id, subject, observed, wanted.value, wanted.source)
    return failed(check_id, subject, observed, wanted.value, wanted.source)


def _gbps(rate: float) -> str:
    return f"{rate:g} Gb/s"


def set_key(key: str) -> str:
    return f"set ibready_expect.{key} in the inventory"
