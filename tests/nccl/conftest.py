# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test here is asked of each pinned library; as root, who may replace files of /etc."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.vendor.nccl import wheel


@dataclass(frozen=True)
class Nccl:
    """A real library, and its version."""

    path: str
    version: tuple[int, ...]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            if platform.machine() != wheel.MACHINE:
                reason = f"the pinned wheels are for {wheel.MACHINE}"
                item.add_marker(pytest.mark.skip(reason=reason))
            elif os.geteuid() != 0:
                item.add_marker(pytest.mark.skip(reason="only root may replace files in private"))


@pytest.fixture(scope="session", params=wheel.versions())
def nccl(request: pytest.FixtureRequest) -> Nccl:
    """One library after the other."""
    return Nccl(str(wheel.library(request.param)), wheel.number(request.param))
