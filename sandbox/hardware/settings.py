# SPDX-License-Identifier: GPL-3.0-or-later
"""The data files, on this side and on a node."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sandbox.hardware.board import Board, build
from sandbox.hardware.kernel import Kernel
from sandbox.hardware.tree import below

MARK = "/etc/ibready-sandbox.json"
# board.yml and kernel.yml as JSON: a bare node reads no YAML.
DATA = "/usr/local/lib/ibready-sandbox/hardware.json"


def node_board(root: Path = Path("/")) -> tuple[Board, dict[str, Any]]:
    """The board of the node below `root`, and the kernel's settings."""
    data = json.loads(below(root, DATA).read_text())
    mark = json.loads(below(root, MARK).read_text())
    kernel: dict[str, Any] = data["kernel"]
    return build(data["board"], [hca["name"] for hca in mark["hcas"]]), kernel


def node_kernel(root: Path = Path("/"), release: str = "") -> Kernel:
    board, settings = node_board(root)
    return Kernel(root, board, settings, release or os.uname().release)
