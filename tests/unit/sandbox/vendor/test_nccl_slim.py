# SPDX-License-Identifier: GPL-3.0-or-later
"""A library made small is the same for a process; tests/nccl asks NVIDIA's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.vendor.nccl import slim
from sandbox.vendor.nccl.elf import ALLOC, LOAD, NOBITS, SEGMENT, layout
from tests.unit.sandbox.vendor.nccl_library import PAGE, PARTS, image, made, without_gpu_code, written


@pytest.fixture
def whole() -> bytes:
    return made()


@pytest.fixture
def small(whole: bytes, tmp_path: Path) -> bytes:
    return slim.slim(written(tmp_path, whole))


def test_a_process_sees_the_same_but_for_the_gpu_code(whole: bytes, small: bytes) -> None:
    assert without_gpu_code(small) == without_gpu_code(whole)
    assert b"GGG" in image(whole)
    assert b"GGG" not in image(small)


def test_the_gpu_code_and_the_words_for_debuggers_take_no_room(whole: bytes, small: bytes) -> None:
    assert len(whole) - len(small) > 7 * PAGE
    assert b"DDDD" not in small


def test_sections_lead_to_what_they_led_to(whole: bytes, small: bytes) -> None:
    old, new = layout(whole), layout(small)
    loaded = [one for one in old.sections if one.flags & ALLOC]
    assert [new.name(one) for one in new.sections[1:]] == [*map(old.name, loaded), ".shstrtab"]
    for before, after in zip(old.sections[1:], new.sections[1:-1], strict=False):
        assert after[:1] + after[2:4] + after[5:] == before[:1] + before[2:4] + before[5:]
        if old.name(before) in slim.GPU_CODE:
            assert after.kind == NOBITS
        elif before.kind != NOBITS:
            end = after.offset + after.size
            assert small[after.offset : end] == whole[before.offset :][: before.size]


def test_the_other_segments_lead_to_what_they_led_to(whole: bytes, small: bytes) -> None:
    old = [one for one in layout(whole).segments if one.kind != LOAD]
    new = [one for one in layout(small).segments if one.kind != LOAD]
    for before, after in zip(old, new, strict=True):
        assert after._replace(offset=0) == before._replace(offset=0)
        assert small[after.offset :][: after.size] == whole[before.offset :][: before.size]


def test_the_tables_are_on_no_page_that_is_loaded(small: bytes) -> None:
    reported = layout(small)
    last = max(one.offset + one.size for one in reported.segments if one.kind == LOAD)
    assert reported.header.segments_at >= last + -last % PAGE
    assert reported.header.segments * SEGMENT.size <= len(small) - reported.header.segments_at


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty file"),
        (b"GROUP ( libnccl.so.2 )", "not a 64-bit little-endian ELF file"),
        (made()[:200], "unpack_from requires"),
        (made(PARTS[:1] + PARTS[5:]), "no section __nv_relfatbin or .nv_fatbin"),
    ],
)
def test_what_is_no_such_library_is_refused(data: bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=f"cannot be made small: .*{why}.*fetched again"):
        slim.slim(written(tmp_path, data))


def test_the_library_tells_its_toolkit_and_must_be_of_the_release(small: bytes) -> None:
    assert slim.toolkit(small, "2.0.1") == "13.0"
    with pytest.raises(SandboxError, match=r"wheel of NCCL 2\.0\.2 holds NCCL 2\.0\.1"):
        slim.toolkit(small, "2.0.2")
    with pytest.raises(SandboxError, match="holds no NCCL"):
        slim.toolkit(b"", "2.0.2")
