# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the program of _child: another /etc for this process alone, gone when it ends.

Needs the standard library only, and no other file of ours: it is run by its source.
"""

from __future__ import annotations

import ctypes
import os
from typing import Mapping

_NEW_MOUNTS = 0x20000
_NOSUID, _NODEV, _BIND, _REC, _PRIVATE = 2, 4, 0x1000, 0x4000, 0x40000
_HOST = ".host"


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
