# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the play meets that judges every host from all others."""

from __future__ import annotations

from pathlib import Path

from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks import filters

NAMES = ["node1", "node2", "rack1-node3.cluster", "10.0.0.4", "2001:db8::5", "fe80::6"]


def test_those_that_answered_by_whatever_name(tmp_path: Path) -> None:
    inventory = tmp_path / "hosts"
    inventory.write_text("".join(f"{name}\n" for name in NAMES))
    loader = DataLoader()
    hosts = InventoryManager(loader, [str(inventory)])

    for silent in ([], ["node2"], ["2001:db8::5"], ["10.0.0.4", "fe80::6", "rack1-node3.cluster"], NAMES):
        answers = {name: {"unreachable": True} if name in silent else {"packed": "x"} for name in NAMES}
        told = {name: {"ibready_ibverify": answer} for name, answer in answers.items()}
        met = [host.name for host in hosts.get_hosts(filters.visited({"all": NAMES}, told))]
        assert met == [name for name in NAMES if name not in silent]
