# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes that may come in: those of the inventory, and of them those that nobody saw today."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._firewall.wanted import WantedError


def merge(given: Any, known: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Node -> addresses. ``given``: node -> {addresses, complete}; ``known``: of the last run.

    A node that nobody could look at keeps what it had; one that the inventory no longer has goes.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(given):
        one = given[name]
        if not isinstance(one, Mapping) or not isinstance(one.get("addresses"), list):
            raise WantedError(
                f"node {name!r} is not {{addresses: [...], complete: true}}. Next: give what"
                " ibready.cluster.firewall_nodes returns"
            )
        addresses = [str(address) for address in one["addresses"]]
        before = [] if one.get("complete") else list(known.get(name, ()))
        found[name] = sorted({*addresses, *before})
    return found
