# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile what Ansible sent once, not twice on every call.

A module and all that it imports reach the node as one zip of sources. Python's own import from a
zip compiles each file twice and keeps nothing, which costs a node more than all that ibverify looks
at. ``use`` imports from that zip without the second time, and root keeps what came out below /run,
where nobody else can write and no reboot leaves it.

The zip's own checksums tell a changed source from the one that was compiled. They need not
withstand malice: who sends the zip has root run it anyway. What is kept begins with its SHA256:
damaged code can end the interpreter, so nothing of it is looked at before that.

Whatever cannot be kept or read back is compiled again: nothing here is a reason to fail.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import io
import marshal
import os
import stat
import sys
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Dict, Sequence, Tuple

FOLDER = "/run/ibready-code"
_OURS = "ansible_collections.ibready."
# Names of sources, each with its checksum and size, and the code as marshal writes it.
_Codes = Dict[str, Tuple[int, int, bytes]]
_SUM = hashlib.sha256().digest_size


class Finder:
    """Finds and loads the modules of ours in one zip."""

    def __init__(self, archive: str, folder: str) -> None:
        self._archive = archive
        import zipfile

        # Held in memory: a process that goes on alone may import when Ansible has taken it away.
        with open(archive, "rb") as stream:
            self._zip = zipfile.ZipFile(io.BytesIO(stream.read()))
        self._entries = {info.filename: info for info in self._zip.infolist()}
        self._folder = folder
        self._codes = _read(folder)
        self._new: _Codes = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's place in the zip; None for what is not ours or not in it."""
        if not name.startswith(_OURS):
            return None
        stem = name.replace(".", "/")
        for inside, package in ((f"{stem}.py", False), (f"{stem}/__init__.py", True)):
            if inside in self._entries:
                place = f"{self._archive}/{inside}"
                spec = ModuleSpec(name, self, origin=place, is_package=package)  # type: ignore[arg-type]
                spec.has_location = True
                spec.loader_state = inside
                if package:
                    spec.submodule_search_locations = [os.path.dirname(place)]
                return spec
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """None: Python makes it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is None:
            raise AssertionError("an imported module has a spec")
        exec(self._code(str(spec.loader_state)), module.__dict__)

    def get_source(self, name: str) -> str | None:
        """The text of a module, for tracebacks and for what is run elsewhere."""
        spec = self.find_spec(name)
        return None if spec is None else self._zip.read(str(spec.loader_state)).decode()

    def _code(self, inside: str) -> CodeType:
        entry = self._entries[inside]
        # What another release of ibready has kept may look otherwise.
        with contextlib.suppress(EOFError, ValueError, TypeError, KeyError):
            checksum, size, kept = self._codes[inside]
            if (checksum, size) == (entry.CRC, entry.file_size):
                known = marshal.loads(kept)
                if isinstance(known, CodeType):
                    return known
        # Named by its place in the zip: the zip itself lies elsewhere each time.
        code = compile(self._zip.read(inside), inside, "exec", dont_inherit=True)
        self._new[inside] = (entry.CRC, entry.file_size, marshal.dumps(code))
        return code

    def keep(self) -> None:
        """Write what was compiled now beside what was there."""
        if self._new:
            with contextlib.suppress(OSError):
                _write(self._folder, {**self._codes, **self._new})


def use(folder: str = FOLDER) -> None:
    """Import what follows of ours by Finder, where it comes from a zip as Ansible sends it."""
    archive = getattr(getattr(__spec__, "loader", None), "archive", None)
    if archive is None or any(isinstance(protocol, Finder) for protocol in sys.meta_path):
        return
    import zipfile  # Not before: the engine's own finder has no archive of that kind.

    with contextlib.suppress(OSError, zipfile.BadZipFile):
        finder = Finder(archive, folder)
        sys.meta_path.insert(0, finder)
        atexit.register(finder.keep)


def _name() -> str:
    """One file for each Python, for no other reads its code; "sum": it begins with one."""
    import importlib.util

    tag = f"{sys.implementation.cache_tag}-{importlib.util.MAGIC_NUMBER.hex()}"
    return f"{tag}-{sys.flags.optimize}-sum"


def _ours(told: os.stat_result) -> bool:
    """Whether nobody but us could have written it."""
    return told.st_uid == os.geteuid() and not told.st_mode & 0o077


def _open_folder(folder: str) -> int:
    """A handle of the folder; raises OSError where it is not ours alone."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not _ours(os.fstat(handle)):
        os.close(handle)
        raise PermissionError(f"{folder} is not ours alone")
    return handle


def _read(folder: str) -> _Codes:
    """What is kept; a file that is not as it was written is thrown away."""
    try:
        inside = _open_folder(folder)
        try:
            # Anything but a file could keep the reader waiting.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(_name(), flags, dir_fd=inside), "rb") as stream:
                reported = os.fstat(stream.fileno())
                if not (_ours(reported) and stat.S_ISREG(reported.st_mode)):
                    return {}
                written, body = stream.read(_SUM), stream.read()
            if hashlib.sha256(body).digest() != written:
                os.unlink(_name(), dir_fd=inside)
                return {}
        finally:
            os.close(inside)
        kept: Any = marshal.loads(body)
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(folder: str, codes: _Codes) -> None:
    """Whole or not at all."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    os.close(_open_folder(folder))
    body = marshal.dumps(codes)
    import tempfile

    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as stream:
        try:
            stream.write(hashlib.sha256(body).digest() + body)
            stream.flush()
            os.replace(stream.name, os.path.join(folder, _name()))
        except OSError:
            os.unlink(stream.name)
            raise
