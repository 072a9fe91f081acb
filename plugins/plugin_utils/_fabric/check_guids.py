# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether no two devices of a fabric have one GUID."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, failed
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    Fabric,
    Hca,
    Inventory,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.say import settled, some

UNIQUE = "fabric.guid.unique"


def judge(fabric: Fabric, inventory: Inventory, partial: str) -> list[Check]:
    """Two cables that lead to one port, and one GUID on two hosts."""
    wrong = [
        failed(
            UNIQUE,
            f"0x{end.guid:0>16}",
            f"{some(fabric.end_name(one) for one in heads)} all lead to {fabric.end_name(end)}",
            "one cable a port",
            CAPABILITY,
            cause=f"two devices have the GUID 0x{end.guid:0>16}: {_owners(end.guid, inventory)}",
        )
        for end, heads in sorted(fabric.twice.items())
    ]
    named = {one.subject for one in wrong}
    for node_guid, hosts in _shared(inventory.rails).items():
        subject = f"0x{node_guid:0>16}"
        if subject not in named and node_guid in fabric.nodes:
            wrong.append(failed(UNIQUE, subject, f"on {some(hosts)}", "on one HCA", CAPABILITY))
    seen = f"{len(fabric.nodes)} nodes"
    return settled(UNIQUE, fabric.name, wrong, seen, "a GUID each", partial=partial)


def _owners(node_guid: str, inventory: Inventory) -> str:
    names = [hca.named for hca in inventory.rails if node_guid in (hca.node_guid, hca.port_guid)]
    return some(names) if names else "none of them is in the inventory"


def _shared(rails: tuple[Hca, ...]) -> dict[str, list[str]]:
    """Names of the HCAs of one GUID, where they are of different devices."""
    found: dict[str, dict[str, str]] = {}
    for hca in rails:
        device = f"{hca.host} {hca.name.rpartition('/')[0]}"
        found.setdefault(hca.node_guid, {})[device] = hca.named
    return {one: list(names.values()) for one, names in found.items() if len(names) > 1 and one}
