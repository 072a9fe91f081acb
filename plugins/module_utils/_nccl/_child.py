# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that loads libnccl for _nccl/proof: calls ncclGetUniqueId, and tells what came of it.

Run by its source, with one JSON object on standard input; writes one to standard output and ends
without tidying up, which also closes what the library listens on. Names and values are
hexadecimal: an environment holds bytes. The environment is set in here and not when the process
starts, so that a job's LD_PRELOAD and the like change what getenv says and nothing else.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import tempfile
from typing import Any, Dict

from ansible_collections.ibready.cluster.plugins.module_utils._nccl._private_etc import replace

# Stands for a file that is gone when the process ends, in the values of a request.
LOG = "{log}"
_LOG_MOST = 256 * 1024
_MEMORY = 16 * 1024**3
_FILE = 64 * 1024**2
_ID = 128
_DEATH_SIGNAL, _DUMPABLE = 1, 4

Environment = Dict[bytes, bytes]


def main() -> None:
    """Answer the request."""
    request = json.loads(sys.stdin.buffer.read())
    answer = os.dup(1)
    log = _log()
    os.dup2(log, 1)
    try:
        told = _ask(request, log)
    except (OSError, ValueError, AttributeError) as exc:
        told = {"error": str(exc)}
    with open(answer, "wb") as stream:
        stream.write(json.dumps(told).encode())
    # The library's threads still run; they must not see it taken apart.
    os._exit(0)


def _ask(request: dict[str, Any], log: int) -> dict[str, Any]:
    libc = ctypes.CDLL(None)
    _bound(request["seconds"])
    if request["etc"]:
        replace({name: _bytes(text) for name, text in request["etc"].items()})
    os.chdir("/")
    for name in list(os.environb):
        del os.environb[name]
    for name, value in request["env"]:
        text = bytes.fromhex(value).replace(LOG.encode(), f"/proc/self/fd/{log}".encode())
        os.environb[bytes.fromhex(name)] = text
    before = environment(libc)
    # Its files are read later, by the first call: the library may lie where only root gets to.
    library = ctypes.CDLL(request["library"])
    if request["user"]:
        _become(*request["user"])
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != request["parent"]:
        raise OSError("the process that asked has ended")
    version = ctypes.c_int()
    library.ncclGetVersion(ctypes.byref(version))
    unique = ctypes.create_string_buffer(_ID)
    result = library.ncclGetUniqueId(unique)
    libc.fflush(None)
    libc.getenv.restype = ctypes.c_char_p
    asked = {name: libc.getenv(bytes.fromhex(name)) for name in request["names"]}
    after = environment(libc)
    return {
        "version": version.value,
        "result": result,
        "id": unique.raw.hex(),
        "values": {name: None if text is None else text.hex() for name, text in asked.items()},
        "taken": [
            [name.hex(), value.hex()] for name, value in after.items() if before.get(name) != value
        ],
        "log": os.pread(log, _LOG_MOST, 0).decode("utf-8", "replace"),
    }


def _become(user: int, group: int) -> None:
    os.setgroups([group])
    os.setgid(group)
    os.setuid(user)


def environment(libc: ctypes.CDLL) -> Environment:
    """The C library's environment, which the interpreter's own copy does not follow."""
    entries = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    found: Environment = {}
    at = 0
    while entries and entries[at] is not None:
        name, _equals, value = (entries[at] or b"").partition(b"=")
        found.setdefault(name, value)
        at += 1
    return found


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _log() -> int:
    """A file without a name, that a library may open by /proc/self/fd whoever it runs as."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("log")
    with tempfile.TemporaryFile() as stream:
        fd = os.dup(stream.fileno())
    os.fchmod(fd, 0o666)
    return fd


def _bound(seconds: int) -> None:
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _FILE),
    ):
        _soft, hard = resource.getrlimit(kind)
        lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (lower, lower))
