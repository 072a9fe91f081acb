# SPDX-License-Identifier: GPL-3.0-or-later
"""Which port of a switch each host's port is cabled to, by the links of a run's fabrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def ends(run: Mapping[str, Any]) -> dict[str, str]:
    """``node7 mlx5_5/1`` -> ``leaf-6-1/17``."""
    found: dict[str, str] = {}
    for fabric in (run.get("fabric") or {}).get("fabrics") or ():
        nodes = {str(node.get("guid")): node for node in fabric["nodes"]}
        for link in fabric["links"]:
            for near, far in (("a", "b"), ("b", "a")):
                host, other = nodes.get(str(link.get(near)), {}), nodes.get(str(link.get(far)), {})
                if host.get("host") and not other.get("host"):
                    name = other.get("name") or other.get("guid") or ""
                    found[f"{host['host']} {host.get('hca')}"] = f"{name}/{link.get(f'{far}_port')}" if name else ""
    return found


def missed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """The ends that this run does not see, as they were seen last: one for each port of its hosts, and no more."""
    seen = ends(now)
    last = {**((before.get("since") or {}).get("ends") or {}), **ends(before)}
    return {port: end for port, end in last.items() if port not in seen and _there(port, now)}


def _there(port: str, now: Mapping[str, Any]) -> bool:
    """Whether the run's host has that port; one that tells no ports may have it still."""
    name, _blank, mine = port.partition(" ")
    host = now["hosts"].get(name)
    told = host["facts"]["ib"] if host else None
    if not told:
        return host is not None
    return any(mine == f"{ca['name']}/{entry['num']}" for ca in told["cas"] for entry in ca["ports"])
