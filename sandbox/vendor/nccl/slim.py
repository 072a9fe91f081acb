# SPDX-License-Identifier: GPL-3.0-or-later
"""A libnccl.so.2 of a few MB: the same for a process, without the code that only a GPU can run.

Loaded, it has the same bytes at the same addresses, but zeros where the GPU's code is, which take
no room in the file. What is never loaded (debugging information, the symbol table for debuggers)
is left out.
"""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.vendor.nccl.elf import (
    ALLOC,
    HEADER,
    LOAD,
    NOBITS,
    SECTION,
    SEGMENT,
    Data,
    Layout,
    Section,
    Segment,
    layout,
)

# nvcc's sections of code for the GPU; in NCCL they are nine tenths of the file.
GPU_CODE = ("__nv_relfatbin", ".nv_fatbin")
_BUILT = re.compile(rb"NCCL version ([0-9.]{1,20})\+cuda([0-9.]{1,9})\0")
_PAGE = 4096
_ALIGN = 16


def slim(library: Path) -> bytes:
    """Return the small form of a library; SandboxError where it is none that has one."""
    try:
        with (
            library.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as whole,
        ):
            return _Slim(whole, layout(whole)).written()
    except (ValueError, struct.error) as exc:
        raise SandboxError(f"{library} cannot be made small: {exc}; remove it, so that it is fetched again") from None


def toolkit(library: bytes, version: str) -> str:
    """Return the CUDA that a library says it was built with; it has to be of this release."""
    reported = _BUILT.search(library)
    if reported is None or reported[1].decode() != version:
        found = f"NCCL {reported[1].decode()}" if reported else "no NCCL"
        raise SandboxError(f"the pinned wheel of NCCL {version} holds {found}: pin another")
    return reported[2].decode()


class _Slim:
    """The new file while it is written. ``moved``: old beginning, old end, new beginning."""

    def __init__(self, data: Data, old: Layout) -> None:
        self._data = data
        self._old = old
        code = [section for section in old.sections if old.name(section) in GPU_CODE]
        if not code:
            raise ValueError(f"it has no section {' or '.join(GPU_CODE)}")
        self._code = sorted(code, key=lambda entry: entry.offset)
        self._out = bytearray()
        self._moved: list[tuple[int, int, int]] = []

    def written(self) -> bytes:
        segments = [new for segment in self._old.segments if segment.kind == LOAD for new in self._load(segment)]
        segments += [
            segment._replace(offset=self._new(segment.offset) if segment.size else segment.offset)
            for segment in self._old.segments
            if segment.kind != LOAD
        ]
        # On a page of their own: on the last one of a segment the C library would take them for
        # loaded, and show the zeros behind the segment to whoever unwinds the stack.
        self._out += bytes(-len(self._out) % _PAGE)
        segments_at = self._append(b"".join(SEGMENT.pack(*segment) for segment in segments))
        sections = [*self._loaded_sections(), self._names()]
        sections_at = self._append(b"".join(SECTION.pack(*section) for section in sections))
        self._out[: HEADER.size] = HEADER.pack(
            *self._old.header._replace(
                segments_at=segments_at,
                segments=len(segments),
                sections_at=sections_at,
                sections=len(sections),
                names=len(sections) - 1,
            )
        )
        return bytes(self._out)

    def _load(self, segment: Segment) -> list[Segment]:
        """Lay a segment down in pieces, each of which ends where pages of GPU code begin."""
        made = []
        at, end = segment.offset, segment.offset + segment.size
        for code in self._code:
            start = -(-code.offset // _PAGE) * _PAGE
            stop = (code.offset + code.size) // _PAGE * _PAGE
            if at < start < stop <= end:
                made.append(self._piece(segment, at, start, stop - at))
                at = stop
        return [*made, self._piece(segment, at, end, end - at + segment.memory - segment.size)]

    def _piece(self, segment: Segment, start: int, end: int, memory: int) -> Segment:
        self._out += bytes((start - len(self._out)) % _PAGE)
        place = len(self._out)
        self._out += self._data[start:end]
        for code in self._code:
            first, last = max(code.offset, start), min(code.offset + code.size, end)
            if first < last:
                self._out[place + first - start : place + last - start] = bytes(last - first)
        self._moved.append((start, end, place))
        return segment._replace(
            offset=place,
            address=segment.address + start - segment.offset,
            physical=segment.physical + start - segment.offset,
            size=end - start,
            memory=memory,
            align=_PAGE,
        )

    def _loaded_sections(self) -> list[Section]:
        """The sections up to the last that is loaded: their numbers stay."""
        sections = self._old.sections
        last = max(at for at, section in enumerate(sections) if section.flags & ALLOC)
        made = []
        for section in sections[: last + 1]:
            if section in self._code:
                section = section._replace(kind=NOBITS, offset=self._new(-(-section.offset // _PAGE) * _PAGE))
            elif section.flags & ALLOC:
                section = section._replace(offset=self._new(section.offset))
            made.append(section)
        return made

    def _names(self) -> Section:
        place = self._append(self._old.names)
        return self._old.sections[self._old.header.names]._replace(offset=place)

    def _append(self, data: bytes) -> int:
        self._out += bytes(-len(self._out) % _ALIGN)
        self._out += data
        return len(self._out) - len(data)

    def _new(self, offset: int) -> int:
        for start, end, place in self._moved:
            if start <= offset <= end:
                return offset - start + place
        raise ValueError(f"byte {offset} is in no part that is loaded")
