# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of an ELF file's layout as it takes to find its constants."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_PROGBITS, _LOAD = 1, 1
_WRITE, _ALLOC, _EXEC = 1, 2, 4
_MOST = 4096
_LONGEST_NAME = 64
_FARTHEST = 2**62
_CUT = "cut off: the file ends before what its header names"


@dataclass(frozen=True)
class Layout:
    """``machine``: e_machine. ``constants``: (offset, size) of what the program may only read.

    That is the section .rodata; in a file without sections, all that is loaded.
    """

    machine: int
    constants: tuple[tuple[int, int], ...]


def read(fd: int) -> Layout:
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
        for kind, _flags, offset, _virtual, _physical, size, *_rest in _table(
            fd, _SEGMENT, at, step, count
        )
        if kind == _LOAD and size
    ]
