# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one RoCE rail's link and its network interface: facts in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data import roce
from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Cause, Check, failed, outcome, passed, skipped, unknown
from ..._ground.link import gbps
from ..._ground.look import look
from ..._rails.hcas import most_gbps
from ..._rails.ib import fast_enough, wanted_rate
from ..._rails.roce import ACTIVE, asked_soft
from ..._rails.roce_ports import RocePort
from ..ib import link_advice
from ..ib.check_port import ETHERNET_DISABLED, EXPECTS_LESS, set_key
from .siblings import split, usual

STATE_FIRST = "fix roce.port.state first"
NOT_ACTIVE = "the port is {state}"
_LINK_UP = "LinkUp"
# An interface without a state machine of its own says unknown, and its carrier counts.
_UP = ("up", "unknown")


def judge(port: RocePort, rails: list[RocePort], expect: Expectations) -> Iterator[Check]:
    """roce.port.* and roce.netdev.*; ``rails``: all of the host's, this one among them."""
    yield _state(port)
    yield _physical_state(port)
    yield _rate(port, rails, expect)
    yield _carrier(port)
    yield _mtu(port, rails, expect)


def _state(port: RocePort) -> Check:
    check_id = "roce.port.state"
    if not port.state:
        return unknown(check_id, port.name, "the kernel told no state")
    if port.state == ACTIVE:
        return passed(check_id, port.name, port.state, ACTIVE, CAPABILITY)
    return failed(check_id, port.name, port.state, ACTIVE, CAPABILITY, cause=_why_down(port))


def _why_down(port: RocePort) -> str:
    """What the HCA says, or the interface. Its driver calls every port without a carrier Disabled."""
    said = link_advice.of(port.link.value)
    if said is not None:
        return said
    if _is_off(port):
        return Cause(
            f"the interface {port.netdev.value} is switched off",
            f"leave the cable; `ip link set {port.netdev.value} up`, and have the network configuration do so at boot",
        )
    return ETHERNET_DISABLED if port.physical_state == "Disabled" else ""


def _is_off(port: RocePort) -> bool:
    """Whether the interface is switched off: the kernel tells no carrier of it then, not even that there is none."""
    return port.operstate.value == "down" and not port.carrier.known


def _physical_state(port: RocePort) -> Check:
    check_id = "roce.port.physical_state"
    if not port.physical_state:
        return unknown(check_id, port.name, "the kernel told no physical state")
    return outcome(
        port.physical_state == _LINK_UP,
        check_id,
        port.name,
        port.physical_state,
        _LINK_UP,
        CAPABILITY,
        cause=_why_down(port),
    )


def _rate(port: RocePort, rails: list[RocePort], expect: Expectations) -> Check:
    check_id = "roce.port.rate"
    if port.state and port.state != ACTIVE:
        why = NOT_ACTIVE.format(state=port.state)
        return unknown(check_id, port.name, why, remedy=STATE_FIRST)
    if not port.rate or port.rate < 0:
        return unknown(check_id, port.name, "the kernel told no rate")
    observed = gbps(port.rate)
    wanted_by = wanted_rate(expect)
    if wanted_by is None and asked_soft(port, expect) is not None:
        return skipped(check_id, port.name, f"soft RoCE: the kernel shows {observed} whatever the interface gives")
    if wanted_by is None:
        wanted_by = _by_equals(port, rails)
    if wanted_by is None:
        why = "nobody expects a rate of this port"
        return unknown(check_id, port.name, why, observed=observed, remedy=set_key("rate_gbps"))
    wanted, exact = wanted_by
    expected = gbps(wanted.value) if exact else f"at least {gbps(wanted.value)}"
    if fast_enough(port.rate, wanted, exact):
        return passed(check_id, port.name, observed, expected, wanted.source)
    cause: str = ""
    if port.rate > wanted.value:
        cause = EXPECTS_LESS
    return failed(check_id, port.name, observed, expected, wanted.source, cause=cause)


def _by_equals(port: RocePort, rails: list[RocePort]) -> tuple[Expected, bool] | None:
    """What most rails run at convicts the slower one. It acquits none, for all of them may be slow:
    only the most that the model can do does."""
    usual_rate = usual(rails, lambda rail: rail.rate if rail.state == ACTIVE else None)
    if usual_rate is None or (port.rate or 0.0) < usual_rate.value:
        return None if usual_rate is None else (usual_rate, False)
    most = most_gbps(port.model)
    return (Expected(most, CAPABILITY), False) if most and (port.rate or 0.0) >= most else None


def _carrier(port: RocePort) -> Check:
    check_id, expected = "roce.netdev.carrier", "up, with carrier"
    state = port.operstate.value

    def judged(carrier: bool) -> Check:
        observed = f"{port.netdev.value} is {state}, {'with' if carrier else 'without'} carrier"
        if carrier and state in _UP:
            return passed(check_id, port.name, observed, expected, CAPABILITY)
        cause = ""
        if _is_off(port):
            cause = "the interface is switched off"
        elif not carrier and port.physical_state == "Disabled":
            cause = ETHERNET_DISABLED
        return failed(check_id, port.name, observed, expected, CAPABILITY, cause=cause)

    if state is None:
        return unknown(check_id, port.name, port.operstate.why or port.netdev.why)
    return judged(False) if _is_off(port) else look(check_id, port.name, port.carrier, judged)


def _mtu(port: RocePort, rails: list[RocePort], expect: Expectations) -> Check:
    check_id = "roce.netdev.mtu"
    wanted = expect.get("roce_mtu")

    if wanted is None and asked_soft(port, expect) is not None:
        return skipped(check_id, port.name, "soft RoCE: no HCA's packets are expected of it")

    def judged(mtu: int) -> Check:
        carried = next((entry for entry in roce.RDMA_MTUS if mtu - roce.HEADERS >= entry), 0)
        observed = f"{port.netdev.value} {mtu}, RDMA MTU {carried}"
        if wanted is not None:
            return outcome(mtu == wanted.value, check_id, port.name, observed, wanted.value, wanted.source)
        expected = f"at least {roce.RDMA_MTU + roce.HEADERS}, for RDMA MTU {roce.RDMA_MTU}"
        most, differ = usual(rails, lambda rail: rail.mtu.value), split(rails, lambda rail: rail.mtu.value)
        if carried >= roce.RDMA_MTU and differ:
            return unknown(check_id, port.name, differ, observed=observed, remedy=set_key("roce_mtu"))
        if carried >= roce.RDMA_MTU and most is not None and mtu != most.value:
            cause = "another MTU than most rails of this host have"
            return failed(check_id, port.name, observed, most.value, most.source, cause=cause)
        return outcome(carried >= roce.RDMA_MTU, check_id, port.name, observed, expected, CAPABILITY)

    return look(check_id, port.name, port.mtu, judged)
