# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge how one RoCE rail marks its traffic and keeps it from being lost; no I/O."""

from __future__ import annotations

from typing import Callable, Iterator

from ..._data import roce
from ..._expect.expectations import Expectations, Expected
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._rails.roce import asked_soft
from ..._rails.roce_ports import ROCE_V1, ROCE_V2, UNSET, RocePort
from ..ib.check_port import set_key

_TOS = "roce.qos.tos"
_ECN = "roce.qos.ecn"
_PRIORITY = "roce.qos.priority"
_MODE = "roce.cm.mode"
# Why soft RoCE goes without.
_SOFT = {
    "roce.qos.trust": "soft RoCE: no priorities of its own",
    "roce.qos.pfc": "soft RoCE: no flow control of its own",
    _TOS: "soft RoCE: no mark of its own",
    _ECN: "soft RoCE: no congestion control",
}


def judge(port: RocePort, nccl_tc: Reading[int], expect: Expectations) -> Iterator[Check]:
    """roce.qos.*, roce.cm.mode"""
    yield _expected("roce.qos.trust", "roce_trust", port, expect, lambda entry: _trust(port, entry))
    yield _expected("roce.qos.pfc", "roce_pfc", port, expect, lambda entry: _pfc(port, entry))
    soft = asked_soft(port, expect) is not None
    yield _expected(_TOS, "roce_tos", port, expect, lambda entry: _tos(port, nccl_tc, entry, soft))
    yield _priority(port, expect)
    yield _ecn(port, expect)
    yield _mode(port, expect)


def _expected(
    check_id: str,
    key: str,
    port: RocePort,
    expect: Expectations,
    judged: Callable[[Expected], Check],
) -> Check:
    wanted = expect.get(key)
    if wanted is None and asked_soft(port, expect) is not None:
        return skipped(check_id, port.name, f"{_SOFT[check_id]}, and nobody expects any")
    if wanted is None:
        why = f"nobody expects a value: the inventory has no ibready_expect.{key}"
        return unknown(check_id, port.name, why, remedy=set_key(key))
    return judged(wanted)


def _mode(port: RocePort, expect: Expectations) -> Check:
    """What RDMA CM connects with where a program does not say it."""
    wanted = expect.get("roce_mode")
    if wanted is None:
        return skipped(_MODE, port.name, "nobody expects a RoCE mode of RDMA CM (roce_mode)")
    source, expected = wanted.source, {"v1": ROCE_V1, "v2": ROCE_V2}[wanted.value]

    def compare(found: str) -> Check:
        if found == expected:
            return passed(_MODE, port.name, found, expected, source)
        return failed(_MODE, port.name, found or "none", expected, source)

    return look(_MODE, port.name, port.cm_mode, compare)


def _trust(port: RocePort, wanted: Expected) -> Check:
    check_id = "roce.qos.trust"

    def compare(trust: str) -> Check:
        return outcome(trust == wanted.value, check_id, port.name, trust, wanted.value, wanted.source)

    return look(check_id, port.name, port.qos.trust, compare)


def _shown(priorities: tuple[int, ...]) -> str:
    return ", ".join(str(priority) for priority in priorities) or "none"


def _pfc(port: RocePort, wanted: Expected) -> Check:
    check_id = "roce.qos.pfc"
    right = tuple(sorted(set(wanted.value)))
    expected = f"priorities {_shown(right)}"

    def compare(found: tuple[int, ...]) -> Check:
        observed = f"priorities {_shown(found)}"
        if found == right:
            return passed(check_id, port.name, observed, expected, wanted.source)
        cause = ""
        if set(right) - set(found):
            missing = _shown(tuple(entry for entry in right if entry not in found))
            cause = f"no flow control for priority {missing}: RoCE packets are dropped under load"
        elif found:
            cause = "flow control for more priorities than the switches are set up for"
        return failed(check_id, port.name, observed, expected, wanted.source, cause=cause)

    return look(check_id, port.name, port.qos.pfc, compare)


def _tos(port: RocePort, nccl_tc: Reading[int], wanted: Expected, soft: bool) -> Check:
    """The driver's own setting is above everything; else what NCCL is told; else RDMA CM's, which
    is all that soft RoCE has."""
    driver = port.traffic_class

    def compare(found: int, where: str) -> Check:
        return outcome(found == wanted.value, _TOS, port.name, f"{found} ({where})", wanted.value, wanted.source)

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
    if wanted.value == 0:
        return passed(_TOS, port.name, "not set", 0, wanted.source)
    observed, cause = "not set", "neither the driver nor nccl.conf marks RoCE traffic"
    if port.cm_tos.value:
        observed = f"not set (RDMA CM: {port.cm_tos.value})"
        cause = "only programs that use RDMA CM are marked; NCCL is none of them"
    return failed(_TOS, port.name, observed, wanted.value, wanted.source, cause=cause)


def _priority(port: RocePort, expect: Expectations) -> Check:
    """Whether marked traffic falls into a priority with flow control."""
    tos, pfc, trust = expect.get("roce_tos"), expect.get("roce_pfc"), expect.get("roce_trust")
    if tos is None or pfc is None or not pfc.value:
        return skipped(_PRIORITY, port.name, "nobody expects both a ToS and flow control")
    if trust is None or trust.value != "dscp":
        return skipped(_PRIORITY, port.name, "priorities are not taken from the DSCP here")
    dscp = int(tos.value) >> roce.DSCP_SHIFT
    expected = f"DSCP {dscp} in priority {_shown(tuple(pfc.value))}"

    def compare(rules: tuple[tuple[int, int], ...]) -> Check:
        found = dict(rules).get(dscp)
        if found is None:
            return unknown(_PRIORITY, port.name, f"the interface shows no priority for DSCP {dscp}")
        observed = f"DSCP {dscp} in priority {found}"
        return outcome(found in pfc.value, _PRIORITY, port.name, observed, expected, tos.source)

    if port.qos.trust.value is not None and port.qos.trust.value != "dscp":
        return skipped(_PRIORITY, port.name, "the interface does not look at the DSCP: see roce.qos.trust")
    return look(_PRIORITY, port.name, port.qos.priority, compare)


def _ecn(port: RocePort, expect: Expectations) -> Check:
    """Whether congestion is told and heard of in the priorities that RoCE runs in."""
    tos, pfc = expect.get("roce_tos"), expect.get("roce_pfc")
    if asked_soft(port, expect) is not None:
        return skipped(_ECN, port.name, _SOFT[_ECN])
    if tos is None or not int(tos.value) & roce.ECN_BITS:
        return skipped(_ECN, port.name, "nobody expects ECN (the lowest two bits of roce_tos)")
    named = tuple(sorted(set(pfc.value))) if pfc is not None else ()
    rules = dict(port.qos.priority.value or ())
    own = rules.get(int(tos.value) >> roce.DSCP_SHIFT)
    priorities = named or ((own,) if own is not None else ())
    if not priorities:
        return unknown(_ECN, port.name, "nobody can tell which priority RoCE runs in", remedy=set_key("roce_pfc"))
    expected = f"on for priority {_shown(priorities)}"

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
