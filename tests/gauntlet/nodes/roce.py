# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ethernet RDMA ports of a simulated node: interfaces, GID tables, priorities."""

from __future__ import annotations

from tests.gauntlet.node import Hca, Node
from tests.gauntlet.nodes.pci import place
from tests.gauntlet.tree import Tree

_MAPPING = "".join(
    "\tprio:{} dscp:{}\n".format(prio, "".join(f"{8 * prio + at:02d}," for at in range(7, -1, -1))) for prio in range(8)
)


def add(tree: Tree, node: Node) -> None:
    """Everything that the roce area reads of the HCAs with an Ethernet link layer."""
    for index, hca in enumerate(one for one in node.hcas if one.layer == "Ethernet"):
        rail = hca.role == "rail"
        _interface(tree, hca)
        _gids(tree, hca, index)
        tree.command(f"mlnx_qos@{hca.netdev}", _qos("dscp" if rail else "pcp", 3 if rail else -1))
        cm = f"/sys/kernel/config/rdma_cm/{hca.name}/ports/1"
        tree.file(f"{cm}/default_roce_mode", "RoCE v2")
        if node.rdma != "inbox":
            base = f"{place(hca.path)}/infiniband/{hca.name}"
            tree.file(f"{base}/tc/1/traffic_class", "Global tclass=106" if rail else "")


def _interface(tree: Tree, hca: Hca) -> None:
    base = f"{place(hca.path)}/net/{hca.netdev}"
    tree.symlink(f"/sys/class/net/{hca.netdev}", "../../" + base[len("/sys/") :])
    up = hca.state == "Active"
    tree.file(f"{base}/operstate", "up" if up else "down")
    tree.file(f"{base}/carrier", "1" if up else "0")
    tree.file(f"{base}/mtu", "9000")
    tree.file(f"{base}/dev_port", "0")
    for side in ("roce_np", "roce_rp"):
        for priority in range(8):
            tree.file(f"{base}/ecn/{side}/enable/{priority}", "1")


def _gids(tree: Tree, hca: Hca, index: int) -> None:
    """Link-local and IPv4, each for RoCE v1 and v2, as mlx5 fills its table; then empty ones."""
    port = f"{place(hca.path)}/infiniband/{hca.name}/ports/1"
    local = f"fe80:0000:0000:0000:0ac0:ebff:fe{index:02x}:0001"
    mapped = f"0000:0000:0000:0000:0000:ffff:0a{index:02x}:0105"
    used = (local, local, mapped, mapped) if hca.state == "Active" else ()
    for at in range(64):
        there = at < len(used)
        tree.file(f"{port}/gids/{at}", used[at] if there else ":".join(["0000"] * 8))
        if there:
            tree.file(f"{port}/gid_attrs/types/{at}", "RoCE v2" if at % 2 else "IB/RoCE v1")
            tree.file(f"{port}/gid_attrs/ndevs/{at}", hca.netdev)


def _qos(trust: str, lossless: int) -> str:
    flags = "   ".join("1" if at == lossless else "0" for at in range(8))
    mapping = f"dscp2prio mapping:\n{_MAPPING}" if trust == "dscp" else ""
    classes = "".join(f"tc: {at} ratelimit: unlimited, tsa: vendor\n\t priority:  {at}\n" for at in range(8))
    return (
        f"DCBX mode: OS controlled\nPriority trust state: {trust}\n{mapping}default priority:\n"
        "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,total_size=1027728\n"
        "Cable len: 7\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {flags}   \n\tbuffer      0   0   0   1   0   0   0   0   \n{classes}"
    )
