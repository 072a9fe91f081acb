# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that loads libnccl for proof.py: calls ncclGetUniqueId, and tells what came of it.

Run by its source, with one JSON object on standard input; writes one to standard output and ends
without tidying up, which also closes what the library listens on. Names and values are
hexadecimal: an environment holds bytes. The environment is set in here and not when the process
starts, so that a job's LD_PRELOAD and the like change what getenv says and nothing else.

What is loaded runs code of its own at once, so root loads it only where nobody else can have
written it, by the descriptor of the file that was looked at, and as nobody.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import signal
import sys
import tempfile
from typing import Any, Dict, Mapping

from ..._ground.bound import Bound
from ..._ground.nobody import become
from ..._ground.regular import open_regular

_NEW_MOUNTS = 0x20000
_NOSUID, _NODEV, _BIND, _REC, _PRIVATE = 2, 4, 0x1000, 0x4000, 0x40000
_HOST = ".host"
# Stands for a file that is gone when the process ends, in the values of a request.
LOG = "{log}"
_LOG_MOST: Bound = 256 * 1024
_MEMORY = 16 * 1024**3
_FILE = 64 * 1024**2
_ID = 128
_DEATH_SIGNAL, _DUMPABLE = 1, 4
_DESCRIPTOR = re.compile(r"/proc/self/fd/[0-9]+")

Environment = Dict[bytes, bytes]


def main() -> None:
    """Answer the request."""
    request = json.loads(sys.stdin.buffer.read())
    answer = os.dup(1)
    log = _log()
    os.dup2(log, 1)
    try:
        reported = _ask(request, log)
    except (OSError, ValueError, AttributeError) as exc:
        reported = {"error": _DESCRIPTOR.sub(lambda _found: request["library"], str(exc))}
    with open(answer, "wb") as stream:
        stream.write(json.dumps(reported).encode())
    # The library's threads still run; they must not see it taken apart.
    os._exit(0)


def _ask(request: dict[str, Any], log: int) -> dict[str, Any]:
    libc = ctypes.CDLL(None)
    _bound(request["seconds"])
    # As root: it may lie where only root gets to.
    file = _looked_at(request["library"])
    os.umask(0o022)
    if request["etc"]:
        replace({name: _bytes(text) for name, text in request["etc"].items()})
    os.chdir("/")
    for name in list(os.environb):
        del os.environb[name]
    for name, value in request["env"]:
        text = bytes.fromhex(value).replace(LOG.encode(), f"/proc/self/fd/{log}".encode())
        os.environb[bytes.fromhex(name)] = text
    before = environment(libc)
    become()
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != request["parent"]:
        raise OSError("the process that asked has ended")
    library = ctypes.CDLL(f"/proc/self/fd/{file}")
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
        "taken": [[name.hex(), value.hex()] for name, value in after.items() if before.get(name) != value],
        "log": _said(log),
    }


def _looked_at(path: str) -> int:
    try:
        return open_regular(path, alone=True)
    except OSError as exc:
        raise OSError(f"{path}: {exc.strerror or exc}") from exc


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


def _said(log: int) -> str:
    """What was written to the log; where there is more than is read, a last line says so."""
    data = os.pread(log, _LOG_MOST + 1, 0)
    more = f"\nthe library wrote more than {_LOG_MOST:,} bytes, and the rest is not read\n"
    return data[:_LOG_MOST].decode("utf-8", "replace") + (more if len(data) > _LOG_MOST else "")


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


def replace(files: Mapping[str, bytes | None]) -> None:
    """From now on /etc holds these files instead of the host's of the same name (None: no file).

    A name with a slash makes a folder. Everything else in /etc is the host's. Only root may do so;
    OSError where the kernel does not let it. Nothing on the host's own disks is written, and no
    other process sees it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _must(libc.unshare(_NEW_MOUNTS), "a view of the files of its own")
    _mount(libc, b"none", b"/", None, _REC | _PRIVATE)
    old = os.open("/etc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    _mount(libc, b"ibready", b"/etc", b"tmpfs", _NOSUID | _NODEV, b"mode=0755,size=16m")
    os.mkdir(f"/etc/{_HOST}")
    _mount(libc, f"/proc/self/fd/{old}".encode(), f"/etc/{_HOST}".encode(), None, _BIND)
    os.close(old)
    ours = {name.split("/")[0] for name in files}
    for name in os.listdir(f"/etc/{_HOST}"):
        if name not in ours:
            _show(name)
    for name, data in files.items():
        if data is not None:
            os.makedirs(os.path.dirname(f"/etc/{name}"), exist_ok=True)
            with open(f"/etc/{name}", "xb") as stream:
                stream.write(data)


def _show(name: str) -> None:
    """What the host has by this name; a link as it is, for it may be relative to /etc."""
    place = f"/etc/{_HOST}/{name}"
    target = os.readlink(place) if os.path.islink(place) else f"{_HOST}/{name}"
    os.symlink(target, f"/etc/{name}")


def _mount(
    libc: ctypes.CDLL,
    what: bytes,
    where: bytes,
    kind: bytes | None,
    flags: int,
    options: bytes | None = None,
) -> None:
    done = libc.mount(what, where, kind, ctypes.c_ulong(flags), options)
    _must(done, f"mount on {where.decode()}")


def _must(status: int, what: str) -> None:
    if status != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code).lower()}")
