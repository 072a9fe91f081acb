# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the node program: what it imports of the module_utils, in a zip with a shebang, the same bytes every time.

Names are sorted, times and rights are fixed. The bytecode beside the sources is that of the Python
that packs: the module node_program packs anew on the node, with the Python that will run it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import marshal
import os
import re
import struct
import zipfile
from typing import Dict

PACKAGE = "ansible_collections/ibready/cluster/plugins/module_utils"
ANY_PYTHON = "/usr/bin/env python3"
PROGRAM = "_agent/program.py"
# `ibready parse NAME` imports them by name (_parse/names.py).
BY_NAME = "_parse"
_MAIN = f"""\
import sys

from {PACKAGE.replace("/", ".")}._agent.program import main

sys.exit(main())
"""

Files = Dict[str, bytes]
# A tenth of the time that Python's own parser takes; what is in comments as well costs a look for a file.
_FROM = re.compile(r"^ *from (\.+)([\w.]*) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)


class PackError(ValueError):
    """An archive that cannot be taken for the program; the message says why."""


def closure(root: str, left: list[str], base: str) -> Files:
    """These files of ``root`` and all that they import of it, by their names in an archive below ``base``.

    Every folder has an ``__init__.py`` there: zip files know no namespace packages before Python 3.13.
    """
    found: Files = {}
    left = list(left)
    while left:
        inside = left.pop()
        path = os.path.join(root, inside)
        if inside in found or not os.path.isfile(path):
            continue
        with open(path, "rb") as stream:
            found[inside] = stream.read()
        left += _imported(inside, found[inside])
        folders = inside.split("/")[:-1]
        left += ["/".join([*folders[:depth], "__init__.py"]) for depth in range(1, len(folders) + 1)]
    packed = {f"{base}/{inside}": text for inside, text in found.items()}
    for name in list(packed):
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            packed.setdefault("/".join([*parts[:depth], "__init__.py"]), b"")
    return packed


def sources(module_utils: str) -> Files:
    """What is packed of this directory, by its name in the archive: the program and all that it imports."""
    by_name = (f"{BY_NAME}/{name}" for name in sorted(os.listdir(os.path.join(module_utils, BY_NAME))))
    return {**closure(module_utils, [PROGRAM, *by_name], PACKAGE), "__main__.py": _MAIN.encode()}


def _imported(inside: str, text: bytes) -> list[str]:
    """The files that this file may import of ours, by their names in the directory; not all of them exist."""
    found = []
    for dots, module, several, single in _FROM.findall(text.decode()):
        base = [*inside.split("/")[: -len(dots)], *(module.split(".") if module else [])]
        names = re.findall(r"\w+", several or single)
        found += ["/".join(base) + ".py", *("/".join([*base, name]) + ".py" for name in names)]
    return found


def digest(files: Files) -> str:
    """One sha256 over the names and contents, in hex."""
    seen = hashlib.sha256()
    for name in sorted(files):
        for part in (name.encode(), files[name]):
            seen.update(struct.pack("<Q", len(part)) + part)
    return seen.hexdigest()


def bytecode(files: Files) -> Files:
    """Each module compiled by this Python, which spares it most of the start-up time.

    Another Python sees that it is not its own and compiles the source beside it.
    """
    # PEP 552: never compared with the source, for nobody can change one without the other here.
    header = importlib.util.MAGIC_NUMBER + struct.pack("<L", 0b01)
    return {
        # Marshal's version 2 has no references, which depend on what else the process has done.
        f"{name}c": header
        + importlib.util.source_hash(text)
        + marshal.dumps(compile(text, name, "exec", dont_inherit=True, optimize=0), 2)
        for name, text in files.items()
        if name != "__main__.py"
    }


def label(files: Files, python: str) -> str:
    """What the archive's comment says: which sources, for which Python."""
    return f"ibready sources:{digest(files)} magic:{importlib.util.MAGIC_NUMBER.hex()} for:{python}"


def program(files: Files, python: str = ANY_PYTHON, *, compiled: bool = True) -> bytes:
    """The whole program that ``python`` (a shebang's words) runs."""
    stream = io.BytesIO()
    stream.write(f"#!{python}\n".encode())
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted({**files, **(bytecode(files) if compiled else {})}.items()):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
        archive.comment = label(files, python).encode()
    return stream.getvalue()


def read_sources(path: str) -> Files:
    """The sources that an archive holds; raises PackError or OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name[-3:] == ".py"}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as exc:
        raise PackError(f"{path} is no whole archive: {exc}") from exc


def read_label(path: str) -> str:
    """The comment of an archive, "" where there is none to read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment.decode("utf-8", errors="replace")
    except (OSError, zipfile.BadZipFile):
        return ""
