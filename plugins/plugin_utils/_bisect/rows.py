# SPDX-License-Identifier: GPL-3.0-or-later
"""Rounds as rows of names, as playbooks hand them on, and what was measured back from such rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .net import Net
from .shapes import Measured, Round


def asked(net: Net, turn: Round) -> list[dict[str, Any]]:
    """A row a flow; flows of one wave run at once, and waves one after the other."""
    return [
        {
            "round": turn.number,
            "wave": flow.wave,
            "source": net.ports[flow.source].host,
            "source_port": net.ports[flow.source].name,
            "target": net.ports[flow.target].host,
            "target_port": net.ports[flow.target].name,
            "gbps": flow.gbps,
        }
        for flow in turn.flows
    ]


def measured(net: Net, rows: Iterable[Mapping[str, Any]]) -> list[Measured]:
    """``measured_gbps`` is what a row's flow reached: 0 where no data came through, None where it was not tried."""
    ports = {(port.host, port.name): number for number, port in enumerate(net.ports)}
    found = []
    for row in rows:
        source = ports.get((row["source"], row["source_port"]))
        target = ports.get((row["target"], row["target_port"]))
        gbps = row.get("measured_gbps")
        if source is not None and target is not None and gbps is not None:
            found.append(Measured(source, target, float(gbps)))
    return found
