# SPDX-License-Identifier: GPL-3.0-or-later
"""A verdict in fewer words.

As a run's controller is told it: every check without what is empty, and of the facts those that somebody reads there,
as one text. _answers/judged.py reads it. And as a person reads it who asked one module.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Mapping, Sequence

from .._ground import packed
from .._ground.text import sendable

ALL, FINDINGS, SHORT = "all", "findings", "short"
KEY = "packed"
# A check's fields in the order in which they travel: what is empty at the end of it stays.
FIELDS = (
    *("id", "subject", "result", "severity", "observed"),
    *("expected", "expected_from", "cause", "remedy", "waived", "evidence"),
)
# What stays on the host, by area; all of it where there are no names. A bundle has it.
STAYS: Mapping[str, tuple[str, ...]] = {
    "container": (),
    "fabric": (),
    "nccl": ("library", "proof", "copies"),
    "stack": (
        *("ofed", "database", "devices", "fabric", "mlx5", "files", "dkms", "headers", "next", "verbs", "driver"),
        *("peer", "cuda", "ompi", "ucx", "ucx_conf", "beegfs"),
    ),
    "host": ("updates", "resources", "disks", "bmc", "name"),
}


def brief(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict object, with ``packed`` in place of checks and facts."""
    left = sendable({**verdict, "facts": facts(verdict["facts"])})
    found = {key: entry for key, entry in left.items() if key not in ("checks", "facts")}
    checks = [_row(check) for check in left["checks"]]
    # Each area as a text of its own: what equal hosts tell alike is read once.
    texts = {area: json.dumps(entry, separators=(",", ":")) for area, entry in left["facts"].items()}
    return {**found, KEY: packed.pack({"checks": checks, "facts": texts})}


def short(verdict: Mapping[str, Any], findings: Sequence[str]) -> dict[str, Any]:
    """The verdict object without checks and facts: how many checks came out how, and what was found."""
    found = {key: entry for key, entry in verdict.items() if key not in ("checks", "facts", "clock")}
    counts = Counter(check["result"] for check in verdict["checks"])
    waived = [f"{check['id']} {check['subject']}: {check['waived']}" for check in verdict["checks"] if check["waived"]]
    left = {**found, "counts": dict(sorted(counts.items())), "findings": list(findings)}
    told: dict[str, Any] = sendable({**left, "waived": waived} if waived else left)
    return told


def facts(every: Mapping[str, Any]) -> dict[str, Any]:
    """Those that travel."""
    return {area: _left(entry, STAYS.get(area)) for area, entry in every.items() if STAYS.get(area) != ()}


def _left(entry: Any, stays: Any) -> Any:
    return {key: value for key, value in entry.items() if key not in stays} if stays else entry


def _row(check: Mapping[str, Any]) -> list[Any]:
    row = [check[name] for name in FIELDS]
    while not row[-1]:
        del row[-1]
    return row
