# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import disk_space

Run = Callable[..., dict[str, Any]]


def test_free_space_is_what_the_file_system_says(run_module: Run, tmp_path: Path) -> None:
    result = run_module(disk_space.main, paths=[str(tmp_path)], min_free_mb=0)
    assert result["free_mb"][str(tmp_path)] == (
        # Others write to the same disk meanwhile.
        pytest.approx(shutil.disk_usage(tmp_path).free / 2**20, abs=64)
    )
    assert (result["short"], result["changed"]) == ([], False)


def test_a_path_that_does_not_exist_yet_counts_as_its_parent(run_module: Run, tmp_path: Path) -> None:
    deep = str(tmp_path / "not/yet")
    result = run_module(disk_space.main, paths=[deep], min_free_mb=0)
    assert result["free_mb"][deep] > 0


def test_too_little_is_named_with_both_numbers(run_module: Run) -> None:
    # procfs has no space at all.
    result = run_module(disk_space.main, paths=["/proc", "/"], min_free_mb=1)
    assert result["short"] == ["/proc has 0 MiB free, 1 needed"]


def test_a_relative_path_is_refused(run_module: Run) -> None:
    result = run_module(disk_space.main, paths=["usr"], min_free_mb=1)
    assert result["msg"] == "'usr' is not an absolute path"
