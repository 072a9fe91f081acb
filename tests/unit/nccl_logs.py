# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of NCCL that tests write themselves, and what the parser makes of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import settings

from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log

few = settings(max_examples=60, deadline=None, database=None)


def facts(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(nccl_log.parse(text).to_dict()))
    return found


def info(*said: str, head: str = "node-a:10:11 [0] NCCL INFO ") -> str:
    return "".join(f"{head}{one}\n" for one in said)


def rank(number: int, network: str, *, gdr: str = "/GDRDMA", hcas: str = "") -> list[str]:
    """What one of two ranks prints, without the prefix."""
    other = 1 - number
    comm = f"ncclCommInitRank comm 0x5{number}0 rank {number} nranks 2 cudaDev 0 nvmlDev 0"
    address = f"192.0.2.{number + 1}<0>"
    hcas = hcas or f"[0]mlx5_{number}:1/RoCE"
    return [
        f"Bootstrap: Using eth{number}:{address}",
        f"NCCL version 2.2{number + 6}.1+cuda12.{number}",
        f"NET/IB : Using {hcas} [RO]; OOB eth{number}:{address}",
        f"NCCL_IB_TC set by environment to {number + 100}.",
        f"Using network {network}",
        f"{comm} busId 1b000 commId 0x1 - Init START",
        f"Channel 00/0 : {other}[0] -> {number}[0] [receive] via NET/{network}/0{gdr}",
        f"{comm} busId 1b000 commId 0x1 - Init COMPLETE",
    ]


def without_head(one: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in one.items() if k not in ("tag", "name", "host", "pid")}
