# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts as playbooks/launch.yml leaves them, for tests: simulated nodes of real boards."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.observe_host import look
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl import read as wish
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER

# What the board hgx-h100-8 needs in its nccl.conf.
LINES = {
    "NCCL_IB_HCA": "=" + ",".join(f"mlx5_{at}" for at in range(8)),
    "NCCL_SOCKET_IFNAME": "=eth0",
}


def host(
    address: str = "10.0.0.1",
    hostname: str = "a",
    board: str = "hgx-h100-8",
    settings: Reading[dict[str, str]] | None = None,
    **node: Any,
) -> dict[str, Any]:
    """What one host's variables hold; ``settings``: of its nccl.conf, all that it needs."""
    conf = asdict(settings if settings is not None else Reading(LINES))
    nccl = {"host": json.loads(_looked(board)), "settings": conf}
    nccl["wish"] = wish({"policy": {}, "peers": [PEER]}).to_dict()
    reported = {"hostname": hostname, "rdma_devices": ["mlx5_0"], "simulated": "", **node}
    return {
        "ansible_host": address,
        "ibready_node": {"node": reported},
        "ibready_launch_looked": {"facts": {"nccl": nccl}},
    }


@cache
def _looked(board: str) -> str:
    """What the module sees of this board, as JSON."""
    made = render.node(board)
    expect = {key: one for key, one in made.expect.items() if key != "roce_gid_index"}
    seen = look(render.render(made), from_inventory(expect), [PEER], "2.28.7")
    return json.dumps(seen.to_dict())


def two(**more: Any) -> dict[str, dict[str, Any]]:
    """Two hosts, n1 and n2; ``more``: of the second."""
    return {
        "n1": host("10.0.0.1", "node1"),
        "n2": host(**{"address": "10.0.0.2", "hostname": "node2", **more}),
    }
