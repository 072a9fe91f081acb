# SPDX-License-Identifier: GPL-3.0-or-later
"""The NCCL library on this host: which file a process loads, and what is written in it, found by ELF's layout."""

from __future__ import annotations

import os
import posixpath
import re
import struct
from dataclasses import dataclass
from typing import Iterator, Sequence

from ..._data.nccl_library import FOLDERS, MACHINES, NOT_READ, NOT_READ_ENDINGS, OTHER_NAMES, SONAME
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.command import Missing, Unavailable, as_unavailable
from ..._ground.reading import Reading
from ..._ground.regular import open_regular, where
from ..._parse import ldconfig

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_PROGBITS, _LOAD = 1, 1
_WRITE, _ALLOC, _EXEC = 1, 2, 4
_MOST = 4096
_LONGEST_NAME = 64
_FARTHEST = 2**62
_CUT = "cut off: the file ends before what its header names"
GIVEN, CACHE, DEFAULT = "given", "cache", "default"
_NAME = re.compile(rb"NCCL_[A-Z0-9_]{1,200}(?=\0)")
_OTHER = re.compile(rb"(?<=\0)(?:" + "|".join(OTHER_NAMES).encode() + rb")(?=\0)")
_VERSION = re.compile(rb"NCCL version ([0-9]{1,3}(?:\.[0-9]{1,3}){1,3})\+cuda([0-9]{1,3}\.[0-9]{1,3})(?=\0)")
_PIECE = 4 * 1024 * 1024
# The longest text that may be cut by the end of a piece; names are shorter.
_LONGEST = 4096


@dataclass(frozen=True)
class Layout:
    """``machine``: e_machine. ``constants``: (offset, size) of what the program may only read.

    That is the section .rodata; in a file without sections, all that is loaded.
    """

    machine: int
    constants: tuple[tuple[int, int], ...]


def _read(fd: int) -> Layout:
    """Read the layout of an open file; ValueError where it is no 64-bit little-endian library."""
    raw = os.pread(fd, _HEADER.size, 0)
    if len(raw) < _HEADER.size or raw[:4] != b"\x7fELF":
        raise ValueError("not an ELF file")
    if raw[4:6] != b"\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    size = os.fstat(fd).st_size
    _ident, kind, machine, _version, _entry, *where = _HEADER.unpack(raw)
    if kind != 3:
        raise ValueError("not a shared library")
    segments_at, sections_at, _flags, _size, segment, segments, section, sections, names = where
    constants = _sections(fd, (sections_at, section, sections, names))
    if not constants:
        constants = _segments(fd, (segments_at, segment, segments))
    if not constants:
        raise ValueError("an ELF file without anything to load")
    if any(offset + length > size for offset, length in constants):
        raise ValueError(_CUT)
    return Layout(machine, tuple(constants))


def _table(fd: int, shape: struct.Struct, at: int, step: int, count: int) -> list[tuple[int, ...]]:
    if not at or step != shape.size or not 0 < count <= _MOST:
        return []
    raw = _bytes(fd, step * count, at)
    if len(raw) < step * count:
        raise ValueError(_CUT)
    return list(shape.iter_unpack(raw))


def _bytes(fd: int, size: int, at: int) -> bytes:
    if at > _FARTHEST:
        raise ValueError(_CUT)
    return os.pread(fd, size, at)


def _sections(fd: int, told: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    at, step, count, names = told
    table = _table(fd, _SECTION, at, step, count)
    if names >= len(table):
        return []
    texts = table[names][4]
    found = []
    for name, kind, flags, _address, offset, size, *_rest in table:
        if kind == _PROGBITS and flags & (_ALLOC | _WRITE | _EXEC) == _ALLOC and size:
            text = _bytes(fd, _LONGEST_NAME, texts + name).split(b"\0", 1)[0]
            if text == b".rodata" or text.startswith(b".rodata."):
                found.append((offset, size))
    return found


def _segments(fd: int, told: tuple[int, int, int]) -> list[tuple[int, int]]:
    at, step, count = told
    return [
        (offset, size)
        for kind, _flags, offset, _virtual, _physical, size, *_rest in _table(fd, _SEGMENT, at, step, count)
        if kind == _LOAD and size
    ]


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


def find(evidence: Evidence, folders: Sequence[str] = (), machine: str = "") -> Reading[tuple[Found, ...]]:
    """Every libnccl.so.2 that a process finds by this name, the one that it takes first.

    ``folders``: its LD_LIBRARY_PATH. ``machine``: uname's word, "" for any. Missing where there is
    none; unknown where the linker's cache or a folder cannot be looked into.
    """
    cache = ask.command(evidence, "ldconfig", ldconfig.parse)
    if cache.value is None:
        return Reading(None, cache.why)
    flag = MACHINES[machine].flag if machine in MACHINES else ""
    wanted = [Found(f"{folder.rstrip('/')}/{SONAME}", GIVEN) for folder in folders if folder]
    wanted += [
        Found(cached.path, CACHE)
        for cached in cache.value
        if cached.name == SONAME and (not flag or flag in cached.flags)
    ]
    own = MACHINES[machine].folders if machine in MACHINES else FOLDERS
    wanted += [Found(f"{folder}/{SONAME}", DEFAULT) for folder in own]
    found: dict[str, Found] = {}
    for item in wanted:
        try:
            evidence.mode(item.path)
        except Missing:
            continue
        except Unavailable as exc:
            return Reading(None, str(exc))
        found.setdefault(_plain(evidence, item.path), item)
    if not found:
        return Reading(None, f"{SONAME}: in no folder that the linker looks into", True)
    return Reading(tuple(found.values()))


def _plain(evidence: Evidence, path: str) -> str:
    """The path with its folders' links followed: /lib and /usr/lib are mostly one."""
    folder, _slash, name = path.rpartition("/")
    place = ""
    for part in folder.split("/")[1:]:
        place = f"{place}/{part}"
        leads = ask.link(evidence, place).value
        if leads:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(place), leads))
    return f"{place}/{name}"


def inspect(path: str) -> Library:
    """Read what the library says of itself; Unavailable where it cannot be read or is no library.

    It is read piece by piece and not mapped: a file that is just being written over could end
    before its map does, which ends the process.
    """
    with as_unavailable(path):
        fd = open_regular(path)
        try:
            try:
                layout = _read(fd)
            except ValueError as exc:
                raise Unavailable(path, str(exc)) from exc
            return _inspect(fd, path, layout)
        finally:
            os.close(fd)


def _inspect(fd: int, path: str, layout: Layout) -> Library:
    names: set[str] = set()
    version = cuda = ""
    for text in _texts(fd, layout):
        names.update(match.decode() for match in _NAME.findall(text))
        names.update(match.decode() for match in _OTHER.findall(text))
        reported = None if version else _VERSION.search(text)
        if reported is not None:
            version, cuda = reported.group(1).decode(), reported.group(2).decode()
    asked = frozenset(name for name in names if name not in NOT_READ and not name.endswith(NOT_READ_ENDINGS))
    if not asked:
        raise Unavailable(path, "no NCCL library: it names no NCCL variable")
    kinds = {kind.elf: name for name, kind in MACHINES.items()}
    return Library(path, where(fd), version, cuda, kinds.get(layout.machine, f"elf {layout.machine}"), asked)


def _texts(fd: int, layout: Layout) -> Iterator[bytes]:
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
