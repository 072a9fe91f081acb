# SPDX-License-Identifier: GPL-3.0-or-later
"""The job by mpi4py and by torch: both are made up here, tests/system has a real mpi4py."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import _bindings
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mpi_log

Give = Callable[..., None]


class _World:
    """The first of two processes; the other has 2. ``spoils``: whether the last sum is wrong."""

    def __init__(self, spoils: bool) -> None:
        self.spoils = spoils

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 2

    def Allreduce(self, mine: Any, total: Any, op: str) -> None:
        assert (mine[1], total[1], op) == ("double", "double", "sum")
        for at, entry in enumerate(mine[0]):
            total[0][at] = entry + 2.0
        if self.spoils:
            total[0][-1] += 1.0


class _Tensor(list[float]):
    def tolist(self) -> list[float]:
        return list(self)


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Give:
    """Put made-up libraries where the program imports them from."""

    def mpi4py(spoils: bool) -> None:
        made = types.SimpleNamespace(COMM_WORLD=_World(spoils), DOUBLE="double", SUM="sum")
        monkeypatch.setitem(sys.modules, "mpi4py", types.SimpleNamespace())
        monkeypatch.setitem(sys.modules, "mpi4py.MPI", made)

    def torch(spoils: bool, with_mpi: bool = True) -> None:
        def reduce(total: _Tensor) -> None:
            total[:] = [entry + 2.0 for entry in total]
            total[-1] += 1.0 if spoils else 0.0

        distributed = types.SimpleNamespace(
            is_available=lambda: True,
            is_mpi_available=lambda: with_mpi,
            init_process_group={"mpi": None}.__getitem__,
            get_rank=lambda: 0,
            get_world_size=lambda: 2,
            all_reduce=reduce,
            destroy_process_group=lambda: None,
        )

        def full(shape: tuple[int], value: float, dtype: str) -> _Tensor:
            return _Tensor([value] * shape[0])

        made = types.SimpleNamespace(full=full, float64="float64", __version__="2.9.1")
        monkeypatch.setitem(sys.modules, "torch", made)
        monkeypatch.setitem(sys.modules, "torch.distributed", distributed)

    return lambda name, *args, **named: {"mpi4py": mpi4py, "torch": torch}[name](*args, **named)


@pytest.mark.parametrize("name", ["mpi4py", "torch"])
@pytest.mark.parametrize("spoils", [False, True])
def test_each_process_tells_what_the_verdict_reads(
    name: str, spoils: bool, give: Give, capsys: pytest.CaptureFixture[str]
) -> None:
    give(name, spoils)
    assert _bindings.main([name]) == int(spoils)
    told = capsys.readouterr().out
    (rank,) = mpi_log.parse(told).ranks
    assert (rank.rank, rank.size, rank.right) == (0, 2, not spoils)
    assert told.endswith(f"3 each, by {name}\n")


def test_a_torch_without_mpi_says_so(give: Give, capsys: pytest.CaptureFixture[str]) -> None:
    give("torch", False, with_mpi=False)
    assert _bindings.main(["torch"]) == 1
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "torch 2.9.1 is built without MPI, so that it has no backend=mpi; next: " in seen.err


@pytest.mark.parametrize("argv", [["mpi4py"], ["fortran"], []])
def test_what_is_not_there_is_named(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert _bindings.main(argv) == 1
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith(f"ibready-smoke: {(argv or [''])[0]} of {sys.executable}: ")
