# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test here is asked of each pinned library; as root, who may replace files of /etc."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.vendor.nccl import wheel
from tests.unit import roots_place


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nccl", help="only these of the pinned versions, a list with commas")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "nccl" in metafunc.fixturenames:
        metafunc.parametrize("nccl", _chosen(metafunc.config), indirect=True, scope="session")


def _chosen(config: pytest.Config) -> list[str]:
    given = config.getoption("--nccl", None)
    wanted = given.split(",") if given else wheel.versions()
    strange = sorted(set(wanted) - set(wheel.versions()))
    if strange:
        raise pytest.UsageError(f"--nccl: no wheel of {strange[0]} is pinned")
    return list(wanted)


@pytest.fixture(scope="session")
def nccl(request: pytest.FixtureRequest) -> Iterator[Nccl]:
    """One library after the other; as on a host it lies where root alone may write, else root has
    none loaded."""
    with roots_place.folder() as folder:
        path = shutil.copy(wheel.library(request.param), folder)
        yield Nccl(str(path), wheel.number(request.param))


@pytest.fixture
def roots_folder() -> Iterator[Path]:
    """A place for other libraries that root is to have loaded."""
    with roots_place.folder() as folder:
        yield folder
