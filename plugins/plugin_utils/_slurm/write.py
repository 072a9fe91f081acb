# SPDX-License-Identifier: GPL-3.0-or-later
"""A topology as a topology.conf, and topologies as a topology.yaml (Slurm 25.05 and later)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .._ground.plain import plain
from . import hostlist
from .model import Block, Switch, Topology


def conf(topology: Topology) -> str:
    """The lines of a topology.conf: each switch after those below it, or blocks and their sizes."""
    lines: list[str] = []
    for switch in topology.switches:
        inside = f" Switches={hostlist.fold(switch.children)}" if switch.children else ""
        inside = f" Nodes={hostlist.fold(switch.nodes)}" if switch.nodes else inside
        lines += [*_note(switch), f"SwitchName={switch.name}{inside}"]
    for block in topology.blocks:
        lines += [*_note(block), f"BlockName={block.name} Nodes={hostlist.fold(block.nodes)}"]
    if topology.sizes:
        lines.append("BlockSizes=" + ",".join(map(str, topology.sizes)))
    return "\n".join(lines) + "\n"


def yml(topologies: Sequence[Topology]) -> str:
    """A topology.yaml of all of them; the first is the cluster's default."""
    lines: list[str] = []
    for number, topology in enumerate(topologies):
        lines += [f"- topology: {_said(topology.name)}", f"  cluster_default: {'false' if number else 'true'}"]
        lines.append(f"  {topology.kind}:")
        if topology.sizes:
            lines += ["    block_sizes:", *(f"      - {size}" for size in topology.sizes)]
        lines.append("    switches:" if topology.switches else "    blocks:")
        for entry in topology.entries:
            lines += [f"      {note}" for note in _note(entry)]
            lines.append(f"      - {'switch' if topology.switches else 'block'}: {_said(entry.name)}")
            if isinstance(entry, Switch) and entry.children:
                lines.append(f"        children: {_said(hostlist.fold(entry.children))}")
            if entry.nodes:
                lines.append(f"        nodes: {_said(hostlist.fold(entry.nodes))}")
    return "\n".join(lines) + "\n"


def _note(entry: Switch | Block) -> list[str]:
    """One line, whatever a host put into it."""
    return [f"# {' '.join(plain(entry.note).split())}"] if entry.note else []


def _said(text: str) -> str:
    """Quoted: a name may look like a number."""
    return json.dumps(text)
