# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether no two devices of a fabric have one GUID."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._ground.check import Check, failed, unknown
from ...module_utils._ground.equals import CLAIMED
from .model import Fabric, Hca, Inventory, guid
from .say import settled, some

UNIQUE = "fabric.guid.unique"
_NEXT = "see what fleet.hca.guid_unique says of these hosts (verify.yml)"
_TOLD = re.compile(r"Port with guid (0x[0-9a-fA-F]{1,16}) already exists")


def judge(fabric: Fabric, inventory: Inventory, partial: str, told: Sequence[str] = ()) -> list[Check]:
    """Two cables that lead to one port, and one GUID on two hosts.

    ``told``: what ibnetdiscover complains of duplicate ports.
    """
    wrong = [
        failed(
            UNIQUE,
            f"0x{end.guid:0>16}",
            f"{some(fabric.end_name(head) for head in heads)} all lead to {fabric.end_name(end)}",
            "one cable a port",
            CAPABILITY,
            cause=f"two devices have the GUID 0x{end.guid:0>16}: {_owners(end.guid, inventory)}",
        )
        for end, heads in sorted(fabric.twice.items())
    ]
    named = {check.subject for check in wrong}
    for port_guid in complained(told):
        owner = fabric.ports.get(port_guid, port_guid)
        subject = f"0x{port_guid:0>16}"
        if subject not in named and f"0x{owner:0>16}" not in named:
            cause = f"two ports have the GUID {subject}: {_owners(port_guid, inventory)}"
            seen = f"on {fabric.node_name(owner)} and on another"
            wrong.append(failed(UNIQUE, subject, seen, "on one port", CAPABILITY, cause=cause))
    for node_guid, hosts in _shared(inventory.rails).items():
        subject = f"0x{node_guid:0>16}"
        if subject not in named and node_guid in fabric.nodes:
            # Each says it of itself; fleet.hca.guid_unique judges who of them is right.
            why = f"{CLAIMED}{some(hosts)} have it by their own words; {fabric.asked} saw {fabric.node_name(node_guid)}"
            doubt = unknown(UNIQUE, subject, f"{why} alone", observed=f"on {some(hosts)}", remedy=_NEXT)
            wrong.append(replace(doubt, expected="on one HCA", expected_from=CAPABILITY))
    return settled(UNIQUE, fabric.name, wrong, f"{len(fabric.nodes)} nodes", "a GUID each", partial=partial)


def complained(lines: Sequence[str]) -> list[str]:
    """The port GUIDs of which ibnetdiscover says that there are two."""
    found = (_TOLD.search(line) for line in lines)
    return sorted({guid(match.group(1)) for match in found if match is not None})


def _owners(node_guid: str, inventory: Inventory) -> str:
    names = [hca.named for hca in inventory.rails if node_guid in (hca.node_guid, hca.port_guid)]
    return f"{some(names)} has it" if names else "it is in no inventory"


def _shared(rails: tuple[Hca, ...]) -> dict[str, list[str]]:
    """Names of the HCAs of one GUID, where they are of different devices."""
    found: dict[str, dict[str, str]] = {}
    for hca in rails:
        device = f"{hca.host} {hca.name.rpartition('/')[0]}"
        found.setdefault(hca.node_guid, {})[device] = hca.named
    return {item: list(names.values()) for item, names in found.items() if len(names) > 1 and item}
