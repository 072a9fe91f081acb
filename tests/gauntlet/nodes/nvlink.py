# SPDX-License-Identifier: GPL-3.0-or-later
"""What the nvlink area reads of a simulated node."""

from __future__ import annotations

from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree


def add(tree: Tree, node: Node) -> None:
    """Nothing yet."""
