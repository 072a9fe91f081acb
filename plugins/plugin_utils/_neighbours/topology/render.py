# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of switches and the NVLink domains of its hosts, as schedulers and launchers read them; no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ..._fabric.tree import Part, Tree
from ..._slurm import hostlist, write
from ..._slurm.model import BLOCK, TREE, Block, Switch, Topology
from ..kubernetes import document, names

CONF, BLOCKS, YAML, LABELS, HOSTFILE = (
    "topology.conf",
    "topology-block.conf",
    "topology.yaml",
    "node-labels.yaml",
    "hostfile",
)
FILES = (CONF, BLOCKS, YAML, LABELS, HOSTFILE)
# Every file of ours says so in its first lines.
MARK = "written by ibready "
# What topograph calls the NVLink domain and the switches, the nearest to the node first, by its release.
# Source: NVIDIA/topograph, docs/reference/node-labels.md, of v1.0.0 (2026-08-18) and of v0.5.0 (2026-06-30).
_OLD = "network.topology.nvidia.com"
KEYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "1.0": ("accelerator.topograph.run/domain", tuple(f"fabric.topograph.run/tier-{tier}" for tier in range(16))),
    "0.5": (f"{_OLD}/accelerator", (f"{_OLD}/leaf", f"{_OLD}/spine", f"{_OLD}/core")),
}
# Source: topology.conf(5): each size is a power of two larger than the one before it.
_LEVELS = 16


class TopologyError(ValueError):
    """Nothing can be written; the message says why and what is next."""


@dataclass(frozen=True)
class Called:
    """A host in each of the neighbours' words. ``gpus``: 0 where it told of none."""

    slurm: str
    kubernetes: str
    address: str
    gpus: int = 0


@dataclass(frozen=True)
class Rendered:
    """``files``: text by name. ``order``: the hosts, neighbours beside each other."""

    files: Mapping[str, str]
    order: tuple[str, ...]
    blocks: Mapping[str, Sequence[str]] = field(default_factory=dict)


def render(
    tree: Tree, cliques: Mapping[str, str | None], called: Mapping[str, Called], release: str, said: Sequence[str]
) -> Rendered:
    """Every file. ``release``: topograph's. ``said``: what stands on top of each."""
    blocks = domains(tree, cliques)
    _refuse(tree, blocks, called)
    order = tuple(tree.path)
    slurm = [slurm_tree(tree, {host: entry.slurm for host, entry in called.items()})]
    if blocks:
        slurm.append(slurm_blocks({name: [called[host].slurm for host in hosts] for name, hosts in blocks.items()}))
    untold = [host for host in order if not cliques.get(host)]
    no_block = [f"In no block, for no NVLink domain is known of it: {host}" for host in untold] if blocks else []
    head = "".join(f"# {line}\n" for line in said)
    block_head = "".join(f"# {line}\n" for line in (*said, *no_block))
    files = {
        CONF: head + write.conf(slurm[0]),
        YAML: (block_head if blocks else head) + write.yml(slurm),
        LABELS: labels(tree, cliques, called, release, said),
        HOSTFILE: head + hostfile(tree, called),
    }
    if blocks:
        files[BLOCKS] = block_head + write.conf(slurm[1])
    return Rendered(files, order, blocks)


def slurm_tree(tree: Tree, nodes: Mapping[str, str]) -> Topology:
    """As topology/tree has it."""
    return Topology(TREE, TREE, tuple(_switch(tree, part, nodes) for part in tree.parts))


def _switch(tree: Tree, part: Part, nodes: Mapping[str, str]) -> Switch:
    hosts = tuple(nodes[host] for host in part.hosts)
    children = tuple(sorted((child.name for child in part.parts), key=hostlist.natural))
    real = tree.real(part)
    note = f"{part.name} stands for {', '.join(real)}" if real != [part.name] else ""
    return Switch(
        part.name, hosts, children, 0, note if real else f"{part.name} is no switch: it joins what reaches each other"
    )


def domains(tree: Tree, cliques: Mapping[str, str | None]) -> dict[str, list[str]]:
    """The hosts of every NVLink domain, in the order of the tree; hosts off the fabric last."""
    found: dict[str, list[str]] = {}
    for host in dict.fromkeys((*tree.path, *sorted(cliques, key=hostlist.natural))):
        if clique := cliques.get(host):
            found.setdefault(clique, []).append(host)
    return found


def slurm_blocks(blocks: Mapping[str, Sequence[str]]) -> Topology:
    """As topology/block has it: a block for each NVLink domain, planned by the smallest of them."""
    least = min(len(nodes) for nodes in blocks.values())
    levels = min(len(blocks).bit_length(), _LEVELS)
    made = tuple(
        Block(f"block{number}", tuple(nodes), 0, f"block{number} is the NVLink domain {clique}")
        for number, (clique, nodes) in enumerate(blocks.items(), 1)
    )
    return Topology(BLOCK, BLOCK, (), made, tuple(least << level for level in range(levels)))


def labels(
    tree: Tree,
    cliques: Mapping[str, str | None],
    called: Mapping[str, Called],
    release: str,
    said: Sequence[str],
) -> str:
    """A document for each node: nothing but the labels that topograph would give it."""
    domain, tiers = KEYS[release]
    texts: list[str] = []
    for host in dict.fromkeys((*tree.path, *sorted(cliques, key=hostlist.natural))):
        real = [part for part in tree.path.get(host, ()) if part.switches]
        found = {key: names.value(part.name) for key, part in zip(tiers, real, strict=False)}
        if clique := cliques.get(host):
            found[domain] = names.value(clique)
        if found:
            name = names.subdomain(called[host].kubernetes, f"{host}: the name of its node (kubernetes_rdma_node)")
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": found}}
            texts.append(document.document(node, () if texts else said))
    return "".join(texts)


def hostfile(tree: Tree, called: Mapping[str, Called]) -> str:
    """Hosts in the order of the tree, for mpirun --hostfile; the n-th is the n-th node of a job."""
    lines: list[str] = []
    above = None
    for host, path in tree.path.items():
        if path[0] is not above:
            above = path[0]
            lines.append(f"# {', '.join(tree.real(above))}")
        slots = f" slots={called[host].gpus}" if called[host].gpus else ""
        lines.append(f"{called[host].address}{slots}")
    return "\n".join(lines) + "\n"


def _refuse(tree: Tree, blocks: Mapping[str, Sequence[str]], called: Mapping[str, Called]) -> None:
    if not tree.path:
        raise TopologyError("no host was seen on a switch of the fabric; next: playbooks/fabric.yml says what is wrong")
    for host in dict.fromkeys((*tree.path, *chain(*blocks.values()))):
        if not hostlist.NAME.fullmatch(called[host].slurm):
            raise TopologyError(
                f"{host}: {called[host].slurm!r} is no name of a node in Slurm; next: set its ibready_slurm_node"
            )
        if not re.fullmatch(r"[A-Za-z0-9_.:%-]+", called[host].address):
            raise TopologyError(f"{host}: {called[host].address!r} is no address; next: set its ibready_address")
