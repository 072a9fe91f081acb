# SPDX-License-Identifier: GPL-3.0-or-later
"""A smoke job between two nodes of the sandbox, and what of it would be left."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.system.conftest import Box

NODES = ("node1", "node2")
# A daemon or a program of the job that still runs, by its name.
# 1: none has such a name; all else is a failure to look.
LEFT = "pgrep -lx 'prted|orted|mpirun|prterun' || test $? -eq 1"


def play(box: Box, name: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return box.playbook(f"playbooks/{name}.yml", "-e", f"launch_dir={folder}", *more)


def nothing_is_left(box: Box) -> None:
    for node in NODES:
        assert box.root(node, LEFT) == ""
        assert box.root(node, "find /var/lib -maxdepth 1 -name '*smoke*'") == ""
        assert box.root(node, "systemctl list-units --all --no-legend 'ibready-smoke*'") == ""
