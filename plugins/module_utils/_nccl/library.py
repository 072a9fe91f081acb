# SPDX-License-Identifier: GPL-3.0-or-later
"""The NCCL library on this host: which file a process loads, and what is written in it.

The file is only read, never loaded: it has hundreds of megabytes of GPU code, and everything asked
for lies in one small section.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from dataclasses import dataclass
from typing import Iterator, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Missing,
    Unavailable,
    as_unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_library import (
    MACHINES,
    NOT_READ,
    NOT_READ_ENDINGS,
    OTHER_NAMES,
    SONAME,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import _elf
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ldconfig

GIVEN, CACHE, DEFAULT = "given", "cache", "default"
_NAME = re.compile(rb"NCCL_[A-Z0-9_]{1,200}(?=\0)")
_OTHER = re.compile(rb"(?<=\0)(?:" + "|".join(OTHER_NAMES).encode() + rb")(?=\0)")
_VERSION = re.compile(
    rb"NCCL version ([0-9]{1,3}(?:\.[0-9]{1,3}){1,3})\+cuda([0-9]{1,3}\.[0-9]{1,3})(?=\0)"
)
_PIECE = 4 * 1024 * 1024
# The longest text that may be cut by the end of a piece; names are shorter.
_LONGEST = 4096


@dataclass(frozen=True)
class Found:
    """A library by its path, and what leads a process there: GIVEN, CACHE or DEFAULT."""

    path: str
    by: str


@dataclass(frozen=True)
class Library:
    """What a file says of itself.

    ``real``: with every link followed. ``version`` and ``cuda`` (the toolkit it was built with):
    like ``2.26.2`` and ``12.2``, "" where no text in the file tells. ``machine``: uname's word, or
    ``elf N``. ``names``: every variable that it asks for.
    """

    path: str
    real: str
    version: str
    cuda: str
    machine: str
    names: frozenset[str]


def find(
    evidence: Evidence, folders: Sequence[str] = (), machine: str = ""
) -> Reading[tuple[Found, ...]]:
    """Every libnccl.so.2 that a process finds by this name, the one that it takes first.

    ``folders``: its LD_LIBRARY_PATH. ``machine``: uname's word, "" for any. Missing where there is
    none; unknown where the linker's cache or a folder cannot be looked into.
    """
    cache = _ask.command(evidence, "ldconfig", ldconfig.parse)
    if cache.value is None:
        return Reading(None, cache.why)
    flag = MACHINES[machine].flag if machine in MACHINES else ""
    wanted = [Found(f"{folder.rstrip('/')}/{SONAME}", GIVEN) for folder in folders if folder]
    wanted += [
        Found(one.path, CACHE)
        for one in cache.value
        if one.name == SONAME and (not flag or flag in one.flags)
    ]
    own = MACHINES[machine].folders if machine in MACHINES else _every_folder()
    wanted += [Found(f"{folder}/{SONAME}", DEFAULT) for folder in own]
    found: dict[str, Found] = {}
    for one in wanted:
        try:
            evidence.mode(one.path)
        except Missing:
            continue
        except Unavailable as exc:
            return Reading(None, str(exc))
        found.setdefault(_plain(evidence, one.path), one)
    if not found:
        return Reading(None, f"{SONAME}: in no folder that the linker looks into", True)
    return Reading(tuple(found.values()))


def _every_folder() -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for kind in MACHINES.values() for one in kind.folders))


def _plain(evidence: Evidence, path: str) -> str:
    """The path with its folders' links followed: /lib and /usr/lib are mostly one."""
    folder, _slash, name = path.rpartition("/")
    place = ""
    for part in folder.split("/")[1:]:
        place = f"{place}/{part}"
        leads = _ask.link(evidence, place).value
        if leads:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(place), leads))
    return f"{place}/{name}"


def names_in(path: str) -> frozenset[str]:
    """Every variable that the library at this path asks for; Unavailable where it is none."""
    return inspect(path).names


def inspect(path: str) -> Library:
    """Read what the library says of itself; Unavailable where it cannot be read or is no library.

    It is read piece by piece and not mapped: a file that is just being written over could end
    before its map does, which ends the process.
    """
    with as_unavailable(path):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unavailable(path, "not a regular file")
            try:
                layout = _elf.read(fd)
            except ValueError as exc:
                raise Unavailable(path, str(exc)) from exc
            return _inspect(fd, path, layout)
        finally:
            os.close(fd)


def _inspect(fd: int, path: str, layout: _elf.Layout) -> Library:
    names: set[str] = set()
    version = cuda = ""
    for text in _texts(fd, layout):
        names.update(one.decode() for one in _NAME.findall(text))
        names.update(one.decode() for one in _OTHER.findall(text))
        told = None if version else _VERSION.search(text)
        if told is not None:
            version, cuda = told.group(1).decode(), told.group(2).decode()
    asked = frozenset(one for one in names if one not in NOT_READ and not _ends_a_message(one))
    if not asked:
        raise Unavailable(path, "no NCCL library: it names no NCCL variable")
    kinds = {kind.elf: name for name, kind in MACHINES.items()}
    return Library(
        path,
        os.path.realpath(path),
        version,
        cuda,
        kinds.get(layout.machine, f"elf {layout.machine}"),
        asked,
    )


def _ends_a_message(name: str) -> bool:
    return name.endswith(NOT_READ_ENDINGS)


def _texts(fd: int, layout: _elf.Layout) -> Iterator[bytes]:
    """The library's constants in pieces that end between two texts; each begins with a NUL."""
    for offset, size in layout.constants:
        end = offset + size
        left = b"\0"
        while offset < end:
            piece = os.pread(fd, min(_PIECE, end - offset), offset)
            if not piece:
                return
            offset += len(piece)
            data = left + piece
            cut = data.rfind(b"\0", 0, len(data) - 1)
            if offset < end and len(data) - cut <= _LONGEST:
                yield data[: cut + 1]
                left = data[cut:]
            else:
                yield data
                left = b"\0"
