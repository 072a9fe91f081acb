# SPDX-License-Identifier: GPL-3.0-or-later
"""A smoke job between two nodes of the sandbox, and what of it would be left."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.system.conftest import Box

NODES = ("node1", "node2")
# A daemon or a program of the job that still runs, by its name.
LEFT = "cat /proc/[0-9]*/comm | grep -xE 'prted|orted|mpirun|prterun' || true"


def play(box: Box, name: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return box.playbook(f"playbooks/{name}.yml", "-e", f"launch_dir={folder}", *more)


def nothing_is_left(box: Box) -> None:
    for node in NODES:
        assert box.root(node, LEFT) == ""
        assert box.root(node, "ls /var/lib | grep smoke || true") == ""
        assert box.root(node, "systemctl list-units --all --no-legend 'ibready-smoke*'") == ""
