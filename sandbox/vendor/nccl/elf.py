# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of a 64-bit ELF library: what is loaded where, and what its parts are called."""

from __future__ import annotations

import mmap
import struct
from typing import NamedTuple

Data = bytes | mmap.mmap
LOAD, NOBITS, ALLOC = 1, 8, 2
_LIBRARY = 3


class Header(NamedTuple):
    """The head of a 64-bit ELF file, in its order."""

    ident: bytes
    kind: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    size: int
    segment_size: int
    segments: int
    section_size: int
    sections: int
    names: int


class Segment(NamedTuple):
    """A part of the file and where it is loaded; what ``memory`` has more than ``size`` is zero."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    size: int
    memory: int
    align: int


class Section(NamedTuple):
    """A part of the file by its name, which is an offset into the section of the names."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")


class Layout(NamedTuple):
    """What an ELF file's tables say; ``names``: the bytes of the section of the names."""

    header: Header
    segments: list[Segment]
    sections: list[Section]
    names: bytes

    def name(self, section: Section) -> str:
        return self.names[section.name : self.names.index(b"\0", section.name)].decode()


def layout(data: Data) -> Layout:
    """Read the tables; ValueError where this is no 64-bit library with sections."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    header = Header(*HEADER.unpack_from(data))
    if header.kind != _LIBRARY or header.names >= header.sections:
        raise ValueError("not a shared library with sections")
    segments = [
        Segment(*SEGMENT.unpack_from(data, header.segments_at + at * SEGMENT.size)) for at in range(header.segments)
    ]
    sections = [
        Section(*SECTION.unpack_from(data, header.sections_at + at * SECTION.size)) for at in range(header.sections)
    ]
    texts = sections[header.names]
    return Layout(header, segments, sections, data[texts.offset : texts.offset + texts.size])
