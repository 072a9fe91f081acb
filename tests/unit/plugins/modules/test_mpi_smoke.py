# SPDX-License-Identifier: GPL-3.0-or-later
"""The module mpi_smoke: what it refuses before it touches the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import mpi_smoke

RunModule = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"state": "prepared"}, "files"),
        ({"state": "finished"}, "ranks, hosts"),
        ({"state": "finished", "ranks": 2}, "hosts"),
    ],
)
def test_a_state_without_what_it_needs_is_refused(
    run_module: RunModule, given: dict[str, Any], missing: str
) -> None:
    result = run_module(mpi_smoke.main, **given)
    assert result["failed"] is True
    assert result["msg"].endswith(f"all of the following are missing: {missing}")
