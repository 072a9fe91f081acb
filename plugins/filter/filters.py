# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of all filters. Ansible loads this file in every process that meets any filter, whosever it is, so what
they do is imported when they are called (plugin_utils/_playbooks/filters.py).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_PLACE = "ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters"
NAMES = (
    *(
        "bench_plan",
        "bench_switches",
        "bisect_asks",
        "bisect_round",
        "expected",
        "fabric_plan",
        "firewall_nodes",
        "firmware_turns",
        "gate_refused",
        "imex_domains",
        "incast_parts",
        "incast_plan",
        "lease_told",
        "nccl_derive",
        "nccl_peers",
        "node_address",
        "package_failure",
    ),
    *("ping_again", "ping_plan", "ping_questions", "plan_lack", "rdma_part", "rdma_plan", "reached", "tcp_lease"),
    *("tcp_plan", "visited"),
)


def _late(name: str) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        return getattr(import_module(_PLACE), name)(*args, **named)

    return call


class FilterModule:
    """Offer the filters to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {name: _late(name) for name in NAMES}
