# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the library's InfiniBand transport which devices it takes: a program that test_hca.py starts.

The transport is a table of functions ("IB", init, devices, ...) that is not exported. It is found
by its relocations, which is beyond the library's interface and may fail with any release: for
tests only, never for a host.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).with_name("simulated_verbs.c")
_SECONDS = 300
_MAP = "IBVERBS_1.1 { global: ibv_*; }; GLIBC_2.3 { global: realpath; local: *; };\n"
_SECTION = struct.Struct("<IIQQQQIIQQ")
_RELOCATION = struct.Struct("<QQq")
_RELATIVE = 8
# How many functions follow the name in every version, at least.
_FUNCTIONS = 10
# [0]mlx5_0:1/IB [1]mlx5_2:2/RoCE; in 2.20 and 2.21 ports of one card as {[0] mlx5_0:1/IB, ...};
# from 2.30.7 with rail and plane where the list names them (mlx5_0:1:0:0/IB).
_DEVICE = re.compile(r"\[\d+\] ?([A-Za-z0-9_]+:\d+(?::-?\d+)*)/(?:IB|RoCE)")


def simulated_verbs(folder: Path) -> Path:
    """Build the simulated libibverbs in a folder."""
    (folder / "map").write_text(_MAP)
    library = folder / "libibverbs.so.1"
    subprocess.run(
        [
            *("gcc", "-Wall", "-Werror", "-Wno-unused-parameter", "-O1", "-shared", "-fPIC"),
            *("-Wl,-soname,libibverbs.so.1", f"-Wl,--version-script={folder / 'map'}"),
            *("-o", str(library), str(SOURCE)),
        ],
        check=True,
        timeout=60,
    )
    (folder / "libibverbs.so").symlink_to(library.name)
    return library


def ask(library: str, version: tuple[int, ...], verbs: Path, rows: list[dict[str, str]]) -> list[dict[str, Any]]:
    """What the transport takes for each environment, in a network that has only lo."""
    request = {"library": library, "version": version, "rows": rows}
    done = subprocess.run(
        ["unshare", "--net", "--mount", "--", sys.executable, "-m", "tests.nccl.ib_table"],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "PYTHONPATH": f"{ROOT}:{ROOT}/collections",
            "LD_LIBRARY_PATH": str(verbs.parent),
            "LD_PRELOAD": str(verbs),
        },
        check=True,
        timeout=_SECONDS,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def sections(stream: BinaryIO) -> dict[str, tuple[int, int, int]]:
    """Address, offset and size by name."""
    stream.seek(0x28)
    (at,) = struct.unpack("<Q", stream.read(8))
    stream.seek(0x3A)
    size, count, names = struct.unpack("<HHH", stream.read(6))
    assert size == _SECTION.size
    stream.seek(at)
    table = list(_SECTION.iter_unpack(stream.read(size * count)))
    stream.seek(table[names][4])
    texts = stream.read(table[names][5])
    return {texts[one[0] : texts.index(b"\0", one[0])].decode(): (one[3], one[4], one[5]) for one in table}


def table_address(path: str) -> int:
    """Where the transport's table lies, from the library's beginning; there must be just one."""
    with open(path, "rb") as stream:
        found = sections(stream)
        text, _offset, size = found[".text"]
        constants, offset, length = found[".rodata"]
        stream.seek(offset)
        data = stream.read(length)
        stream.seek(found[".rela.dyn"][1])
        raw = stream.read(found[".rela.dyn"][2])
    points = {where: to for where, kind, to in _RELOCATION.iter_unpack(raw) if kind == _RELATIVE}
    tables = [
        where
        for where, to in points.items()
        if constants <= to < constants + length
        and data[to - constants :][:3] == b"IB\0"
        and all(text <= points.get(where + 8 * at, 0) < text + size for at in range(1, _FUNCTIONS + 1))
    ]
    assert len(tables) == 1, tables
    return tables[0]


def loaded_at(path: str) -> int:
    real = os.path.realpath(path)
    with open("/proc/self/maps") as stream:
        return min(
            int(line.split("-")[0], 16)
            for line in stream
            if line.rstrip().endswith(real) and line.split()[2] == "00000000"
        )


def initialised(table: int, version: tuple[int, ...]) -> tuple[int, int]:
    """What the transport's init returned, and how many devices it says that it has."""
    functions = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
    # Neither the log nor the profiler is called by this transport.
    nothing = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
    context = ctypes.c_void_p()
    config = (ctypes.c_int * 16)(-1)
    arguments: dict[tuple[int, ...], list[Any]] = {
        (0,): [nothing],
        (2, 26): [nothing, nothing],
        (2, 28): [
            ctypes.byref(context),
            ctypes.c_uint64(1),
            ctypes.byref(config),
            nothing,
            nothing,
        ],
    }
    given = [words for since, words in arguments.items() if version >= since][-1]
    init = ctypes.CFUNCTYPE(ctypes.c_int)(functions[1] or 0)
    result = init(*given)
    count = ctypes.c_int(-1)
    devices = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(functions[2] or 0)
    devices(ctypes.byref(count))
    return result, count.value


def one_row(library: ctypes.CDLL, path: str, version: tuple[int, ...], env: dict[str, str]) -> Any:
    """Ask in this process, which has never called the library before."""
    log = os.memfd_create("log")
    os.environ.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="ALL", NCCL_DEBUG_FILE=f"/proc/self/fd/{log}", **env)
    # Reads the files first, as in a job.
    first = library.ncclGetUniqueId(ctypes.create_string_buffer(128))
    result, count = initialised(loaded_at(path) + table_address(path), version)
    lines = os.pread(log, 1024 * 1024, 0).decode().splitlines()
    using = [line for line in lines if "NET/IB : Using" in line]
    return {
        "first": first,
        "result": result,
        "count": count,
        "devices": [one for line in using for one in _DEVICE.findall(line)],
        "log": lines,
    }


def in_a_fork(library: ctypes.CDLL, request: dict[str, Any], env: dict[str, str]) -> Any:
    end, begin = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            reported = one_row(library, request["library"], tuple(request["version"]), env)
        except BaseException as exc:
            reported = {"error": repr(exc)}
        with open(begin, "w") as stream:
            json.dump(reported, stream)
        os._exit(0)
    os.close(begin)
    with open(end) as stream:
        text = stream.read()
    _pid, status = os.waitpid(pid, 0)
    return json.loads(text) if text else {"error": f"ended with {status}"}


def main() -> None:
    from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import _child

    request = json.load(sys.stdin)
    _child.replace({"nccl.conf": None})
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=20)
    library = ctypes.CDLL(request["library"])
    json.dump([in_a_fork(library, request, env) for env in request["rows"]], sys.stdout)


if __name__ == "__main__":
    main()
