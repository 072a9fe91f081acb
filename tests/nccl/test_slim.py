# SPDX-License-Identifier: GPL-3.0-or-later
"""The small form of the library, which the sandbox's nodes get, against the whole one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import prove
from sandbox.vendor.nccl import slim
from sandbox.vendor.nccl.elf import SEGMENT, layout
from tests.nccl.conftest import Nccl
from tests.unit import roots_place
from tests.unit.sandbox.vendor.nccl_library import without_gpu_code, written

_SECONDS = 60
# When it was, who said it, and on which port it listens: they differ each time.
_PASSING = re.compile(r"\d{4}-\d\d-\d\d \S+|\S+:\d+:\d+ \[-?\d+\]|:\d+<")
# A thread of its own says this, and the answer may be over by then.
_LATER = "Socket handshake magic"
# The segments of a loaded library, as the C library shows them to whoever unwinds the stack.
_SEGMENTS = """
import ctypes, json, sys
class Info(ctypes.Structure):
    _fields_ = [("at", ctypes.c_uint64), ("name", ctypes.c_char_p),
                ("segments", ctypes.c_void_p), ("count", ctypes.c_uint16)]
found = []
def look(info, _size, _data):
    one = info.contents
    if one.name == sys.argv[1].encode():
        found.append(ctypes.string_at(one.segments, one.count * 56).hex())
    return 0
ctypes.CDLL(sys.argv[1])
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
ctypes.CDLL(None).dl_iterate_phdr(kind(look), None)
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def small(nccl: Nccl) -> Iterator[Path]:
    with roots_place.folder() as folder:
        yield written(folder, slim.slim(Path(nccl.path)))


def test_it_is_small(nccl: Nccl, small: Path) -> None:
    assert small.stat().st_size < 6_000_000 < Path(nccl.path).stat().st_size / 30


def test_a_process_sees_the_same_but_for_the_gpu_code(nccl: Nccl, small: Path) -> None:
    whole = without_gpu_code(Path(nccl.path).read_bytes())
    assert without_gpu_code(small.read_bytes()) == whole


def test_the_file_tells_the_same(nccl: Nccl, small: Path) -> None:
    whole, reported = library.inspect(nccl.path), library.inspect(str(small))
    assert (reported.version, reported.cuda, reported.machine) == (whole.version, whole.cuda, whole.machine)
    assert reported.names == whole.names


def test_the_c_library_shows_its_segments(small: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SEGMENTS, str(small)],
        capture_output=True,
        check=True,
        timeout=_SECONDS,
    )
    (shown,) = json.loads(done.stdout)
    segments = [tuple(one) for one in layout(small.read_bytes()).segments]
    assert list(SEGMENT.iter_unpack(bytes.fromhex(shown))) == segments


@pytest.mark.parametrize(
    "conf",
    [
        b"NCCL_IB_HCA==mlx5_0\nNCCL_IB_TIMEOUT=22 # as is\n# NCCL_DEBUG=INFO\n",
        b"NCCL_SOCKET_IFNAME=^lo,docker\n",
        b"NCCL_SOCKET_IFNAME==not-there\n",
        b"NCCL_COMM_ID=no address\n",
    ],
)
def test_it_proves_the_same(nccl: Nccl, small: Path, conf: bytes) -> None:
    assert proof(str(small), conf) == proof(nccl.path, conf)


def proof(path: str, conf: bytes) -> dict[str, Any]:
    """All that stays the same from one call to the next."""
    done = prove(path, names=["NCCL_IB_HCA"], etc={"nccl.conf": conf})
    assert done.value is not None, done.why
    reported = vars(done.value)
    reported["log"] = [_PASSING.sub("", line) for line in reported["log"] if _LATER not in line]
    reported["listener"] = reported["listener"] and reported["listener"].address
    return reported
