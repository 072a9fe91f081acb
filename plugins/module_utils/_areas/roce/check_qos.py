# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge how one RoCE rail marks its traffic and keeps it from being lost; no I/O."""

from __future__ import annotations

from typing import Callable, Iterator

from ..._data import rdma_drivers, roce
from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._rails.roce import asked_soft
from ..._rails.roce_ports import ROCE_V1, ROCE_V2, UNSET, RocePort
from ..ib.check_port import set_key
from .siblings import split, usual

_TRUST = "roce.qos.trust"
_PFC = "roce.qos.pfc"
_TOS = "roce.qos.tos"
_ECN = "roce.qos.ecn"
_PRIORITY = "roce.qos.priority"
_MODE = "roce.cm.mode"
# Why soft RoCE goes without.
_SOFT = {
    _TRUST: "soft RoCE: no priorities of its own",
    _PFC: "soft RoCE: no flow control of its own",
    _TOS: "soft RoCE: no mark of its own",
    _ECN: "soft RoCE: no congestion control",
}
_GUEST = "a virtual function: priorities and flow control are its host's"
_DSCP = "dscp"
_ALL = tuple(range(8))
_LOSSLESS = "flow control for the priority of RoCE, or traffic that is marked for ECN"


def judge(port: RocePort, rails: list[RocePort], nccl_tc: Reading[int], expect: Expectations) -> Iterator[Check]:
    """roce.qos.*, roce.cm.mode; ``rails``: all of the host's, this one among them.

    Where nobody says what is right, the rails must be alike, and lossless by what they show.
    """
    yield _unless(_TRUST, "roce_trust", port, expect, lambda: _trust(port, rails, expect))
    yield _unless(_PFC, "roce_pfc", port, expect, lambda: _pfc(port, rails, nccl_tc, expect))
    yield _unless(_TOS, "roce_tos", port, expect, lambda: _tos(port, rails, nccl_tc, expect))
    yield _priority(port, rails, nccl_tc, expect)
    yield _ecn(port, nccl_tc, expect)
    yield _mode(port, expect)


def _unless(check_id: str, key: str, port: RocePort, expect: Expectations, judged: Callable[[], Check]) -> Check:
    """The judgement, but of what has no priorities of its own where nobody expects any of it."""
    if expect.get(key) is None and asked_soft(port, expect) is not None:
        return skipped(check_id, port.name, f"{_SOFT[check_id]}, and nobody expects any")
    if expect.get(key) is None and port.virtual:
        return skipped(check_id, port.name, _GUEST)
    return judged()


def _mode(port: RocePort, expect: Expectations) -> Check:
    """What RDMA CM connects with where a program does not say it; RoCE v2 is the kernel's own choice."""
    wanted = expect.get("roce_mode")
    source = wanted.source if wanted is not None else CAPABILITY
    expected = {"v1": ROCE_V1, "v2": ROCE_V2}[wanted.value if wanted is not None else "v2"]
    if wanted is None and asked_soft(port, expect) is not None:
        return skipped(_MODE, port.name, "soft RoCE, and nobody expects a RoCE mode of RDMA CM (roce_mode)")

    def compare(found: str) -> Check:
        if found == expected:
            return passed(_MODE, port.name, found, expected, source)
        return failed(_MODE, port.name, found or "none", expected, source)

    if wanted is None and port.cm_mode.value is None and port.cm_mode.missing:
        return skipped(_MODE, port.name, "nobody looks at RDMA CM's mode here, and nobody expects one (roce_mode)")
    return look(_MODE, port.name, port.cm_mode, compare)


def _trust(port: RocePort, rails: list[RocePort], expect: Expectations) -> Check:
    said = expect.get("roce_trust")
    wanted = said or usual(rails, lambda rail: rail.qos.trust.value)

    def compare(trust: str) -> Check:
        if wanted is not None and trust != wanted.value:
            return failed(_TRUST, port.name, trust, wanted.value, wanted.source, cause=_odd(said))
        if said is None and trust != _DSCP and _untagged(port) and port.qos.pfc.value and 0 not in port.qos.pfc.value:
            cause = f"{port.uplink} sends no VLAN tag, so all of it falls into priority 0, which has no flow control"
            return failed(_TRUST, port.name, trust, _DSCP, CAPABILITY, cause=cause)
        differ = "" if said is not None else split(rails, lambda rail: rail.qos.trust.value)
        if differ:
            return unknown(_TRUST, port.name, differ, observed=trust, remedy=set_key("roce_trust"))
        expected, source = (trust, CAPABILITY) if wanted is None else (wanted.value, wanted.source)
        return passed(_TRUST, port.name, trust, expected, source)

    return look(_TRUST, port.name, port.qos.trust, compare)


def _odd(said: Expected | None) -> str:
    """Why a rail is wrong that differs; the catalog's reason where the inventory has a word."""
    return "" if said is not None else "most rails of this host have it otherwise"


def _untagged(port: RocePort) -> bool:
    """Whether the port's addresses are on the function's own interface, and on no VLAN or bond."""
    return bool(port.uplink) and port.uplink == port.netdev.value


def shown(priorities: tuple[int, ...]) -> str:
    return ", ".join(str(priority) for priority in priorities) or "none"


def _pfc(port: RocePort, rails: list[RocePort], nccl_tc: Reading[int], expect: Expectations) -> Check:
    said = expect.get("roce_pfc")
    wanted = said or usual(rails, lambda rail: rail.qos.pfc.value)

    def compare(found: tuple[int, ...]) -> Check:
        observed = f"priorities {shown(found)}"
        right = found if wanted is None else tuple(sorted(set(wanted.value)))
        source = CAPABILITY if wanted is None else wanted.source
        expected = f"priorities {shown(right)}"
        cause = ""
        if set(right) - set(found):
            missing = shown(tuple(entry for entry in right if entry not in found))
            cause = f"no flow control for priority {missing}: RoCE packets are dropped under load"
        elif found and found != right:
            cause = "flow control for more priorities than the switches are set up for"
        elif said is None and found == _ALL:
            expected = "flow control for the priority of RoCE alone"
            cause = "flow control for all priorities: one that is full stops all traffic, CNPs among it"
        elif said is None and not found and port.driver != rdma_drivers.MARKED_BY_US:
            why = f"no flow control, and driver {port.driver or 'unknown'} marks traffic for ECN in a way of its own"
            return unknown(_PFC, port.name, why, observed=observed, remedy=set_key("roce_pfc"))
        elif said is None and not found and not _by_ecn(port, nccl_tc):
            expected = _LOSSLESS
            cause = "nothing keeps RoCE packets from being lost under load: no flow control, and no ECN"
        if cause or found != right:
            return failed(_PFC, port.name, observed, expected, source, cause=cause)
        differ = "" if said is not None else split(rails, lambda rail: rail.qos.pfc.value)
        if differ:
            return unknown(_PFC, port.name, differ, observed=observed, remedy=set_key("roce_pfc"))
        return passed(_PFC, port.name, observed, expected, source)

    return look(_PFC, port.name, port.qos.pfc, compare)


def _by_ecn(port: RocePort, nccl_tc: Reading[int]) -> bool:
    """Whether congestion control alone keeps the rail from loss: sorted by DSCP, and marked for ECN."""
    return port.qos.trust.value == _DSCP and bool(mark(port, nccl_tc) & roce.ECN_BITS)


def mark(port: RocePort, nccl_tc: Reading[int]) -> int:
    """The ToS of RoCE traffic: the driver's, else NCCL's; 0 where neither sets any."""
    found = port.traffic_class.value
    if found is None or found == UNSET:
        found = nccl_tc.value
    return 0 if found is None or found == UNSET else found


def _tos(port: RocePort, rails: list[RocePort], nccl_tc: Reading[int], expect: Expectations) -> Check:
    """The driver's own setting is above everything; else what NCCL is told; else RDMA CM's, which
    is all that soft RoCE has."""
    said = expect.get("roce_tos")
    wanted = said or usual(rails, lambda rail: mark(rail, nccl_tc) or None)
    soft = asked_soft(port, expect) is not None
    driver = port.traffic_class

    def compare(found: int, where: str) -> Check:
        observed = f"{found} ({where})"
        differ = "" if wanted is not None else split(rails, lambda rail: mark(rail, nccl_tc) or None)
        if differ:
            return unknown(_TOS, port.name, differ, observed=observed, remedy=set_key("roce_tos"))
        if wanted is None:
            return passed(_TOS, port.name, observed, found, CAPABILITY)
        right = found == wanted.value
        return outcome(right, _TOS, port.name, observed, wanted.value, wanted.source, cause=_odd(said))

    if driver.value is not None and driver.value != UNSET:
        return compare(driver.value, "traffic_class of the driver")
    if driver.value is None and not driver.missing:
        return unknown(_TOS, port.name, driver.why)
    if nccl_tc.value is not None and nccl_tc.value != UNSET:
        return compare(nccl_tc.value, "NCCL_IB_TC")
    if nccl_tc.value is None and not nccl_tc.missing:
        return unknown(_TOS, port.name, nccl_tc.why)
    if soft and port.cm_tos.value is not None:
        return compare(port.cm_tos.value, "RDMA CM; soft RoCE has no other")
    if wanted is None:
        return _unmarked(port)
    if wanted.value == 0:
        return passed(_TOS, port.name, "not set", 0, wanted.source)
    observed, cause = "not set", "neither the driver nor nccl.conf marks RoCE traffic"
    if port.cm_tos.value:
        observed = f"not set (RDMA CM: {port.cm_tos.value})"
        cause = "only programs that use RDMA CM are marked; NCCL is none of them"
    return failed(_TOS, port.name, observed, wanted.value, wanted.source, cause=cause)


def _unmarked(port: RocePort) -> Check:
    """A rail that nothing marks and nobody expects a mark of: jobs may set one by themselves."""
    if port.driver != rdma_drivers.MARKED_BY_US:
        return skipped(_TOS, port.name, f"driver {port.driver or 'unknown'} marks its traffic in a way of its own")
    lossless, rules = port.qos.pfc.value, dict(port.qos.priority.value or ())
    if lossless is None or port.qos.trust.value is None:
        return unknown(_TOS, port.name, port.qos.pfc.why or port.qos.trust.why)
    if not lossless or port.qos.trust.value != _DSCP:
        why = "see roce.qos.pfc" if not lossless else "priorities are not taken from the DSCP here"
        return skipped(_TOS, port.name, f"nobody expects a mark: {why}")
    if rules.get(0, 0) in lossless:
        return passed(_TOS, port.name, "not set: unmarked traffic has flow control", 0, CAPABILITY)
    why = "neither driver nor nccl.conf marks RoCE traffic, so that it falls into a priority without flow control"
    return unknown(_TOS, port.name, f"{why}, unless jobs set NCCL_IB_TC", remedy=set_key("roce_tos"))


def _own(value: object) -> Expected | None:
    """What the rail itself shows, by which its other settings are judged; None of nothing."""
    return None if value is None else Expected(value, CAPABILITY)


def _priority(port: RocePort, rails: list[RocePort], nccl_tc: Reading[int], expect: Expectations) -> Check:
    """Whether marked traffic falls into a priority with flow control."""
    tos, pfc, trust = expect.get("roce_tos"), expect.get("roce_pfc"), expect.get("roce_trust")
    if asked_soft(port, expect) is None and not port.virtual:
        tos = tos or _own(mark(port, nccl_tc) or None)
        pfc = pfc or usual(rails, lambda rail: rail.qos.pfc.value) or _own(port.qos.pfc.value)
        trust = trust or usual(rails, lambda rail: rail.qos.trust.value) or _own(port.qos.trust.value)
        unread = port.qos.pfc if pfc is None else port.qos.trust
        if tos is not None and (pfc is None or trust is None):
            return unknown(_PRIORITY, port.name, unread.why)
    if tos is None or pfc is None or not pfc.value:
        return skipped(_PRIORITY, port.name, "nobody sets or expects both a ToS and flow control")
    if trust is None or trust.value != "dscp":
        return skipped(_PRIORITY, port.name, "priorities are not taken from the DSCP here")
    dscp = int(tos.value) >> roce.DSCP_SHIFT
    expected = f"DSCP {dscp} in priority {shown(tuple(pfc.value))}"

    def compare(rules: tuple[tuple[int, int], ...]) -> Check:
        found = dict(rules).get(dscp)
        if found is None:
            return unknown(_PRIORITY, port.name, f"the interface shows no priority for DSCP {dscp}")
        observed = f"DSCP {dscp} in priority {found}"
        return outcome(found in pfc.value, _PRIORITY, port.name, observed, expected, tos.source)

    if port.qos.trust.value is not None and port.qos.trust.value != "dscp":
        return skipped(_PRIORITY, port.name, "the interface does not look at the DSCP: see roce.qos.trust")
    return look(_PRIORITY, port.name, port.qos.priority, compare)


def _ecn(port: RocePort, nccl_tc: Reading[int], expect: Expectations) -> Check:
    """Whether congestion is told and heard of in the priorities that RoCE runs in."""
    tos, pfc = expect.get("roce_tos"), expect.get("roce_pfc")
    if asked_soft(port, expect) is not None:
        return skipped(_ECN, port.name, _SOFT[_ECN])
    if tos is None and mark(port, nccl_tc) and not port.virtual:
        tos = Expected(mark(port, nccl_tc), CAPABILITY)
    if tos is None or not int(tos.value) & roce.ECN_BITS:
        return skipped(_ECN, port.name, "nobody sets or expects ECN (the lowest two bits of roce_tos)")
    lossless = pfc.value if pfc is not None else port.qos.pfc.value
    named = tuple(sorted(set(lossless or ())))
    rules = dict(port.qos.priority.value or ())
    own = rules.get(int(tos.value) >> roce.DSCP_SHIFT)
    priorities = named or ((own,) if own is not None else ())
    if not priorities:
        return unknown(_ECN, port.name, "nobody can tell which priority RoCE runs in", remedy=set_key("roce_pfc"))
    expected = f"on for priority {shown(priorities)}"

    def compare(switches: tuple[tuple[str, bool], ...]) -> Check:
        off = [
            f"{side}/{priority}"
            for side in ("roce_np", "roce_rp")
            for priority in priorities
            if not dict(switches).get(f"{side}/{priority}")
        ]
        if off:
            return failed(_ECN, port.name, f"off: {', '.join(off)}", expected, tos.source)
        return passed(_ECN, port.name, "on", expected, tos.source)

    def no_switch() -> Check:
        return skipped(_ECN, port.name, "the driver has no switches for ECN: its firmware's default holds")

    return look(_ECN, port.name, port.qos.ecn, compare, missing=no_switch)
