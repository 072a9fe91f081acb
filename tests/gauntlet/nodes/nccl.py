# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a job that ran on this node and another one, given by whoever started it."""

from __future__ import annotations

from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

_VERSION = "2.27.7+cuda12.9"
_COMM = "comm 0x55d0a2c0"


def add(tree: Tree, node: Node) -> None:
    """With ``more: {nccl_log: true}``: one rank here and one on another node."""
    if not node.more.get("nccl_log"):
        return
    tree.given = ("nccl_log",)
    tree.command("nccl_log", log(node))


def log(node: Node) -> str:
    """What both ranks print, line by line in turn."""
    ranks = [_rank(node, number) for number in (0, 1)]
    return "".join(f"{line}\n" for lines in zip(*ranks, strict=True) for line in lines)


def _rank(node: Node, me: int) -> list[str]:
    other = 1 - me
    link = "IB" if all(one.layer == "InfiniBand" for one in node.rails) else "RoCE"
    names = [one.name for one in node.rails]
    hcas = " ".join(f"[{at}]{name}:1/{link}" for at, name in enumerate(names))
    address = f"192.0.2.{10 + me}<0>"
    up = f"ncclCommInitRank {_COMM} rank {me} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x5d1"
    said = [
        "NCCL_SOCKET_IFNAME set by environment to =eth0",
        f"Bootstrap: Using eth0:{address}",
        "cudaDriverVersion 13000",
        f"NCCL version {_VERSION}",
        "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.",
        f"NCCL_IB_HCA set to ={','.join(names)}",
        f"NET/IB : Using {hcas} [RO]; OOB eth0:{address}",
        "Assigned NET plugin IB to comm",
        "Using network IB",
        f"{up} - Init START",
        f"{_COMM} rank {me} nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0",
        f"Channel 00/0 : {other}[0] -> {me}[0] [receive] via NET/IB/0/GDRDMA",
        f"Channel 00/0 : {me}[0] -> {other}[0] [send] via NET/IB/0/GDRDMA",
        "Connected all rings, use ring PXN 0 GDR 1",
        f"{up} - Init COMPLETE",
    ]
    return [f"node-{'ab'[me]}:{800 + me}:{820 + me} [0] NCCL INFO {text}" for text in said]
