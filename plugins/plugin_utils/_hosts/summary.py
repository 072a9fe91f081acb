# SPDX-License-Identifier: GPL-3.0-or-later
"""One host in a few words: what the table of every report format shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...module_utils._data import rdma_drivers
from ...module_utils._data.rdma_tests import MOVED
from ...module_utils._ground import check as _model
from ...module_utils._ground.check import (
    DEGRADED,
    FAIL,
    NOT_READY,
    READY,
    UNKNOWN,
    UNKNOWN_VERDICT,
    Check,
    from_dict,
    trouble,
)
from ...module_utils._ground.text import few
from ...module_utils._verify.fold import folded
from .._ground.plain import plain

NOTHING = "-"
GOOD = (READY, DEGRADED)
# Which verdicts a run ends well with, by report_fail_on.
ACCEPTED: Mapping[str, Collection[str]] = {
    "degraded": (READY,),
    "not_ready": GOOD,
    "never": (READY, DEGRADED, UNKNOWN_VERDICT, NOT_READY),
}
# Hosts that a sentence names.
_MOST = 8


def ports(host: Mapping[str, Any]) -> str:
    """``2/2 Active, 400 Gb/s``: active and all ports, and the distinct rates."""
    facts = host["facts"]["ib"]
    if facts is None:
        return NOTHING
    found = [port for ca in facts["cas"] for port in ca["ports"]]
    active = [port for port in found if port["state"] == "Active"]
    text = f"{len(active)}/{len(found)} Active"
    soft = _soft(host)
    # What the kernel shows as the rate of soft RoCE is none of the interface.
    hard = [port for ca in facts["cas"] for port in ca["ports"] if ca["name"] not in soft]
    rates = sorted({port["rate"] for port in hard if port["state"] == "Active" and port["rate"] is not None})
    text += f", {' and '.join(f'{rate:g}' for rate in rates)} Gb/s" if rates else ""
    return f"{text}, soft RoCE" if soft else text


def soft_roce(report: Mapping[str, Any]) -> str:
    """What of the cluster is RDMA in software, in a sentence; "" where nothing is."""
    seen = {name: _soft(host) for name, host in report["hosts"].items()}
    found = [f"{name} ({', '.join(soft)})" for name, soft in seen.items() if soft]
    if not found:
        return ""
    return f"RDMA in software on {few(found, _MOST)}: no number of theirs is an HCA's"


def _soft(host: Mapping[str, Any]) -> list[str]:
    """The devices of a host that do RDMA in software."""
    seen = host["facts"].get("roce") or {}
    ports = (seen.get("ports") or {}).get("value") or ()
    soft = (port["device"] for port in ports if port["protocol"] == rdma_drivers.SOFTWARE)
    return list(dict.fromkeys(soft))


def subnet_manager(host: Mapping[str, Any]) -> str:
    """``lid 1`` where every asked port was answered by one master, else how many were."""
    facts = host["facts"]["ib"]
    if facts is None or not facts["sm"]:
        return NOTHING
    answers = list(facts["sm"].values())
    lids = {answer["sm"]["lid"] for answer in answers if answer["sm"]}
    reported = sum(1 for answer in answers if answer["sm"])
    if reported == len(answers) and len(lids) == 1:
        return f"lid {lids.pop()}"
    return f"{reported} of {len(answers)} ports answered"


def pings_by_host(all_pings: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The pings that each host took part in, at either end."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for ping in all_pings:
        for name in sorted({ping["client"], ping["server"]}):
            found.setdefault(name, []).append(ping)
    return found


def pings(mine: Sequence[Mapping[str, Any]]) -> str:
    """``8/8 pairs, 0 % lost``: tested and planned pairs of one host, and the loss over them."""
    if not mine:
        return NOTHING
    tested = [ping for ping in mine if not ping["untested"]]
    sent = sum(ping["sent"] for ping in tested)
    lost = sent - sum(ping["received"] for ping in tested)
    text = f"{len(tested)}/{len(mine)} pairs"
    return f"{text}, {100 * lost / sent:.3g} % lost" if sent else text


def moved(name: str, report: Mapping[str, Any]) -> str:
    """``8/8 moved data``: tests over RDMA that moved data, of those in which the host took part."""
    return moved_by_host(report).get(name, NOTHING)


def moved_by_host(report: Mapping[str, Any]) -> dict[str, str]:
    """The same of every host that took part in one."""
    found: dict[str, list[bool]] = {}
    for entry in report.get("rdma") or ():
        for name in sorted({entry["client"], entry["server"]}):
            found.setdefault(name, []).append(entry["state"] == MOVED)
    return {name: f"{sum(mine)}/{len(mine)} moved data" for name, mine in found.items()}


def not_well(judged: Mapping[str, Any]) -> list[Check]:
    """The checks that failed or could not look, waived ones as well."""
    return [from_dict(check) for check in judged["checks"] if check["result"] in (FAIL, UNKNOWN)]


def counts(host: Mapping[str, Any]) -> str:
    """``34 pass, 1 fail``: how many checks ended how; what did not occur is left out."""
    return _model.counted("waived" if check["waived"] else check["result"] for check in host["checks"])


# What a check is about that is about nothing smaller.
_HOST = "host"
# Where more is told of what a run ended with.
ABOVE = "The table above tells why, and what next."


def bad(report: Mapping[str, Any], accepted: Collection[str] = GOOD) -> dict[str, str]:
    """Every host (and fabric) of another verdict than those, by what: the table has told why."""
    found: dict[str, str] = {}
    for name, host in report["hosts"].items():
        if host["verdict"] in accepted:
            continue
        found[name] = f"{name} is {host['verdict']}: {_worst(host)}."
    for name, said in _bad_fabrics(report, accepted).items():
        found[name] = f"{found[name]} And {said}" if name in found else said
    return {name: plain(f"{said} {ABOVE}") for name, said in found.items()}


def _worst(judged: Mapping[str, Any]) -> str:
    lines = folded(trouble(not_well(judged)))
    if not lines:
        return "no check ran"
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    subject = f" {lines[0].subject}" if lines[0].subject != _HOST else ""
    return f"{lines[0].check.id}{subject}{more}"


def _bad_fabrics(report: Mapping[str, Any], accepted: Collection[str]) -> dict[str, str]:
    """What is wrong with fabrics, told at the host that asked, for a fabric is no host."""
    reported = report.get("fabric") or {"fabrics": [], "error": ""}
    first = next(iter(report["hosts"]), "")
    found: dict[str, str] = {}
    if reported["error"] and UNKNOWN_VERDICT not in accepted:
        found[first] = f"the fabric was not judged: {reported['error'].removesuffix('.')}."
    for fabric in reported["fabrics"]:
        if fabric["verdict"] in accepted:
            continue
        asker = fabric["asked"].partition(" ")[0]
        at = asker if asker in report["hosts"] else first
        named = f" {fabric['name']}" if fabric["name"] != "fabric" else ""
        said = f"the fabric{named} is {fabric['verdict']}: {_worst(fabric)}"
        found[at] = f"{found[at]} {said}." if at in found else f"{said}."
    return found
