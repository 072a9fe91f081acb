# SPDX-License-Identifier: GPL-3.0-or-later
"""The same job by what users' programs call: mpi4py, or torch.distributed with backend=mpi.

Run by its source under mpirun, the binding as its argument. Tells what _program.py tells.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import array
import os
import platform
import site
import sys
from importlib import import_module
from typing import Callable, Sequence, Tuple

_COUNT = 1 << 19
# An all-reduce of so many doubles, all with this process's number: rank, size and what it gave.
_Summed = Tuple[int, int, Sequence[float]]


def _mpi4py() -> _Summed:
    # EL has it beside the others, for who loaded the module of Open MPI (Fedora's guidelines for MPI).
    sys.path += [os.path.join(folder, "openmpi") for folder in site.getsitepackages()]
    MPI = import_module("mpi4py.MPI")
    world = MPI.COMM_WORLD
    mine = array.array("d", [world.Get_rank() + 1.0]) * _COUNT
    total = array.array("d", [0.0]) * _COUNT
    world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], op=MPI.SUM)
    return world.Get_rank(), world.Get_size(), total


def _torch() -> _Summed:
    torch, distributed = import_module("torch"), import_module("torch.distributed")
    if not distributed.is_available() or not distributed.is_mpi_available():
        raise RuntimeError(
            f"torch {torch.__version__} is built without MPI, so that it has no backend=mpi; next: take a torch that "
            "is built against this MPI, or have the job use backend=nccl or gloo"
        )
    distributed.init_process_group("mpi")
    rank, size = distributed.get_rank(), distributed.get_world_size()
    total = torch.full((_COUNT,), rank + 1.0, dtype=torch.float64)
    distributed.all_reduce(total)
    summed = total.tolist()
    distributed.destroy_process_group()
    return rank, size, summed


_BINDINGS: dict[str, Callable[[], _Summed]] = {"mpi4py": _mpi4py, "torch": _torch}


def main(argv: Sequence[str]) -> int:
    """Tell in one line what came of it; the status is 1 where the sum is wrong, or there is none."""
    name = argv[0] if argv else ""
    try:
        rank, size, total = _BINDINGS[name]()
    except Exception as exc:
        said = " ".join(str(exc).split()) or "no more is told"
        print(f"ibready-smoke: {name} of {sys.executable}: {type(exc).__name__}: {said}", file=sys.stderr, flush=True)
        return 1
    want = size * (size + 1) / 2
    wrong = [at for at, entry in enumerate(total) if entry != want]
    reported = f"wrong at {len(wrong)} of {_COUNT}, first {total[wrong[0]]}" if wrong else "right"
    print(
        f"ibready-smoke rank={rank} size={size} host={platform.node()} {reported} "
        f"sum of {_COUNT} doubles, {want:g} each, by {name}",
        flush=True,
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
