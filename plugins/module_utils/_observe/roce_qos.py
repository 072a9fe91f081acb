# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask an interface what it does with priorities: mlnx_qos, else dcb, and the switches for ECN."""

from __future__ import annotations

from typing import TypeVar

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import Qos
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dcb, mlnx_qos

T = TypeVar("T")

NET = "/sys/class/net"
_SWITCHES = tuple(f"{side}/{priority}" for side in ("roce_np", "roce_rp") for priority in range(8))


def observe(evidence: Evidence, uplink: Reading[str]) -> Qos:
    """All of it, of the interface of this name."""
    if uplink.value is None:
        why = uplink.why or "the port has no network interface"
        return Qos(Reading(None, why), Reading(None, why), Reading(None, why), Reading(None, why))
    name = uplink.value
    told = _ask.command(evidence, "mlnx_qos", mlnx_qos.parse, "-i", name)
    ecn = _ecn(evidence, f"{NET}/{name}/ecn")
    if told.value is not None and told.value.trust and told.value.pfc is not None:
        priority = Reading(told.value.priority)
        return Qos(Reading(told.value.trust), Reading(told.value.pfc), priority, ecn)
    pfc = _ask.command(evidence, "dcb", dcb.parse_pfc, "pfc", "show", "dev", name)
    rules = _ask.command(evidence, "dcb", dcb.parse_app, "app", "show", "dev", name)
    return Qos(
        _or_why(rules.map(lambda found: "dscp" if found else "pcp"), told),
        _or_why(pfc, told),
        _or_why(rules, told),
        ecn,
    )


def _or_why(reading: Reading[T], first: Reading[mlnx_qos.Qos]) -> Reading[T]:
    return reading if reading.known else Reading(None, f"{first.why}; {reading.why}")


def _ecn(evidence: Evidence, base: str) -> Reading[tuple[tuple[str, bool], ...]]:
    there = _ask.names(evidence, base)
    if there.value is None:
        return Reading(None, there.why, there.missing)
    found = []
    for switch in _SWITCHES:
        side, priority = switch.split("/")
        told = _ask.text(evidence, f"{base}/{side}/enable/{priority}")
        if told.value is None:
            return Reading(None, told.why)
        found.append((switch, told.value == "1"))
    return Reading(tuple(found))
