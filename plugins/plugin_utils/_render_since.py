# SPDX-License-Identifier: GPL-3.0-or-later
"""What got better and worse between two runs in plain text: a block for each host that differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._plain import plain

_SAYS = (("worse", "WORSE"), ("better", "BETTER"), ("gone", "GONE"))
# Of one host and kind; the report has all of them.
_MOST = 12


def render(since: Mapping[str, Any]) -> str:
    """``since`` of a run object."""
    if since["error"]:
        return plain(f"NOT COMPARED: {since['error']}")
    head = f"SINCE {since['created']}"
    if not since["hosts"]:
        return plain(f"{head}: nothing got better or worse.")
    counts = (f"{_count(since, way)} {way}" for way, _ in _SAYS)
    lines = [f"{head}: {len(since['hosts'])} differ; checks: {', '.join(counts)}"]
    for name, host in since["hosts"].items():
        lines += ["", f"{name}: {_verdicts(host)}"]
        for way, word in _SAYS:
            lines += [
                f"  {word:7} {one['id']}  {one['subject']}: {one['before']} -> {one['now']}"
                for one in host[way][:_MOST]
            ]
            if len(host[way]) > _MOST:
                lines.append(f"          and {len(host[way]) - _MOST} more")
    return "\n".join(map(plain, lines))


def _count(since: Mapping[str, Any], way: str) -> int:
    return sum(len(host[way]) for host in since["hosts"].values())


def _verdicts(host: Mapping[str, Any]) -> str:
    if host["before"] == host["now"]:
        return f"{host['now']} as before"
    return f"{host['before']} -> {host['now']}"
