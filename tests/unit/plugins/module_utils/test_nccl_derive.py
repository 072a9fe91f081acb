# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of hosts and their nccl.conf (nccl_hosts/), and what holds for every host."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl_policy import from_variables
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive import derive
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Derived
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import FleetView, fleet_view
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost, from_dict
from tests.unit import nccl_hosts

TABLE = Path(__file__).parent / "nccl_hosts"


@cache
def table() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(TABLE.glob("*.yml")):
        for entry in yaml.safe_load(path.read_text()):
            assert entry["name"] not in found, f"{entry['name']} twice"
            found[entry["name"]] = entry
    return found


def described(name: str) -> dict[str, Any]:
    entry = table()[name]
    above = described(entry["like"]) if "like" in entry else {}
    return {**above, **entry.get("host", {})}


def seen(name: str) -> NcclHost:
    return nccl_hosts.host(described(name), table()[name].get("expect"))


def view(name: str) -> FleetView | None:
    """Of the entry and the other nodes that it names; as told by JSON."""
    if "fleet" not in table()[name]:
        return None
    names = [name, *table()[name]["fleet"]]
    policies = {one: from_variables(table()[one].get("policy", {})) for one in names}
    reported = {one: from_dict(json.loads(json.dumps(seen(one).to_dict()))) for one in names}
    return fleet_view({one: (reported[one], policies[one]) for one in names})


def derived(name: str) -> Derived:
    policy = from_variables(table()[name].get("policy", {}))
    return derive(seen(name), policy, view(name))


def lines(found: Derived) -> list[str]:
    return [f"{one.name}={one.value}" for one in found.settings]


every_host = pytest.mark.parametrize("name", [pytest.param(one, id=one) for one in table()])


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len(table()) >= 30


@every_host
def test_a_host_gets_its_file_and_is_told_the_rest(name: str) -> None:
    entry, found = table()[name], derived(name)
    assert lines(found) == entry["file"]
    reasons = {one.name: one.reason for one in found.settings}
    assert all(reasons.values())
    for key, word in entry.get("because", {}).items():
        assert word in reasons[key]
    unreported = {one.name: one.why for one in found.untold}
    assert len(unreported) == len(found.untold)
    assert set(unreported) == set(entry.get("untold", {})), unreported
    for key, word in entry.get("untold", {}).items():
        assert word in unreported[key]
    left = {one.port: (one.why, one.confidence) for one in found.left_out}
    assert set(left) == set(entry.get("left_out", {})), left
    for port, (word, confidence) in entry.get("left_out", {}).items():
        assert word in left[port][0]
        assert confidence == left[port][1]
    assert len(found.remarks) == len(entry.get("remarks", [])), found.remarks
    for remark, word in zip(found.remarks, entry.get("remarks", []), strict=True):
        assert word in remark


@every_host
def test_what_was_seen_survives_the_way_to_the_controller(name: str) -> None:
    host = seen(name)
    assert from_dict(json.loads(json.dumps(host.to_dict()))) == host
