# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run object keeps of the inventory: where it is, what the cluster is called, and the site's groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...module_utils._ground.bound import Bound

# Ansible's, and those that our playbooks make while they run.
_OWN = ("all", "ungrouped")
_MADE = "ibready_"
# File names that say no more than what they are.
_PLAIN = ("hosts", "inventory")
MOST: Bound = 500


def sources(variables: Mapping[str, Any]) -> list[str]:
    """What the operator gave with -i; Ansible's default where that is no inventory is none."""
    return [str(source) for source in variables.get("ansible_inventory_sources") or ()]


def cluster(sources: Iterable[object]) -> str:
    """The name of the first source; of a file that is called hosts that of its folder, "" for a list of hosts."""
    first = str(next(iter(sources), ""))
    if "," in first:
        return ""
    path = Path(first)
    return path.parent.name if path.stem in _PLAIN else path.stem


def groups(every: Mapping[str, Sequence[str]], hosts: Collection[str]) -> tuple[dict[str, list[str]], int]:
    """The hosts of this run in each group that is some of them, as racks are, the smallest groups first; and how many
    groups are left out."""
    found = {
        name: [host for host in members if host in hosts]
        for name, members in every.items()
        if name not in _OWN and not name.startswith(_MADE)
    }
    some = [(name, members) for name, members in found.items() if 0 < len(members) < len(hosts)]
    return dict(sorted(some, key=lambda item: len(item[1]))[:MOST]), max(0, len(some) - MOST)
