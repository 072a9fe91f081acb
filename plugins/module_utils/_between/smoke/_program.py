# SPDX-License-Identifier: GPL-3.0-or-later
"""The job of playbooks/smoke.yml: every process adds its number, and checks the sum of all.

Run by its source under mpirun, on hosts without a compiler: calls Open MPI's library by ctypes.
With arguments it measures as well: SECONDS, then sizes in bytes, the all-reduce of each of which is
repeated until so many seconds are over for all.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import ctypes
import glob
import os
import platform
import shutil
import sys
import time
from statistics import median
from typing import Any

# Large enough for the way that large messages take, too: 4 MiB.
_COUNT = 1 << 19
# Before times are taken: connections are made, and memory is registered.
_WARM = 5
_LEAST, _MOST = 10, 100000
_FOLDERS = ("lib", "lib64", "lib/*-linux-gnu", "lib64/openmpi/lib", "lib/openmpi")


def main() -> None:
    """Tell in one line what came of it; status 1 where the sum is wrong."""
    mpi = _library()
    if not hasattr(mpi, "ompi_mpi_comm_world"):
        sys.exit("ibready-smoke: this MPI library is not Open MPI's")
    world = _address(mpi, "ompi_mpi_comm_world")
    _call(mpi, "MPI_Init", None, None)
    rank, size = ctypes.c_int(), ctypes.c_int()
    _call(mpi, "MPI_Comm_rank", world, ctypes.byref(rank))
    _call(mpi, "MPI_Comm_size", world, ctypes.byref(size))
    mine = (ctypes.c_double * _COUNT)(*([rank.value + 1.0] * _COUNT))
    total = (ctypes.c_double * _COUNT)()
    double, add = _address(mpi, "ompi_mpi_double"), _address(mpi, "ompi_mpi_op_sum")
    _call(mpi, "MPI_Allreduce", mine, total, _COUNT, double, add, world)
    want = size.value * (size.value + 1) / 2
    wrong = [at for at, entry in enumerate(total) if entry != want]
    reported = f"wrong at {len(wrong)} of {_COUNT}, first {total[wrong[0]]}" if wrong else "right"
    print(
        f"ibready-smoke rank={rank.value} size={size.value} host={platform.node()} {reported} "
        f"sum of {_COUNT} doubles, {want:g} each",
        flush=True,
    )
    seconds, sizes = float((sys.argv[1:] or ["0"])[0]), [int(entry) for entry in sys.argv[2:]]
    measured = [_measure(mpi, world, rank.value, size.value, siz, seconds / len(sizes)) for siz in sizes]
    _call(mpi, "MPI_Finalize")
    sys.exit(0 if all(measured) and not wrong else 1)


def _measure(mpi: Any, world: Any, rank: int, size: int, length: int, seconds: float) -> bool:
    """Time the all-reduce of so many bytes, and tell it; returns whether every sum was right."""
    double, add = _address(mpi, "ompi_mpi_double"), _address(mpi, "ompi_mpi_op_sum")
    count = max(1, length // 8)
    mine, total = (ctypes.c_double * count)(), (ctypes.c_double * count)()

    def once() -> float:
        _call(mpi, "MPI_Barrier", world)
        begun = time.perf_counter()
        _call(mpi, "MPI_Allreduce", mine, total, count, double, add, world)
        return time.perf_counter() - begun

    def slowest(value: float) -> float:
        own, most = ctypes.c_double(value), ctypes.c_double()
        largest = _address(mpi, "ompi_mpi_op_max")
        reported = (ctypes.byref(own), ctypes.byref(most))
        _call(mpi, "MPI_Allreduce", *reported, 1, double, largest, world)
        return most.value

    right = True
    for turn in range(_WARM):
        mine[:] = [rank + 1.0 + turn] * count
        took = once()
        # Other numbers in every turn: what lies there from the last one is not right by chance.
        want = size * (size + 1) / 2 + size * turn
        right = right and bytes(total) == bytes((ctypes.c_double * count)(*([want] * count)))
    turns = int(min(_MOST, max(_LEAST, seconds / max(slowest(took), 1e-7))))
    times = [slowest(once()) * 1e6 for _turn in range(turns)]
    usual = median(times)
    spread = median(abs(time - usual) for time in times)
    wrong = slowest(0.0 if right else 1.0) > 0
    if rank == 0:
        print(
            f"ibready-allreduce bytes={count * 8} ranks={size} iterations={turns} "
            f"median_us={usual:.3f} mad_us={spread:.3f} min_us={min(times):.3f} "
            f"{'wrong' if wrong else 'right'}",
            flush=True,
        )
    return right


def _library() -> Any:
    """Open MPI's library: that of the mpirun in PATH, else the one that the linker finds."""
    found = [*_beside_mpirun(), "libmpi.so.40", "libmpi.so"]
    for path in found:
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    return sys.exit(f"ibready-smoke: no MPI library could be loaded ({', '.join(found)})")


def _beside_mpirun() -> list[str]:
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        return []
    prefix = os.path.dirname(os.path.dirname(mpirun))
    return [
        path
        for folder in _FOLDERS
        for path in sorted(glob.glob(os.path.join(prefix, folder, "libmpi.so.[0-9]*")), key=len)
    ]


def _address(mpi: Any, name: str) -> ctypes.c_void_p:
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))


def _call(mpi: Any, name: str, *arguments: Any) -> None:
    status = getattr(mpi, name)(*arguments)
    if status != 0:
        sys.exit(f"ibready-smoke: {name} answered {status}")


if __name__ == "__main__":
    main()
