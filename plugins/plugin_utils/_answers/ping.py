# SPDX-License-Identifier: GPL-3.0-or-later
"""What hosts answered, as pings; whatever cannot be true is an untested pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._fleet.ping import Ping
from . import apart, shapes
from .typed import AnswerError, read, shown

# No run sends as many.
_MOST = 10**9


def ping(client: str, answer: shapes.Ping) -> Ping:
    """One answer of the module ibping."""
    server, rail = answer["server"], answer["rail"]
    why = answer.get("untested") or ""
    counts = _counts(answer)
    if not why and counts is None:
        said = f"{answer.get('received')!r} of {answer.get('sent')!r}"
        why = f"the module ibping returned {shown(said)}"
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


def answers(seen: Mapping[str, Any], name: str) -> tuple[list[shapes.Ping], str]:
    """Those in this variable of a host; or why they cannot be read."""
    try:
        return read(list[shapes.Ping], seen.get(name) or [], name), ""
    except AnswerError as exc:
        return [], apart.why(exc, "what the module ibping returned")


def row(ping: Ping) -> dict[str, Any]:
    """A ping as the report holds it."""
    return {
        "client": ping.client,
        "server": ping.server,
        "rail": ping.rail,
        "sent": ping.sent,
        "received": ping.received,
        "rtt_avg_ms": ping.rtt_avg,
        "rtt_max_ms": ping.rtt_max,
        "untested": ping.untested,
        "culprit": ping.culprit,
    }


def _counts(answer: shapes.Ping) -> tuple[int, int] | None:
    """Sent and received, where they can be true."""
    sent, received = answer.get("sent"), answer.get("received")
    if isinstance(sent, bool) or isinstance(received, bool):
        return None
    if isinstance(sent, int) and isinstance(received, int) and 0 <= received <= sent:
        return (sent, received) if 0 < sent <= _MOST else None
    return None
