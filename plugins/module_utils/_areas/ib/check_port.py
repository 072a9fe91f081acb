# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one port of one HCA, and the GUIDs of both: facts in, checks out, no I/O."""

from __future__ import annotations

import re
from typing import Iterator

from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Cause, Check, failed, outcome, passed, unknown
from ..._ground.link import ETHERNET, gbps
from ..._parse.ibstat import Ca, Port
from ..._rails.ib import fast_enough, wanted_rate
from ..._rails.ib_ports import IBSTAT, LAST_UNICAST_LID, IbFacts, is_infiniband, port_name
from . import driver_log, link_advice

GUID = re.compile(r"\A0x[0-9a-fA-F]{1,16}\Z")

# What a Down port says of its rate, LID and subnet manager means nothing.
_DOWN = "the port is Down"
STATE_FIRST = "fix ib.port.state first"
# ibstat's word where the driver's number has no name.
NO_STATE = ("", "???")
# Why a port with this physical state is not Active, and what mends it where that is not to look after the cable.
_PHYSICAL = {
    "Polling": "nothing answers at the other end: the cable is pulled or broken, or the switch port is off",
    "Disabled": Cause(
        "an administrator has switched the port off, here or at the switch",
        "leave the cable; drain the host and switch the port on with `mlxlink -d DEVICE --port_state UP`, or at the "
        "switch where that is what holds it",
    ),
    "Sleep": Cause(
        "the port sleeps: power management has switched the link off",
        "leave the cable; let the port of the drained host train again with `mlxlink -d DEVICE --port_state TG`",
    ),
    "PortConfigurationTraining": "the link trains without an end: a marginal cable or transceiver, "
    "or two ends without a common speed",
    "LinkErrorRecovery": "the link loses so many symbols that it has to recover: a bad or dirty cable or transceiver",
    "PhyTest": Cause(
        "the port is in a test mode", "leave the cable; end the test with `mlxlink -d DEVICE --test_mode DS`"
    ),
}
ETHERNET_DISABLED = "the Ethernet link is off: its interface is down, no cable is in, or the switch port is off"
_HALF_UP = Cause(
    "the link is up but the port is held down: a virtual function that the subnet manager does not "
    "bring up (no GUID, or virtualization is off in opensm: virt_enabled)",
    "leave the cable; on the machine of the physical function: `ip link show`, then `ip link set PF vf N state auto` "
    "and GUIDs of its own (`node_guid`, `port_guid`); see virt_enabled in the subnet manager's opensm.conf",
)
# The cable carries a signal: nothing is gained by moving it.
_ASK_SM = "see that a subnet manager runs on this fabric (`sminfo` from an Active port, opensm's log), and let it sweep"
# An inventory that is behind its hardware.
EXPECTS_LESS = Cause(
    "the inventory expects less than the hardware gives; correct ibready_expect",
    "correct ibready_expect in the inventory; the hardware is well",
)
_ONE_LID = (
    "see that one subnet manager alone gives the LIDs (`sminfo` from both ports, opensm's log and its guid2lid file), "
    "and let it sweep anew"
)
_FULL_WIDTH = 4

NOTHING_EXPECTED = (
    "nobody expects a value: the inventory has no ibready_expect.{key}, and fewer than 3 hosts were compared"
)


def judge_port(ca: Ca, port: Port, facts: IbFacts, expect: Expectations) -> Iterator[Check]:
    """State, rate and, of an InfiniBand port, its addresses."""
    name = port_name(ca, port)
    yield _state(name, port, facts)
    if not port.physical_state:
        yield unknown("ib.port.physical_state", name, silent(facts, "physical state"))
    elif port.physical_state == "LinkUp":
        yield passed("ib.port.physical_state", name, "LinkUp", "LinkUp", CAPABILITY)
    else:
        yield failed(
            "ib.port.physical_state",
            name,
            port.physical_state,
            "LinkUp",
            CAPABILITY,
            cause=why_not_active(name, port, facts),
        )
    yield _rate(name, port, facts, expect)
    if not is_infiniband(port):
        return
    if port.state == "Down":
        yield unknown("ib.port.lid", name, _DOWN, remedy=STATE_FIRST)
        yield unknown("ib.port.sm", name, _DOWN, remedy=STATE_FIRST)
    else:
        yield _lid(name, port, facts)
        yield _sm_lid(name, port, facts)
    yield judge_guid("ib.port.guid", name, port.port_guid, facts)


def why_not_active(name: str, port: Port, facts: IbFacts) -> str:
    """The likeliest cause of a port's state, "" where nothing is known beyond the catalog. What the HCA itself says
    of a link that is down, and then the driver, goes before what its physical state may mean."""
    if port.state == "Initializing":
        if port.sm_lid:
            return Cause("the subnet manager has not swept the port yet", _ASK_SM)
        return Cause("no subnet manager has set up the port", _ASK_SM)
    if port.state == "Armed":
        return Cause("the subnet manager has begun to set up the port and has not ended", _ASK_SM)
    if port.physical_state == "LinkUp":
        return _HALF_UP if is_infiniband(port) else ""
    said = link_advice.of(facts.detail(name).optics.value)
    if said is not None:
        return said
    if name in facts.driver_says:
        return driver_log.cause(facts.driver_says[name])
    if port.physical_state == "Disabled" and port.link_layer == ETHERNET:
        return ETHERNET_DISABLED
    return _PHYSICAL.get(port.physical_state, "")


def _state(name: str, port: Port, facts: IbFacts) -> Check:
    if port.state in NO_STATE:
        return unknown("ib.port.state", name, silent(facts, "state"))
    if port.state == "Active":
        return passed("ib.port.state", name, "Active", "Active", CAPABILITY)
    cause = why_not_active(name, port, facts)
    return failed("ib.port.state", name, port.state, "Active", CAPABILITY, cause=cause)


def _rate(name: str, port: Port, facts: IbFacts, expect: Expectations) -> Check:
    if port.rate is None:
        return unknown("ib.port.rate", name, silent(facts, "rate"))
    if port.state == "Down":
        return unknown("ib.port.rate", name, _DOWN, remedy=STATE_FIRST)
    if port.rate <= 0:
        return unknown("ib.port.rate", name, f"{facts.source} showed no real rate", observed=port.rate)
    wanted = wanted_rate(expect)
    if wanted is None:
        why = NOTHING_EXPECTED.format(key="rate_gbps")
        return unknown("ib.port.rate", name, why, observed=gbps(port.rate), remedy=set_key("rate_gbps"))
    value, exact = wanted
    expected = gbps(value.value) if exact else f"at least {gbps(value.value)}"
    if fast_enough(port.rate, value, exact):
        return passed("ib.port.rate", name, gbps(port.rate), expected, value.source)
    if port.rate > value.value:
        cause: str = EXPECTS_LESS
    else:
        cause = why_slow(facts.detail(name).link)
    return failed("ib.port.rate", name, gbps(port.rate), expected, value.source, cause=cause)


def why_slow(link: str) -> str:
    """What width and speed (``1X NDR``) say of a slow link, "" where they are not known."""
    width, _blank, _speed = link.partition(" ")
    if not width[:-1].isdecimal():
        return ""
    lanes = int(width[:-1])
    if lanes >= _FULL_WIDTH:
        return (
            f"all lanes are up ({link}), but at a lower speed: the cable, the transceiver or the "
            "switch port gives no more, or the link fell back"
        )
    if lanes == _FULL_WIDTH // 2:
        return (
            f"only {lanes} of {_FULL_WIDTH} lanes are up ({link}): a split cable or port, or lanes "
            "that are lost to dirt or damage"
        )
    return (
        f"only {lanes} of {_FULL_WIDTH} lanes are up ({link}): a damaged or dirty cable or "
        "transceiver, or one that is not seated"
    )


def _lid(name: str, port: Port, facts: IbFacts) -> Check:
    expected = f"1 to {LAST_UNICAST_LID}"
    if port.lid is None:
        return unknown("ib.port.lid", name, silent(facts, "base lid"))
    if 1 <= port.lid <= LAST_UNICAST_LID:
        others = _same_lid(name, port, facts)
        if not others:
            return passed("ib.port.lid", name, port.lid, expected, CAPABILITY)
        cause = Cause(f"{', '.join([name, *others])} have one LID in one subnet", _ONE_LID)
        return failed("ib.port.lid", name, port.lid, "a LID of its own", CAPABILITY, cause=cause)
    return failed("ib.port.lid", name, port.lid, expected, CAPABILITY)


def _same_lid(name: str, port: Port, facts: IbFacts) -> list[str]:
    """Other ports of this host with this LID in the same subnet, which its master's GUID tells.

    A virtual function may rightly have the LID of the port that it is cut from.
    """
    mine = facts.sm.get(name)
    if port.state != "Active" or mine is None or mine.sm is None:
        return []
    found = []
    for ca in facts.on_fabric().cas:
        for entry in ca.ports if not facts.device(ca.name).virtual else ():
            theirs = facts.sm.get(port_name(ca, entry))
            if port_name(ca, entry) == name or theirs is None or theirs.sm is None:
                continue
            alike = (entry.lid, entry.state, theirs.sm.guid) == (port.lid, "Active", mine.sm.guid)
            if alike and is_infiniband(entry):
                found.append(port_name(ca, entry))
    return [] if facts.device(name.partition("/")[0]).virtual else found


def _sm_lid(name: str, port: Port, facts: IbFacts) -> Check:
    if port.sm_lid is None:
        return unknown("ib.port.sm", name, silent(facts, "SM lid"))
    return outcome(
        1 <= port.sm_lid <= LAST_UNICAST_LID, "ib.port.sm", name, f"SM lid {port.sm_lid}", "an SM lid", CAPABILITY
    )


def judge_guid(check_id: str, subject: str, guid: str, facts: IbFacts) -> Check:
    if not guid:
        return unknown(check_id, subject, silent(facts, "GUID"))
    if not GUID.match(guid):
        return unknown(check_id, subject, silent(facts, "readable GUID"), observed=guid)
    return outcome(int(guid, 16) != 0, check_id, subject, guid, "not zero", CAPABILITY)


def silent(facts: IbFacts, what: str) -> str:
    """Why something is not known: of another source than ibstat, also why it is not ibstat."""
    instead = facts.ibstat_unknown if facts.source != IBSTAT else ""
    return f"{facts.source} showed no {what}" + (f" ({instead})" if instead else "")


def equal(check_id: str, subject: str, observed: str, wanted: Expected) -> Check:
    return outcome(observed == wanted.value, check_id, subject, observed, wanted.value, wanted.source)


def set_key(key: str) -> str:
    return f"set ibready_expect.{key} in the inventory"
