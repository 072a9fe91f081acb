# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts the play meets that judges every host from all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

JUDGE = Path(__file__).resolve().parents[2] / "playbooks/judge.yml"
NAMES = ["node1", "node2", "rack1-node3.cluster", "10.0.0.4", "2001:db8::5", "fe80::6"]


def test_those_that_answered_by_whatever_name(tmp_path: Path) -> None:
    inventory = tmp_path / "hosts"
    inventory.write_text("".join(f"{name}\n" for name in NAMES))
    loader = DataLoader()
    hosts = InventoryManager(loader, [str(inventory)])
    pattern = next(play["hosts"] for play in yaml.safe_load(JUDGE.read_text()) if "from all others" in play["name"])

    for silent in ([], ["node2"], ["2001:db8::5"], ["10.0.0.4", "fe80::6", "rack1-node3.cluster"], NAMES):
        told: dict[str, Any] = {name: {} if name in silent else {"ibready_ibverify": {"packed": "x"}} for name in NAMES}
        templar = Templar(loader=loader, variables={"groups": {"all": NAMES}, "hostvars": told})
        met = [host.name for host in hosts.get_hosts(templar.template(trust_as_template(pattern)))]
        assert met == [name for name in NAMES if name not in silent]
