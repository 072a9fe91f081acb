# SPDX-License-Identifier: GPL-3.0-or-later
"""One host in a few words: what the table of every report format shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks import _model
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    DEGRADED,
    READY,
    from_dict,
    sentence,
    trouble,
)

NOTHING = "-"


def ports(host: Mapping[str, Any]) -> str:
    """``2/2 Active, 400 Gb/s``: active and all ports, and the distinct rates."""
    facts = host["facts"]["ib"]
    if facts is None:
        return NOTHING
    found = [port for ca in facts["cas"] for port in ca["ports"]]
    active = [port for port in found if port["state"] == "Active"]
    rates = sorted({port["rate"] for port in active if port["rate"] is not None})
    text = f"{len(active)}/{len(found)} Active"
    return f"{text}, {' and '.join(f'{rate:g}' for rate in rates)} Gb/s" if rates else text


def subnet_manager(host: Mapping[str, Any]) -> str:
    """``lid 1`` where every asked port was answered by one master, else how many were."""
    facts = host["facts"]["ib"]
    if facts is None or not facts["sm"]:
        return NOTHING
    answers = list(facts["sm"].values())
    lids = {answer["sm"]["lid"] for answer in answers if answer["sm"]}
    told = sum(1 for answer in answers if answer["sm"])
    if told == len(answers) and len(lids) == 1:
        return f"lid {lids.pop()}"
    return f"{told} of {len(answers)} ports answered"


def pings_by_host(all_pings: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The pings that each host took part in, at either end."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for ping in all_pings:
        for name in {ping["client"], ping["server"]}:
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


def counts(host: Mapping[str, Any]) -> str:
    """``34 pass, 1 fail``: how many checks ended how; what did not occur is left out."""
    return _model.counts(map(from_dict, host["checks"]))


def bad(report: Mapping[str, Any]) -> dict[str, str]:
    """Every host that is neither ready nor degraded, with the worst of what is wrong."""
    found: dict[str, str] = {}
    for name, host in report["hosts"].items():
        if host["verdict"] in (READY, DEGRADED):
            continue
        wrong = trouble(map(from_dict, host["checks"]))
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        found[name] = (
            f"{name} is {host['verdict']}: {sentence(wrong[0])}{more}. "
            "The table above and the report tell all of it."
        )
    for name, said in _bad_fabrics(report).items():
        found[name] = f"{found[name]} And {said}" if name in found else said
    return found


def _bad_fabrics(report: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with fabrics, told at the host that asked, for a fabric is no host."""
    told = report.get("fabric") or {"fabrics": [], "error": ""}
    first = next(iter(report["hosts"]), "")
    found: dict[str, str] = {}
    if told["error"]:
        found[first] = f"the fabric was not judged: {told['error']}"
    for fabric in told["fabrics"]:
        if fabric["verdict"] in (READY, DEGRADED):
            continue
        wrong = trouble(map(from_dict, fabric["checks"]))
        asker = fabric["asked"].partition(" ")[0]
        at = asker if asker in report["hosts"] else first
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        named = f" {fabric['name']}" if fabric["name"] != "fabric" else ""
        said = f"the fabric{named} is {fabric['verdict']}: {sentence(wrong[0])}{more}"
        found[at] = f"{found[at]} {said}." if at in found else f"{said}."
    return found
