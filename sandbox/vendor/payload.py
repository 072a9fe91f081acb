# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a stand-in package brings: its tree in ``payload/``, with the values filled in."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.vendor.catalog import HERE, Package
from sandbox.vendor.nccl import slim, wheel

TREES = HERE / "payload"
PROGRAMS = HERE / "programs"
SCRIPTS = ("preinst", "postinst", "prerm", "postrm")
_TOKEN = re.compile(r"@([A-Z][A-Z0-9_]*)@")
# A file of this ending is a symbolic link to what it holds. A checkout with links that lead nowhere
# could not be copied.
LINK = ".link"
# Debian's folder also in the EL stand-in: it has Debian's userland.
LIBRARIES = "usr/lib/x86_64-linux-gnu"
SAYS = """\
SIMULATED: {name} {version}

This package was made by ibready's sandbox. It has the name, version and dependencies of the
vendor's package, {rest}
"""
PRETENDS = "and nothing else of it: whatever it brings only pretends."
NCCL = """\
and of its files one: libnccl.so.{nccl}.

That is NVIDIA's own library, from a Python wheel of the same release, built with CUDA {cuda}. It is
not byte for byte: the code that only a GPU can run was taken out (it reads as zeros), and so were
debugging information and the symbol table. What a processor runs is NVIDIA's, unchanged. This node
has no GPU and no verbs, so the library finds no InfiniBand device and would use sockets."""


@dataclass(frozen=True)
class File:
    """One file or symbolic link (``link`` is where it points) of a package."""

    path: str
    data: bytes = b""
    mode: int = 0o644
    link: str = ""


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace @NAME@ by the value of that name, in lower case; leave what names no value."""
    return _TOKEN.sub(lambda found: values.get(found[1].lower(), found[0]), text)


def _content(data: bytes, values: Mapping[str, str]) -> bytes:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return data if "\0" in text else fill(text, values).encode()


def files(package: Package, trees: Path = TREES) -> list[File]:
    """Return a package's own files, sorted; one without a tree brings only its documentation."""
    found = _nccl(package) if package.nccl else [_says(package, PRETENDS)]
    values = {**package.values, "package": package.name}
    for name, program in package.programs.items():
        found.append(File(name, _content((PROGRAMS / program).read_bytes(), values), 0o755))
    tree = trees / package.payload if package.payload else None
    for path in sorted(tree.rglob("*")) if tree is not None and tree.is_dir() else ():
        name = fill(str(path.relative_to(trees / package.payload)), values)
        if path.suffix == LINK and path.is_file():
            found.append(File(name.removesuffix(LINK), link=fill(path.read_text().strip(), values)))
        elif path.is_file() and "__pycache__" not in path.parts:
            # Only the owner's execute bit: the rest depends on who checked the files out.
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            found.append(File(name, _content(path.read_bytes(), values), mode))
    return sorted(found, key=lambda file: file.path)


def _says(package: Package, rest: str) -> File:
    text = SAYS.format(name=package.name, version=package.version, rest=rest)
    return File(f"usr/share/doc/{package.name}/SIMULATED", text.encode())


def _nccl(package: Package) -> list[File]:
    name = f"libnccl.so.{package.nccl}"
    library = slim.slim(wheel.library(package.nccl))
    cuda = slim.toolkit(library, package.nccl)
    return [
        File(f"{LIBRARIES}/{name}", library),
        File(f"{LIBRARIES}/libnccl.so.2", link=name),
        _says(package, NCCL.format(nccl=package.nccl, cuda=cuda)),
    ]


def description(package: Package) -> str:
    """Return in one line what is in a package."""
    if package.nccl:
        return "NVIDIA's own library without its GPU code, packed by ibready's sandbox."
    return "A stand-in made by ibready's sandbox."


def scripts(package: Package, trees: Path = TREES) -> dict[str, str]:
    """Return a package's maintainer scripts by name, as dpkg calls them."""
    folder = trees / f"{package.payload}.scripts"
    values = {**package.values, "package": package.name}
    return {
        name: fill((folder / name).read_text(), values)
        for name in SCRIPTS
        if package.payload and (folder / name).is_file()
    }


def pack(entries: list[File], prefix: str = "./") -> bytes:
    """Return a tar of the files and the directories above them: root's, of no particular time."""
    buffer = io.BytesIO()
    made: set[str] = set()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for file in entries:
            for parent in reversed(Path(file.path).parents):
                folder = f"{prefix}{parent}" if str(parent) != "." else prefix
                if folder not in made and folder:
                    made.add(folder)
                    entry = tarfile.TarInfo(folder)
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    entry.uname = entry.gname = "root"
                    tar.addfile(entry)
            entry = tarfile.TarInfo(prefix + file.path)
            entry.uname = entry.gname = "root"
            if file.link:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, file.link, 0o777
                tar.addfile(entry)
            else:
                entry.size, entry.mode = len(file.data), file.mode
                tar.addfile(entry, io.BytesIO(file.data))
    return buffer.getvalue()
