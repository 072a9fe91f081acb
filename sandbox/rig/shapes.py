# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that real fabrics have, from one switch to eight rails of 2,048 hosts."""

from __future__ import annotations

from sandbox.rig.topology import Builder, Topology

# A Quantum-2 switch.
RADIX = 64
_AGGREGATION = RADIX + 1
# Hosts and rails of the benchmark's five sizes.
SIZES = ((128, 8), (256, 8), (512, 8), (1024, 8), (2048, 8))


def host(number: int) -> str:
    return f"node{number + 1}"


def single_switch(hosts: int = 6) -> Topology:
    """Every host has one HCA on the one switch, and two hosts manage the subnet."""
    build = Builder("single-switch")
    leaf = build.switch("leaf1", max(RADIX, hosts + 2))
    for number in range(hosts):
        build.hca(host(number), 0, leaf)
    build.sm("sm1", leaf)
    build.sm("sm2", leaf)
    return build.build()


def fat_tree(leaves: int = 3, per_leaf: int = 4, spines: int = 2, cables: int = 2) -> Topology:
    """Hosts of one HCA on leaves; `cables` from every leaf to every spine."""
    build = Builder("fat-tree")
    # The subnet managers' hosts need a port each beside those of the hosts.
    lower = [build.switch(f"leaf{at + 1}", RADIX + 2) for at in range(leaves)]
    upper = [build.switch(f"spine{at + 1}", RADIX) for at in range(spines)]
    for at in range(leaves * per_leaf):
        build.hca(host(at), 0, lower[at // per_leaf])
    build.sm("sm1", lower[0])
    build.sm("sm2", lower[-1])
    for leaf in lower:
        for spine in upper:
            build.plug(leaf, spine, cables)
    return build.build()


def rail_optimised(hosts: int = 8, rails: int = 4, per_leaf: int = 4, spines: int = 2, cables: int = 1) -> Topology:
    """HCA i of every host is on the leaf of rail i of the host's group; spines join all leaves.

    Every leaf has the aggregation node that switches with SHARP show.
    """
    build = Builder("rail-optimised")
    groups = -(-hosts // per_leaf)
    upper = [build.switch(f"spine{at + 1}", RADIX) for at in range(spines)]
    for group in range(groups):
        lower = [build.switch(f"leaf{group + 1}-{rail + 1}", _AGGREGATION) for rail in range(rails)]
        for at in range(group * per_leaf, min(hosts, (group + 1) * per_leaf)):
            for rail in range(rails):
                build.hca(host(at), rail, lower[rail])
        if group in (0, groups - 1):
            build.sm(f"sm{2 if group else 1}", lower[0])
        for leaf in lower:
            for spine in upper:
                build.plug(leaf, spine, cables)
            build.aggregation(leaf, _AGGREGATION)
    return build.build()


def large_fat_tree(hosts: int = 2048) -> Topology:
    """Two levels of switches with 64 ports, half of a leaf's down and half up; one HCA a host."""
    half = RADIX // 2
    leaves = -(-hosts // half)
    return fat_tree(leaves=leaves, per_leaf=half, spines=half, cables=1)


def large_rails(hosts: int, rails: int) -> Topology:
    """Three levels: 32 hosts a leaf, the leaves of one rail below spines, spines below cores.

    A pod is one rail of up to 1,024 hosts, with as many spines as leaves. Core group i joins the
    i-th spines of all pods. Half of the ports of a leaf and of a spine go up.
    """
    half = RADIX // 2
    build = Builder(f"rails-{hosts}x{rails}")
    groups = -(-hosts // half)
    blocks = -(-groups // half)
    each = RADIX // (blocks * rails)
    cores = [
        [build.switch(f"core{at + 1}-{number + 1}", RADIX) for number in range(half // each)]
        for at in range(min(groups, half))
    ]
    leaves: dict[tuple[int, int], str] = {}
    for block in range(blocks):
        inside = range(block * half, min(groups, (block + 1) * half))
        for rail in range(rails):
            pod = f"{block + 1}-{rail + 1}"
            spines = [build.switch(f"spine{pod}-{at + 1}", RADIX) for at in range(len(inside))]
            for at, spine in enumerate(spines):
                for core in cores[at]:
                    build.plug(spine, core, each)
            for group in inside:
                leaf = leaves[group, rail] = build.switch(f"leaf{group + 1}-{rail + 1}", RADIX + 1)
                for spine in spines:
                    build.plug(leaf, spine, half // len(spines))
    for at in range(hosts):
        for rail in range(rails):
            build.hca(host(at), rail, leaves[at // half, rail])
    build.sm("sm1", leaves[0, 0])
    return build.build()


# What the faults are planted in.
SMALL = (single_switch, fat_tree, rail_optimised)
