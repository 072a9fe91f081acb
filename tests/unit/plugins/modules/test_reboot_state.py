# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import reboot_state

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A container with one Active port, whose packages and kernel arguments ask for a reboot."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, text in {
        "run/.containerenv": "",
        "proc/cmdline": "quiet",
        "proc/modules": "",
        "var/run/reboot-required": "",
        "var/lib/ibready/kernel_args.json": json.dumps({"wanted": ["iommu=pt"]}),
        "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_what_counts_is_a_reason_and_the_rest_is_a_hint(root: Path, run_module: Run) -> None:
    reported = run_module(reboot_state.main, root=str(root))
    assert (reported["needed"], reported["changed"], reported["ports"]) == (True, False, ["mlx5_0/1"])
    assert reported["why"] == "iommu=pt is not yet on the kernel's command line"
    assert (reported["hints"], reported["reload"]) == (
        ["asked for by packages that do not say their name"],
        [],
    )
    only = run_module(reboot_state.main, root=str(root), reasons=["packages"])
    assert [one["kind"] for one in only["reasons"]] == ["packages"]
    assert not run_module(reboot_state.main, root=str(root), reasons=["kernel"])["needed"]


def test_a_memory_that_cannot_be_read_is_an_error(root: Path, run_module: Run) -> None:
    (root / "var/lib/ibready/kernel_args.json").write_text("[")
    assert "cannot be read" in run_module(reboot_state.main, root=str(root))["msg"]


def test_what_a_reboot_took_away_is_told(root: Path, run_module: Run) -> None:
    before = run_module(reboot_state.main, root=str(root))["kept"]
    assert (before["devices"], before["limits"]) == (["mlx5_0"], {})
    again = run_module(reboot_state.main, root=str(root), before=before)
    assert again["lost"] == []
    more = {**before, "devices": ["mlx5_0", "rxe0"]}
    reported = run_module(reboot_state.main, root=str(root), before=more)
    assert reported["lost"] == ["RDMA device rxe0 was there before, and is not"]
