# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosts answered, as pings; whatever cannot be true is an untested pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks.ping import Ping


def ping(client: str, answer: Mapping[str, Any]) -> Ping:
    """One answer of the module ibping."""
    server, rail = str(answer.get("server")), str(answer.get("rail"))
    why = str(answer.get("untested") or "")
    counts = _counts(answer)
    if not why and counts is None:
        why = f"the module ibping returned {answer.get('received')!r} of {answer.get('sent')!r}"
    if why or counts is None:
        return Ping(client, server, rail, untested=why, culprit=client)
    return Ping(
        client,
        server,
        rail,
        sent=counts[0],
        received=counts[1],
        rtt_avg=answer.get("rtt_avg"),
        rtt_max=answer.get("rtt_max"),
    )


def row(one: Ping) -> dict[str, Any]:
    """A ping as the report holds it."""
    return {
        "client": one.client,
        "server": one.server,
        "rail": one.rail,
        "sent": one.sent,
        "received": one.received,
        "rtt_avg_ms": one.rtt_avg,
        "rtt_max_ms": one.rtt_max,
        "untested": one.untested,
        "culprit": one.culprit,
    }


def _counts(answer: Mapping[str, Any]) -> tuple[int, int] | None:
    """Sent and received, where they can be true."""
    sent, received = answer.get("sent"), answer.get("received")
    if isinstance(sent, int) and isinstance(received, int) and 0 <= received <= sent and sent > 0:
        return sent, received
    return None
