# SPDX-License-Identifier: GPL-3.0-or-later
"""The host on which role roce works, in each of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground import host_program
from tests.unit import soft_roce_node
from tests.unit.roce_box import CM, STAND_IN, Box, Run, on_mlx5


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("mlnx_qos", "ip", "systemctl", "networkctl", "nmcli", "modprobe"):
        (folder / name).write_text(STAND_IN.format(home=str(tmp_path)))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(host_program, "_MORE_PATH", "")
    monkeypatch.setattr(
        "ansible_collections.ibready.cluster.plugins.module_utils._ground.command._search_path",
        lambda: str(folder),
    )
    return folder


@pytest.fixture
def box(tmp_path: Path, run_module: Run, tools: Path) -> Box:
    assert tools.is_dir()
    return Box(tmp_path, run_module, on_mlx5())


@pytest.fixture
def soft(tmp_path: Path, run_module: Run, tools: Path) -> Box:
    """A virtual machine with soft RoCE."""
    assert tools.is_dir()
    tree = soft_roce_node.node()
    tree.file(f"/{CM}/rxe0/ports/1/default_roce_mode", "RoCE v2")
    tree.file(f"/{CM}/rxe0/ports/1/default_roce_tos", "0")
    return Box(tmp_path, run_module, tree)
