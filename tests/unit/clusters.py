# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters of simulated boards, as a run knows them after it contacted, planned and looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.observe_host import look
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl import read as wish
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import nodes, options, render
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import make
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import Sites
from tests.gauntlet import render as gauntlet
from tests.gauntlet.nodes.nccl import PEER

MATRIX = load.own()
NOW = "2026-11-20T12:00:00+00:00"
REGISTRY = "registry.example.com/rdma"
IMAGE = "registry.example.com/torch:2.9"
IPAM = {"type": "nv-ipam", "poolName": "rail{rail}"}


@dataclass(frozen=True)
class Like:
    """A host: its board, the site's wishes, what is installed on it, and facts that differ."""

    board: str = "hgx-h100-8"
    wishes: Mapping[str, str] = field(default_factory=dict)
    installed: Mapping[str, str] | None = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    bent: Any = None


def hostvars(hosts: Mapping[str, Like]) -> dict[str, dict[str, Any]]:
    """Their variables."""
    found: dict[str, dict[str, Any]] = {}
    for name, like in hosts.items():
        described = gauntlet.node(like.board)
        if like.bent is not None:
            like.bent(described)
        tree = gauntlet.render(described)
        facts = {
            **contact.collect(tree),
            "hostname": name,
            "os": {"id": "ubuntu", "version": "24.04"},
            "kernel": "6.8.0-88-generic",
            "machine": "x86_64",
            "installed": None if like.installed is None else {"rdma": "", **like.installed},
            "engines": {"containerd": "1.7.27"},
            **like.facts,
        }
        expect = from_inventory({key: one for key, one in described.expect.items() if key != "roce_gid_index"})
        reported = look(tree, expect, [PEER], "2.28.7")
        wanted = wish({"policy": dict(like.policy), "peers": [PEER]})
        found[name] = {
            "ibready_node": {"node": facts},
            nodes.TOLD: {"nccl_host": reported.to_dict(), "wish": wanted.to_dict()},
        }
    _plan(hosts, found)
    return found


def _plan(hosts: Mapping[str, Like], found: dict[str, dict[str, Any]]) -> None:
    listed = [
        make.Host(
            name,
            found[name]["ibready_node"]["node"],
            {f"stack_{key}": value for key, value in like.wishes.items()},
        )
        for name, like in hosts.items()
    ]
    made = make.make(listed, MATRIX, None, relock=False, sites=Sites({}, None), now=NOW)
    assert not made.refused, made.refused
    for row in made.rows:
        assert row.planned is not None
        plan = {
            "class": row.name,
            "digest": row.planned.digest,
            "stack": row.planned.to_dict()["stack"],
        }
        for host in row.hosts:
            found[host]["ibready_plan"] = plan


def rendered(hosts: Mapping[str, Like], **given: Any) -> render.Rendered:
    """All files for these hosts."""
    wanted = options.read({"registry": REGISTRY, "image": IMAGE, **given})
    reported = nodes.read(list(hosts), hostvars(hosts), MATRIX)
    return render.render(reported, wanted, MATRIX, "0.1.0")
