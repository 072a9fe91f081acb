# SPDX-License-Identifier: GPL-3.0-or-later
"""The library's file, on files that are made up byte by byte; tests/nccl reads the real ones."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.library import CACHE, DEFAULT, GIVEN, Found
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable
from tests.gauntlet.tree import Tree

X86, ARM = 62, 183
TEXTS = (
    b"\0NCCL_IB_HCA\0noise\0NCCL_DEBUG\0CUDA_LAUNCH_BLOCKING\0"
    b"NCCL version 2.26.2+cuda12.2\0not initialized via NCCL_CONFIG_INITIALIZER\0"
    b"wc->wr_id != NCCL_IB_RECV_WR_ID_DUMMY\0MY_CUDA_LAUNCH_BLOCKING\0"
)
NAMES = {"NCCL_IB_HCA", "NCCL_DEBUG", "CUDA_LAUNCH_BLOCKING"}
DEBUG = b"\0NCCL_GRAPH\0"


def elf(constants: bytes, debug: bytes = DEBUG, machine: int = X86, *, sections: bool = True) -> bytes:
    """A library with its constants in .rodata, and a text for debuggers in a section of its own."""
    names = b"\0.rodata\0.debug_str\0.shstrtab\0"
    at = 64 + 56
    body = constants + debug + names
    table = b""
    for name, kind, flags, offset, size in (
        (0, 0, 0, 0, 0),
        (1, 1, 2, at, len(constants)),
        (9, 1, 0x30, at + len(constants), len(debug)),
        (20, 3, 0, at + len(constants) + len(debug), len(names)),
    ):
        table += struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, offset, size, 0, 0, 1, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 4, at, 0, 0, len(constants), len(constants), 4096)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        *(3, machine, 1, 0, 64, at + len(body) if sections else 0, 0, 64, 56, 1),
        *((64, 4, 3) if sections else (0, 0, 0)),
    )
    return header + segment + body + (table if sections else b"")


def written(folder: Path, data: bytes) -> str:
    path = folder / "libnccl.so.2"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("sections", [True, False])
def test_the_constants_tell_names_version_and_toolkit(tmp_path: Path, sections: bool) -> None:
    path = written(tmp_path, elf(TEXTS, sections=sections))
    reported = library.inspect(path)
    assert reported.names == NAMES
    assert (reported.version, reported.cuda, reported.machine) == ("2.26.2", "12.2", "x86_64")
    assert library.inspect(path).names == NAMES


def test_the_words_for_a_debugger_are_no_variables(tmp_path: Path) -> None:
    assert "NCCL_GRAPH" not in library.inspect(written(tmp_path, elf(TEXTS))).names


def test_other_machines_are_named(tmp_path: Path) -> None:
    assert library.inspect(written(tmp_path, elf(TEXTS, machine=ARM))).machine == "aarch64"
    assert library.inspect(written(tmp_path, elf(TEXTS, machine=21))).machine == "elf 21"


def test_a_file_without_a_version_says_so(tmp_path: Path) -> None:
    reported = library.inspect(written(tmp_path, elf(b"\0NCCL_DEBUG\0NCCL version %d.%d\0")))
    assert (reported.version, reported.cuda) == ("", "")


def test_a_link_of_ones_own_is_followed(tmp_path: Path) -> None:
    real = tmp_path / "libnccl.so.2.26.2"
    real.write_bytes(elf(TEXTS))
    link = tmp_path / "libnccl.so.2"
    link.symlink_to(real.name)
    assert library.inspect(str(link)).real == str(real)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not an ELF file"),
        (b"GROUP ( libnccl.so.2 )", "not an ELF file"),
        (b"\x7fELF\x01\x01\x01" + bytes(200), "not a 64-bit little-endian ELF file"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "not a shared library"),
        (elf(b"\0no such name\0"), "no NCCL library"),
        (elf(TEXTS)[:-10], "cut off"),
        (elf(TEXTS, sections=False)[:150], "cut off"),
    ],
)
def test_what_is_no_library_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unavailable, match=why):
        library.inspect(written(tmp_path, data))


def test_what_cannot_be_read_is_refused_without_waiting(tmp_path: Path) -> None:
    fifo = tmp_path / "libnccl.so.2"
    os.mkfifo(fifo)
    with pytest.raises(Unavailable, match="not a regular file"):
        library.inspect(str(fifo))
    with pytest.raises(Unavailable, match="no such file"):
        library.inspect(str(tmp_path / "libnccl.so.3"))
    with pytest.raises(Unavailable, match="not a regular file"):
        library.inspect(str(tmp_path))


@pytest.mark.parametrize("piece", [1, 7, 64, 1000])
def test_a_name_is_whole_wherever_a_piece_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(library, "_PIECE", piece)
    reported = library.inspect(written(tmp_path, elf(TEXTS)))
    assert reported.names == NAMES
    assert reported.version == "2.26.2"


@settings(max_examples=200, deadline=None, database=None)
@given(
    places=st.lists(st.tuples(st.integers(0, 700), st.integers(0, 255)), max_size=8),
    keep=st.integers(0, 800),
)
def test_any_bytes_are_a_library_or_refused(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int]], keep: int
) -> None:
    data = bytearray(elf(TEXTS))
    for at, value in places:
        data[at % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data[:keep])
    try:
        reported = library.inspect(str(path))
    except Unavailable:
        return
    assert reported.names


def test_a_file_that_holds_nothing_but_messages_about_variables_is_no_library(
    tmp_path: Path,
) -> None:
    texts = b"".join(b"\0%b\0" % one.encode() for one in sorted(library.NOT_READ))
    with pytest.raises(Unavailable, match="names no NCCL variable"):
        library.inspect(written(tmp_path, elf(texts)))


HEAD = "{} libs found in cache `/etc/ld.so.cache'\n"
LINE = "\tlibnccl.so.2 (libc6,{}) => {}\n"
DEBIAN = "/usr/lib/x86_64-linux-gnu/libnccl.so.2"


def host(*cached: str, files: tuple[str, ...] = (), flag: str = "x86-64") -> Tree:
    tree = Tree()
    text = HEAD.format(len(cached)) + "".join(LINE.format(flag, one) for one in cached)
    tree.command("ldconfig", text)
    for path in files:
        tree.file(path, "library")
    return tree


def test_the_cache_goes_ahead_of_the_linkers_own_folders() -> None:
    there = ("/opt/nccl/lib/libnccl.so.2", DEBIAN)
    found = library.find(host(there[0], files=there), machine="x86_64")
    assert found.value == (Found(there[0], CACHE), Found(DEBIAN, DEFAULT))


def test_a_given_folder_goes_first() -> None:
    mine = "/home/a/lib/libnccl.so.2"
    found = library.find(host(DEBIAN, files=(mine, DEBIAN)), ["/home/a/lib/", ""], "x86_64")
    assert found.value == (Found(mine, GIVEN), Found(DEBIAN, CACHE))


def test_a_library_that_is_in_the_cache_and_gone_is_passed_over() -> None:
    found = library.find(host("/opt/gone/libnccl.so.2", files=(DEBIAN,)), machine="x86_64")
    assert found.value == (Found(DEBIAN, DEFAULT),)


def test_a_library_for_another_machine_is_passed_over() -> None:
    other = "/usr/lib/i386-linux-gnu/libnccl.so.2"
    tree = host(other, files=(other,), flag="i386")
    assert library.find(tree, machine="x86_64").missing


def test_one_file_by_two_names_of_its_folder_is_one() -> None:
    tree = host("/lib/x86_64-linux-gnu/libnccl.so.2", files=(DEBIAN,))
    tree.symlink("/lib", "usr/lib")
    found = library.find(tree, machine="x86_64")
    assert found.value == (Found("/lib/x86_64-linux-gnu/libnccl.so.2", CACHE),)


def test_a_host_without_it_is_told_from_one_that_could_not_be_looked_at() -> None:
    assert library.find(host(), machine="x86_64").missing
    unknown = library.find(Tree(), machine="x86_64")
    assert (unknown.known, unknown.missing) == (False, False)
    assert "ldconfig" in unknown.why
    tree = host(DEBIAN, files=(DEBIAN,))
    tree.broken[DEBIAN] = "permission denied"
    refused = library.find(tree, machine="x86_64")
    assert (refused.known, refused.missing) == (False, False)
    assert "permission denied" in refused.why
