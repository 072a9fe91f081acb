# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether every HCA of the inventory is on a fabric, and nothing unknown is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from fnmatch import fnmatchcase
from statistics import median

from ...module_utils._areas.ib.check_port import STATE_FIRST
from ...module_utils._expect.expectations import INVENTORY
from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from ...module_utils._parse._topology import CA
from .model import LEAF, End, Fabric, Hca, Inventory, Node, guid
from .rails import design, placements
from .say import settled, some

PRESENT = "fabric.hca.present"
KNOWN = "fabric.hca.known"
LEAVES = "fabric.leaf.present"
# What switches themselves put on the fabric: SHARP's engines. Source: listings of Quantum switches
# (confirmed).
AGGREGATION = "Mellanox Technologies Aggregation Node"
# More adapters that may be of silent hosts are told together.
_EACH = 8
_GONE = "the host is off, or cut off"


class Missing:
    """The inventory's HCAs that no fabric showed, and what they have in common."""

    def __init__(self, fabrics: Sequence[Fabric], inventory: Inventory) -> None:
        # Whose a GUID is that two have fleet.hca.guid_unique says; nobody is missing by the other's word.
        here = {hca for fabric in fabrics for hca in (*fabric.hcas.values(), *fabric.claimed)}
        self.hcas = [hca for hca in inventory.rails if hca not in here]
        there = {hca.host for hca in here}
        self.hosts = {hca.host for hca in self.hcas} - there
        self.counts = Counter(hca.host for hca in inventory.rails)
        self.leaves = _dead_leaves(fabrics, self.hcas, self.hosts)
        self._of_leaf = {hca: why for why, hcas in self.leaves.items() for hca in hcas}

    def is_down(self, hca: Hca) -> bool:
        """Whether the host itself says that the port is not Active, and nothing larger is wrong."""
        alone = hca not in self._of_leaf and not self._is_whole(hca)
        return alone and hca.state not in ("", "Active")

    def _is_whole(self, hca: Hca) -> bool:
        return hca.host in self.hosts and self.counts[hca.host] > 1

    def cause(self, hca: Hca, planned: Mapping[Hca, str]) -> str:
        """Why it is missing, as far as others tell."""
        why = self._of_leaf.get(hca, "")
        if not why:
            state = f"the host says that its port is {hca.state}" if hca.state else ""
            why = _GONE if self._is_whole(hca) else state
            why = why or "no cable, or the other end is off"
        if hca in planned and hca.host not in self.hosts:
            why += f"; by the plan it leads to {planned[hca]}"
        return why


def judge(
    fabrics: Sequence[Fabric],
    inventory: Inventory,
    partial: str,
    planned: Mapping[Hca, str],
) -> tuple[list[Check], dict[str, list[Check]]]:
    """Checks of all fabrics together, and by host. ``partial``: why not all of them was seen.

    ``planned``: where a plan sees the other end of an HCA's cable.
    """
    total = f"{len(inventory.rails)} HCAs of {len({hca.host for hca in inventory.rails})} hosts"
    if not inventory.rails:
        why = "no inventory HCA is known"
        reported = unknown if inventory.silent else skipped
        return [reported(PRESENT, "fabric", why), reported(LEAVES, "fabric", why)], {}
    missing = Missing(fabrics, inventory)
    hosts: dict[str, list[Check]] = {}
    for hca in missing.hcas:
        whole = hca.host in missing.hosts
        if whole and hca.host in hosts:
            continue
        subject = "host" if whole and missing.counts[hca.host] > 1 else hca.name
        seen = f"none of its {missing.counts[hca.host]}" if subject == "host" else "not there"
        check = failed(
            *(PRESENT, subject, seen, "on the fabric", INVENTORY),
            cause=missing.cause(hca, planned),
            # The host's own finding tells more.
            remedy=STATE_FIRST if missing.is_down(hca) else "",
        )
        if partial:
            check = unknown(PRESENT, subject, partial)
        hosts.setdefault(hca.host, []).append(check)
    wrong = [
        replace(check, subject=host if check.subject == "host" else f"{host} {check.subject}")
        for host, checks in hosts.items()
        for check in checks
        if not partial
    ]
    for host, count in missing.counts.items():
        if host not in hosts:
            hosts[host] = [passed(PRESENT, "host", f"{count} on it", str(count), INVENTORY)]
    gone = partial if missing.hcas else ""
    return [
        *settled(*(PRESENT, "fabric", wrong, total, "on the fabric"), partial=gone, source=INVENTORY),
        *_leaves(fabrics, missing, partial),
    ], hosts


def _leaves(fabrics: Sequence[Fabric], missing: Missing, partial: str) -> list[Check]:
    count = sum(len(fabric.switches(LEAF)) for fabric in fabrics)
    wrong = [
        failed(
            *(LEAVES, some(sorted({hca.host for hca in hcas}))),
            *(f"{len(hcas)} HCAs missing together", "on a leaf", INVENTORY),
            cause=why,
        )
        for why, hcas in missing.leaves.items()
    ]
    seen = f"{count} leaves, and no group of HCAs is missing"
    return settled(LEAVES, "fabric", wrong, seen, "all leaves", partial=partial, of_absence=True)


def _dead_leaves(fabrics: Sequence[Fabric], missing: Sequence[Hca], gone: Set[str]) -> dict[str, list[Hca]]:
    """HCAs that must have been on one leaf, by what is said of it.

    At least two, and half of what a leaf has. Where the leaves carry rails, or a rail is gone
    altogether, it is HCAs of one rail whose hosts have others on the fabric; else hosts of which
    nothing is there.
    """
    placed = placements(fabrics)
    sizes = Counter(entry.leaf for entry in placed)
    if not placed or not missing:
        return {}
    usual = median(sizes.values())
    known = design(fabrics, placed)
    groups: dict[str, list[Hca]] = {}
    there = {entry.hca.rail for entry in placed}
    for hca in missing:
        if known is None and hca.host in gone:
            groups.setdefault("", []).append(hca)
        elif hca.host not in gone and (known is not None or hca.rail not in there):
            groups.setdefault(f"rail {hca.rail + 1}", []).append(hca)
    if sum(bool(node.level) for fabric in fabrics for node in fabric.nodes.values()) < 2:
        groups.pop("", None)
    return {
        f"{len(hcas)} HCAs{f' of {name}' if name else ''} are missing together, and a leaf has "
        f"{usual:g}: their leaf is dead, or cut off from the rest": hcas
        for name, hcas in groups.items()
        if len(hcas) >= max(2, usual / 2)
    }


def judge_known(fabric: Fabric, inventory: Inventory, managers: Set[str], partial: str) -> list[Check]:
    """Adapters that are in no inventory. ``managers``: port GUIDs of subnet managers."""
    owned = {hca.node_guid for hca in inventory.rails} | set(inventory.others)
    owned |= {end.guid for end in fabric.hcas}
    owned |= {fabric.ports[manager] for manager in managers if manager in fabric.ports}
    if not inventory.rails:
        return [skipped(KNOWN, fabric.name, "no inventory HCA is known to compare with")]
    silent = {name for host in inventory.silent for name in (host.lower(), _short(host))}
    whose = some(sorted(inventory.silent))
    plugged = _where(fabric)
    wrong, count = [], 0
    for node in fabric.nodes.values():
        if node.type != CA:
            continue
        count += 1
        if node.guid in owned or _belongs(node, silent, inventory.known):
            continue
        subject = f"{node.name or 'unnamed'} (0x{node.guid:0>16})"
        where = plugged.get(node.guid, "no cable that is up")
        if inventory.silent:
            wrong.append(unknown(KNOWN, subject, f"at {where}; it may be of {whose}, which told nothing"))
        elif not managers:
            # One that runs the subnet manager is known by that manager's word alone.
            wrong.append(unknown(KNOWN, subject, f"at {where}; it may run the subnet manager, of which none answers"))
        else:
            wrong.append(failed(KNOWN, subject, f"at {where}", "an inventory host", INVENTORY))
    if inventory.silent and len(wrong) > _EACH:
        names = some(check.subject for check in wrong)
        why = f"{len(wrong)} adapters may be of {whose}, which told nothing: {names}"
        wrong = [unknown(KNOWN, fabric.name, why)]
    seen = f"{count} adapters"
    return settled(
        *(KNOWN, fabric.name, wrong, seen, "in the inventory, or known to the site"),
        partial=partial,
        source=INVENTORY,
    )


def _where(fabric: Fabric) -> dict[str, str]:
    """Where every adapter is plugged in; nothing of those without a cable that is up."""
    ends: dict[str, list[End]] = {}
    for end, far in fabric.far.items():
        if fabric.nodes[end.guid].type == CA:
            ends.setdefault(end.guid, []).append(far)
    return {end: some(fabric.end_name(far) for far in sorted(fars)) for end, fars in ends.items()}


def _belongs(node: Node, silent: Set[str], known: Sequence[str]) -> bool:
    """``silent``: names of hosts that told nothing, long and short."""
    if node.name.startswith(AGGREGATION) or node.name.split(" ")[0].lower() in silent:
        return True
    return any(guid(entry) == node.guid or fnmatchcase(node.name.lower(), entry.lower()) for entry in known)


def _short(host: str) -> str:
    return host.split(".")[0].lower()
