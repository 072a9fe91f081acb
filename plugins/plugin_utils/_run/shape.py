# SPDX-License-Identifier: GPL-3.0-or-later
"""The run object's file (folded.py) as a JSON schema: what docs/run.schema.json holds, and what read.py demands.

``schema`` changes when something is taken away or means something else, ``revision`` when something
is added. What nobody renders (facts, evidence) is left open.
"""

from __future__ import annotations

from typing import Any

from ...module_utils._ground.check import (
    DEGRADED,
    FAIL,
    NOT_READY,
    PASS,
    READY,
    SEVERITIES,
    SKIP,
    UNKNOWN,
    UNKNOWN_VERDICT,
)
from .compare import ABSENT
from .course import FOUND, NONE
from .folded import NEXT

SCHEMA = "ibready/report/2"
REVISION = 1
VERDICTS = (READY, DEGRADED, UNKNOWN_VERDICT, NOT_READY)
FAIL_ON = ("degraded", "not_ready", "never")
WAIVER_STATES = ("used", "unused", "expired")

Shape = dict[str, Any]
_TEXT: Shape = {"type": "string"}
_COUNT: Shape = {"type": "integer", "minimum": 0}
_ANY: Shape = {"type": "object"}


def _list(of: Shape) -> Shape:
    return {"type": "array", "items": of}


def _by_name(of: Shape) -> Shape:
    return {"type": "object", "additionalProperties": of}


def _or_null(of: Shape) -> Shape:
    return {**of, "type": [of["type"], "null"]}


def _record(*optional: str, **fields: Shape) -> Shape:
    """An object with these fields, all but the optional ones required; more may be there."""
    required = [name for name in fields if name not in optional]
    return {"type": "object", "required": required, "properties": fields}


_VERDICT: Shape = {"type": "string", "enum": list(VERDICTS)}
CHECK = {
    **_record(
        id=_TEXT,
        subject=_TEXT,
        result={"type": "string", "enum": [PASS, FAIL, UNKNOWN, SKIP]},
        severity={"type": "string", "enum": list(SEVERITIES)},
        observed=_TEXT,
        expected=_TEXT,
        expected_from=_TEXT,
        cause=_TEXT,
        remedy=_TEXT,
        evidence=_by_name(_TEXT),
        waived=_TEXT,
    ),
    "additionalProperties": False,
}
_CHECKS = _list(CHECK)
_ORDER: Shape = {"type": "array", "items": {"type": "integer", "minimum": NEXT}}
_HOST = _record(verdict=_VERDICT, checks=_CHECKS, settled=_ORDER, facts=_record(node=_ANY, ib=_or_null(_ANY)))
_PING = _record(
    client=_TEXT, server=_TEXT, rail=_TEXT, sent=_COUNT, received=_COUNT, untested=_TEXT,
    culprit=_TEXT,
)  # fmt: skip
_FABRIC = _record(
    "lot",
    lot=_COUNT,
    fabrics=_list(
        _record(name=_TEXT, verdict=_VERDICT, asked=_TEXT, checks=_CHECKS, nodes=_list(_ANY), links=_list(_ANY))
    ),
    error=_TEXT,
    skipped=_TEXT,
)
_RUN = _record(
    *("cluster", "groups", "inventory"),
    playbooks=_list(_TEXT),
    started=_or_null(_TEXT),
    check_mode={"type": "boolean"},
    limit=_TEXT,
    size=_COUNT,
    fail_on={"type": "string", "enum": list(FAIL_ON)},
    cluster=_TEXT,
    groups=_by_name(_list(_TEXT)),
    inventory=_list(_TEXT),
)
_PLAN = _by_name(_record(verdict=_TEXT, because=_list(_TEXT), digest=_TEXT, stack=_ANY, hosts=_list(_TEXT)))
_WAIVER = _record(
    check=_TEXT, host=_TEXT, subject=_TEXT, until=_TEXT, reason=_TEXT,
    state={"type": "string", "enum": list(WAIVER_STATES)},
)  # fmt: skip
BENCHMARKS = _record(
    *("created", "what", "hosts"),
    error=_TEXT,
    created=_TEXT,
    what=_list(_TEXT),
    hosts=_by_name(_record(verdict=_VERDICT, checks=_CHECKS)),
)
_FOUND = _list(_record(id=_TEXT, subject=_TEXT, before=_TEXT, now=_TEXT))
_SINCE = _record(
    "ends",
    created=_TEXT,
    error=_TEXT,
    hosts=_by_name(_record(before=_TEXT, now=_TEXT, better=_FOUND, worse=_FOUND, gone=_FOUND)),
    ends=_by_name(_TEXT),
)
_HISTORY = _record(
    runs=_list(_TEXT),
    unread=_list(_TEXT),
    hosts=_by_name(_list({"type": "string", "enum": [*VERDICTS, ABSENT]})),
    findings=_list(
        _record(
            id=_TEXT,
            subject=_TEXT,
            results=_list({"type": "string", "enum": [PASS, SKIP, *sorted(FOUND), ABSENT, NONE]}),
            hosts=_list(_TEXT),
        )
    ),
)

RUN: Shape = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"urn:ibready:report:2:{REVISION}",
    "title": f"What a run of ibready told: {SCHEMA}, revision {REVISION}",
    **_record(
        *("rdma", "fabric", "ping_again", "ping_coverage", "ping_matrix", "tcp", "history"),
        schema={"const": SCHEMA},
        revision={"const": REVISION},
        created=_TEXT,
        ibready=_TEXT,
        simulated=_TEXT,
        run=_RUN,
        versions=_by_name(_TEXT),
        plan=_or_null(_PLAN),
        changes=_or_null(_by_name(_list(_record(task=_TEXT, times=_COUNT)))),
        waivers=_list(_WAIVER),
        benchmarks=_or_null(BENCHMARKS),
        since=_or_null(_SINCE),
        history=_or_null(_HISTORY),
        settled=_CHECKS,
        hosts=_by_name(_HOST),
        pings=_list(_PING),
        ping_again=_list(_PING),
        ping_coverage=_or_null(_ANY),
        ping_matrix=_or_null(_list(_ANY)),
        tcp=_list(_ANY),
        rdma=_list(_record(client=_TEXT, server=_TEXT, state=_TEXT)),
        fabric=_FABRIC,
    ),
}
# What of it two runs are compared by (compare.py): hosts without their facts.
STANDING: Shape = {
    **RUN,
    "properties": {
        **RUN["properties"],
        "hosts": _by_name(_record(verdict=_VERDICT, checks=_CHECKS, settled=_ORDER)),
    },
}
