# SPDX-License-Identifier: GPL-3.0-or-later
"""A text that tells of many things, by thing."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import leaves

LINKS = "link mlx5_0/1 state ACTIVE netdev eth0 \nlink mlx5_0/2 state DOWN netdev eth1 \n"
STATUS = """Infiniband device 'mlx5_0' port 1 status:
\trate:\t\t 400

Infiniband device 'mlx5_0' port 2 status:
\trate:\t\t 200
"""
NVLINK = """GPU 0: NVIDIA H200 (UUID: GPU-a)
\t Link 0: CRC Errors: 3
GPU 1: NVIDIA H200 (UUID: GPU-b)
\t Link 0: CRC Errors: 0
"""
LLDP = json.dumps({"lldp": {"interface": [{"eth0": {"port": {"ttl": "120"}}}, {"eth1": {"port": {"ttl": 7}}}]}})


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        pytest.param(LINKS, "mlx5_0/2", {"link": "mlx5_0/2", "state": "DOWN", "netdev": "eth1"}, id="all in one line"),
        pytest.param(STATUS, "mlx5_0/2", {"rate": "200"}, id="the port's number is a word of its own"),
        pytest.param(NVLINK, "GPU-b", {"Link 0 CRC Errors": "0"}, id="lines below the name"),
        pytest.param(LLDP, "eth1", {"port/ttl": "7"}, id="JSON"),
    ],
)
def test_each_thing_has_its_own_leaves(text: str, name: str, told: dict[str, str]) -> None:
    assert leaves.of_blocks(text)[name] == told


@pytest.mark.parametrize("text", ["", "{", "GPU 0: NVIDIA (UUID: GPU-a)\nLink 0, P2P is supported: true\n"])
def test_a_text_of_another_shape_tells_nothing(text: str) -> None:
    assert not any(leaves.of_blocks(text).values())
