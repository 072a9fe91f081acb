# SPDX-License-Identifier: GPL-3.0-or-later
"""The topology that ibsim reads: one leaf switch a rail, one spine, all links 4x NDR."""

from __future__ import annotations

from sandbox.config import NODES, RAILS, SM_HOST, node_guid, sim_host

_LINK = "4xNDR"
_UPLINK = 32
_SPINE = "S-spine1"
_SM_PORT = 32


def leaf_of(rail: int) -> str:
    """Return ibsim's id of the leaf switch of a rail."""
    return f"S-leaf{rail + 1}"


def leaf_port(node: str) -> int:
    """Return the port that a node occupies on each of its leaf switches."""
    return NODES.index(node) + 1


def netfile() -> str:
    """Return the network in ibnetdiscover format."""
    blocks = [_leaf(rail) for rail in range(len(RAILS))]
    blocks.append(_spine())
    blocks += [_hca(node, rail) for node in NODES for rail in range(len(RAILS))]
    blocks.append(
        f'caguid=0x{0x0200_0000_00FF_0000:x}\nHca\t1 "{SM_HOST}"\t\t# "sm1"\n'
        f'[1]\t"{_SPINE}"[{_SM_PORT}]\t\t# lid 0 lmc 0 "spine1" lid 0 {_LINK}'
    )
    return "\n\n".join(blocks) + "\n"


def _leaf(rail: int) -> str:
    name = leaf_of(rail)
    lines = [f'Switch\t{_UPLINK} "{name}"\t\t# "leaf{rail + 1}" enhanced port 0 lid 0 lmc 0']
    hca = RAILS[rail]
    lines += [f'[{leaf_port(node)}]\t"{sim_host(node, rail)}"[1]\t\t# "{node} {hca}" lid 0 {_LINK}' for node in NODES]
    lines.append(f'[{_UPLINK}]\t"{_SPINE}"[{rail + 1}]\t\t# "spine1" lid 0 {_LINK}')
    return "\n".join(lines)


def _spine() -> str:
    lines = [f'Switch\t{_SM_PORT} "{_SPINE}"\t\t# "spine1" enhanced port 0 lid 0 lmc 0']
    lines += [
        f'[{rail + 1}]\t"{leaf_of(rail)}"[{_UPLINK}]\t\t# "leaf{rail + 1}" lid 0 {_LINK}' for rail in range(len(RAILS))
    ]
    lines.append(f'[{_SM_PORT}]\t"{SM_HOST}"[1]\t\t# "sm1" lid 0 {_LINK}')
    return "\n".join(lines)


def _hca(node: str, rail: int) -> str:
    return (
        f"caguid=0x{node_guid(node, rail):x}\n"
        f'Hca\t1 "{sim_host(node, rail)}"\t\t# "{node} {RAILS[rail]}"\n'
        f'[1]\t"{leaf_of(rail)}"[{leaf_port(node)}]\t\t'
        f'# lid 0 lmc 0 "leaf{rail + 1}" lid 0 {_LINK}'
    )
