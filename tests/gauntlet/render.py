# SPDX-License-Identifier: GPL-3.0-or-later
"""From a node's description to the evidence it gives: one renderer an area, in nodes/."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.gauntlet.node import Node, build
from tests.gauntlet.nodes import container, fabric, gpu, host, ib, nccl, nvlink, pci, roce, stack
from tests.gauntlet.tree import Tree

HERE = Path(__file__).parent
_RENDERERS = (pci, host, ib, roce, fabric, gpu, nvlink, stack, nccl, container)


@cache
def boards() -> dict[str, dict[str, Any]]:
    """The entries of boards.yml."""
    known: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "boards.yml").read_text())
    return known


def node(name: str) -> Node:
    """A healthy node of this name, new every time."""
    return build(name, boards()[name])


def render(described: Node) -> Tree:
    """All the evidence of a node."""
    tree = Tree()
    for one in _RENDERERS:
        one.add(tree, described)
    return tree
