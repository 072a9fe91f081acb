# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL on a node: its library's own word, nccl.conf, the network; and the log of a job, if given.

The library is not run: what it would say is written here.
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.library import Library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Listener, Proof
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.query import Query, to_text
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_variables import VARIABLES
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import release
from tests.gauntlet.node import Node
from tests.gauntlet.nodes import stack_gds
from tests.gauntlet.tree import Tree

_VERSION = "2.27.7+cuda12.9"
_COMM = "comm 0x55d0a2c0"
ADDRESS, PEER = "192.0.2.10", "192.0.2.11"
_RELEASES = {"13.0": "2.28.7", "12.2": "2.19.3"}


def add(tree: Tree, node: Node) -> None:
    """The host's NCCL; with ``more: {nccl_log: true}`` one rank here and one on another node."""
    if node.more.get("nccl_log"):
        tree.given = ("nccl_log",)
        tree.command("nccl_log", log(node))
    _network(tree, node)
    if not node.cards:
        nothing: Reading[Library] = Reading(None, "no libnccl.so.2", True)
        tree.command("nccl_proof", to_text(Query(nothing, Reading(None, "no library", True))))
        tree.command("nccl_copies", "end\t0\n")
        return
    lines = {**_rails(node), "NCCL_SOCKET_IFNAME": "=eth0", **node.more.get("nccl_conf", {})}
    text = "".join(f"{name}={value}\n" for name, value in lines.items() if value is not None)
    text += node.more.get("nccl_lines", "")
    tree.file("/etc/nccl.conf", text.encode(), node.more.get("nccl_mode"))
    for path in node.more.get("nccl_files", ()):
        tree.file(path, "<system/>")
    library = _library(node)
    tree.file(library.path, b"\x7fELF")
    taken = conf.settings(text, release(library.version))
    tree.command("nccl_proof", to_text(Query(Reading(library), Reading(_proof(node, taken)))))
    copy = ["copy", library.path, library.real, library.version, library.cuda, "library folder"]
    tree.command("nccl_copies", "\t".join(copy) + "\nend\t1\n")


def _rails(node: Node) -> dict[str, str]:
    if not node.rails:
        return {}
    return {"NCCL_IB_HCA": f"={','.join(one.name for one in node.rails)}"}


def _library(node: Node) -> Library:
    folder = f"/usr/lib/{node.machine}-linux-gnu"
    version = _RELEASES[node.cuda]
    real = f"{folder}/libnccl.so.{version}"
    path = f"{folder}/libnccl.so.2"
    return Library(path, real, version, node.cuda, node.machine, frozenset(VARIABLES))


def _proof(node: Node, settings: dict[str, str]) -> Proof:
    return Proof(
        version=_RELEASES[node.cuda],
        result=0,
        meaning="success",
        values={},
        taken={name: value.encode() for name, value in settings.items()},
        listener=Listener(ADDRESS, 41234),
        interface="eth0",
        network="IB",
        log=(),
    )


def _network(tree: Tree, node: Node) -> None:
    """lo, eth0 with the way to the other node, and what the storage goes by."""
    interfaces: list[dict[str, Any]] = [
        {
            "ifname": name,
            "flags": [*flags, "UP", "LOWER_UP"],
            "mtu": mtu,
            "link_type": kind,
            "addr_info": [{"family": "inet", "local": address, "prefixlen": length, "scope": scope}],
        }
        for name, flags, mtu, kind, address, length, scope in (
            ("lo", ["LOOPBACK"], 65536, "loopback", "127.0.0.1", 8, "host"),
            ("eth0", ["BROADCAST", "MULTICAST"], 1500, "ether", ADDRESS, 24, "global"),
        )
    ]
    tree.command("ip_addr", json.dumps([*interfaces, *stack_gds.interfaces(node)]))
    tree.file("/sys/class/net/eth0/speed", "25000")
    tree.file("/sys/class/net/eth0/duplex", "full")
    route = {"dst": PEER, "dev": "eth0", "prefsrc": ADDRESS, "flags": []}
    tree.command(f"ip_route@{PEER}", json.dumps([route]))


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
