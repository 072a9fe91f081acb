# SPDX-License-Identifier: GPL-3.0-or-later
"""Platforms to resolve for, as keyword differences from an HGX H100 on Ubuntu 24.04."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._expect import profiles
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import Platform

TODAY = "2026-11-20"
_BOARDS: dict[str, dict[str, Any]] = {
    "h100": {"gpus": ["H100 SXM5"], "board": "hgx-h100-8"},
    "a100": {"gpus": ["A100 SXM4"], "board": "hgx-a100-8", "hcas": ["ConnectX-6"]},
    "b200": {"gpus": ["B200 SXM"], "board": "hgx-b200-8"},
    "b300": {"gpus": ["B300 SXM6"], "board": "hgx-b300-8", "hcas": ["ConnectX-8"]},
    "gb200": {"gpus": ["GB200"], "board": "gb200-nvl72-node", "arch": "aarch64"},
    "v100": {"gpus": ["V100 SXM2"], "board": "dgx-1-v100", "hcas": ["ConnectX-5"]},
    "cpu": {"gpus": [], "board": ""},
}


def platform(host: str = "h100", **other: Any) -> Platform:
    """One platform; ``other`` are the fields that differ, with ``system`` split as usual."""
    words: dict[str, Any] = {
        "system": "ubuntu24.04",
        "kernel": "6.8.0-88-generic",
        "arch": "x86_64",
        "hcas": ["ConnectX-7"],
        "distribution": "",
        "engines": {},
        **_BOARDS[host],
        **other,
    }
    board = profiles.board_by_name(words["board"]) if words["board"] else None
    assert board is not None or not words["board"], words["board"]
    base = re.match("[a-z]*", words["system"])
    return Platform(
        system=words["system"],
        base=base.group() if base else "",
        family="dnf" if words["system"].startswith("rhel") else "apt",
        kernel=words["kernel"],
        arch=words["arch"],
        distribution=words["distribution"],
        gpus=tuple(words["gpus"]),
        hcas=tuple(words["hcas"]),
        board=words["board"],
        fabric_manager=bool(board and board.fabric_manager),
        nvlsm=bool(board and board.nvlsm),
        imex=bool(board and board.imex),
        engines=words["engines"],
        secure_boot=words.get("secure_boot"),
        there=words.get("there", {}),
    )
