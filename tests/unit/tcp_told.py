# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that playbooks/tasks/tcp.yml leaves of a host."""

from __future__ import annotations

from typing import Any

RENDEZVOUS = 29500
SAMPLE = (32768, 60999)


def answer(server: str, port: int, outcome: str = "answered", **bent: Any) -> dict[str, Any]:
    """One answer of the module tcp_reach."""
    ms = 0.25 if outcome in ("answered", "connected") else None
    return {"server": server, "port": port, "outcome": outcome, "ms": ms, "said": "", **bent}


def listening(**bent: Any) -> dict[str, Any]:
    """What the module tcp_listen returns where every port is free."""
    span = {"low": SAMPLE[0], "high": SAMPLE[-1], "ports": list(SAMPLE), "why": ""}
    return {
        "id": "4711:1",
        "address": "",
        "ports": [RENDEZVOUS],
        "held": [],
        "range": span,
        "look": "nft list ruleset",
        **bent,
    }


def tcp(*servers: str, **bent: Any) -> dict[str, Any]:
    """A host of which all is well, and that was answered by all of the servers."""
    answers = [answer(server, port) for server in servers for port in (RENDEZVOUS, *SAMPLE)]
    return {
        "ibready_tcp_listening": listening(),
        "ibready_tcp_asked": {"answers": answers},
        "ibready_tcp_stopped": {"was_there": True},
        **bent,
    }
