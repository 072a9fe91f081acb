# SPDX-License-Identifier: GPL-3.0-or-later
"""A library with the parts that NCCL's has, made up, and what a process sees of such a file."""

from __future__ import annotations

from pathlib import Path

from sandbox.vendor.nccl.elf import ALLOC, HEADER, LOAD, NOBITS, SECTION, SEGMENT, layout
from sandbox.vendor.nccl.slim import GPU_CODE

PAGE = 4096
_PROGBITS, _STRTAB, _WRITE, _STACK, _TLS = 1, 3, 1, 0x6474E551, 7
# Name, what is in it, flags; in the order and at the odd places that a linker gives them.
PARTS = (
    (".rodata", b"\0NCCL_DEBUG\0NCCL version 2.0.1+cuda13.0\0" + b"r" * 5000, ALLOC),
    ("__nv_relfatbin", b"G" * (3 * PAGE + 77), ALLOC),
    ("__nv_module_id", b"m" * 900, ALLOC),
    (".nv_fatbin", b"g" * (5 * PAGE + 5), ALLOC),
    (".eh_frame", b"e" * 300, ALLOC),
    (".data", b"d" * 700, ALLOC | _WRITE),
    (".bss", b"", ALLOC | _WRITE),
    (".debug_info", b"D" * 9000, 0),
)
_BSS = 5000
# How much later the second segment is loaded than it stands in the file.
_GAP = 0x200000
_SEGMENTS = 4


def made(parts: tuple[tuple[str, bytes, int], ...] = PARTS) -> bytes:
    """The file: what may only be read in one segment, the rest in another, then tables."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _data, _flags in parts) + b".shstrtab\0"
    out = bytearray(HEADER.size + _SEGMENTS * SEGMENT.size)
    sections = [(0,) * 10]
    begun = 0
    for name, data, flags in parts:
        if flags & _WRITE and not begun:
            begun = len(out) + -len(out) % PAGE
            read_only = len(out)
            out += bytes(begun - len(out))
        address = (len(out) + (_GAP if flags & _WRITE else 0)) if flags else 0
        kind, size = (_PROGBITS, len(data)) if data else (NOBITS, _BSS)
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        sections.append((at, kind, flags, address, len(out), size, 0, 0, 1, 0))
        out += data
        if flags & _WRITE:
            loaded = len(out)
    at = names.index(b"\0.shstrtab") + 1
    sections.append((at, _STRTAB, 0, 0, len(out), len(names), 0, 0, 1, 0))
    out += names
    table = len(out)
    out += b"".join(SECTION.pack(*one) for one in sections)
    size = loaded - begun
    segments = (
        (LOAD, 5, 0, 0, 0, read_only, read_only, _GAP),
        (LOAD, 6, begun, begun + _GAP, begun + _GAP, size, size + _BSS, _GAP),
        (_TLS, 4, begun, begun + _GAP, begun + _GAP, 8, 8, 8),
        (_STACK, 6, 0, 0, 0, 0, 0, 16),
    )
    for at, one in enumerate(segments):
        SEGMENT.pack_into(out, HEADER.size + at * SEGMENT.size, *one)
    HEADER.pack_into(
        out,
        0,
        b"\x7fELF\x02\x01\x01",
        *(3, 62, 1, 0, HEADER.size, table, 0, HEADER.size, SEGMENT.size, len(segments)),
        *(SECTION.size, len(sections), len(sections) - 1),
    )
    return bytes(out)


def image(data: bytes) -> bytearray:
    """What a process has of a library once it is loaded, from its first address on."""
    loads = [one for one in layout(data).segments if one.kind == LOAD]
    memory = bytearray(max(one.address + one.memory for one in loads))
    for one in loads:
        assert (one.offset - one.address) % PAGE == 0
        memory[one.address : one.address + one.size] = data[one.offset : one.offset + one.size]
    return memory


def without_gpu_code(data: bytes) -> bytearray:
    """The same, with zeros where a small library has them; and in the head, which tells sizes."""
    memory, reported = image(data), layout(data)
    memory[: HEADER.size] = bytes(HEADER.size)
    for one in reported.sections:
        if reported.name(one) in GPU_CODE:
            memory[one.address : one.address + one.size] = bytes(one.size)
    return memory


def written(folder: Path, data: bytes) -> Path:
    path = folder / "libnccl.so.2"
    path.write_bytes(data)
    return path
