# SPDX-License-Identifier: GPL-3.0-or-later
"""The measuring part of the job, with an MPI of two processes of which one is made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import _program
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mpi_bench


class TwoProcesses:
    """We are rank 0; rank 1 adds one more than we do. ``spoils``: which all-reduce goes wrong."""

    def __init__(self, spoils: int = -1) -> None:
        self.spoils = spoils
        self.calls = 0

    def MPI_Barrier(self, world: Any) -> int:
        return 0

    def MPI_Allreduce(self, mine: Any, total: Any, count: int, kind: Any, operation: str, world: Any) -> int:
        if operation == "ompi_mpi_op_max":
            total._obj.value = mine._obj.value
            return 0
        for at in range(count):
            total[at] = 2 * mine[at] + 1
        if self.calls == self.spoils:
            total[count - 1] += 1
        self.calls += 1
        return 0


@pytest.fixture
def measure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[bool, mpi_bench.Size]]:
    monkeypatch.setattr(_program, "_address", lambda mpi, name: name)

    def run(mpi: TwoProcesses, length: int, seconds: float = 0.0) -> tuple[bool, mpi_bench.Size]:
        right = _program._measure(mpi, "world", 0, 2, length, seconds)
        (one,) = mpi_bench.parse(capsys.readouterr().out)
        return right, one

    return run


def test_every_size_is_told_once_with_its_times(
    measure: Callable[..., tuple[bool, mpi_bench.Size]],
) -> None:
    right, one = measure(TwoProcesses(), 800)
    assert right
    assert (one.bytes, one.ranks, one.iterations, one.right) == (800, 2, 10, True)
    assert 0 < one.least <= one.median
    assert one.busbw == pytest.approx(800 / one.median / 1e3)


@pytest.mark.parametrize("spoils", [0, 4])
def test_a_sum_that_is_wrong_once_is_told(measure: Callable[..., tuple[bool, mpi_bench.Size]], spoils: int) -> None:
    right, one = measure(TwoProcesses(spoils), 8)
    assert not right
    assert not one.right


def test_more_seconds_are_more_turns(
    measure: Callable[..., tuple[bool, mpi_bench.Size]],
) -> None:
    _, one = measure(TwoProcesses(), 8, 0.05)
    assert one.iterations > 10
