# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of a host's IP network: gathered by _observe/net."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_addr import Interface
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_route import Route


@dataclass(frozen=True)
class NetFacts:
    """``interfaces``: in the kernel's order. ``routes``: by the address or name that was asked for;
    this host's own are left out, and a name without an address is missing."""

    interfaces: Reading[tuple[Interface, ...]] = field(default_factory=Reading)
    routes: dict[str, Reading[Route]] = field(default_factory=dict)
