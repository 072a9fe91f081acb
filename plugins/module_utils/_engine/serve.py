# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's first part: imports what follows from its archive, and lets the module answer.

The bootstrap runs it and hands over what it has read.
"""

from __future__ import annotations

import atexit
import gc
import json
import marshal
import os
import sys
import zlib
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Sequence

_PLUGINS = "ansible_collections.ibready.cluster.plugins"
_OWN = f"{_PLUGINS}.module_utils._engine"


class Finder:
    """Finds and loads what the archive holds.

    ``codes``: by the names of all sources, the code as marshal writes it; empty where a source was
    not compiled yet.
    """

    def __init__(self, archive: bytes, codes: dict[str, bytes]) -> None:
        self._archive = archive
        self._texts: dict[str, str] = {}
        self.codes = codes or dict.fromkeys(self.texts(), b"")
        self.new = not codes
        self._depth = 0

    def importing(self) -> bool:
        """Whether a module of the archive is on its way in."""
        return self._depth > 0

    def texts(self) -> dict[str, str]:
        """The sources, unpacked when the first of them is needed."""
        if not self._texts:
            self._texts = json.loads(zlib.decompress(self._archive))
        return self._texts

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's place in the archive; None for what is not in it."""
        stem = name.replace(".", "/")
        for inside, package in ((f"{stem}.py", False), (f"{stem}/__init__.py", True)):
            if inside in self.codes:
                spec = ModuleSpec(name, self, origin=inside, is_package=package)  # type: ignore[arg-type]
                spec.has_location = True
                # Without a word Python reckons where its own compiled file would lie.
                spec.cached = inside
                if package:
                    spec.submodule_search_locations = [stem]
                return spec
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """None: Python makes it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is None:
            raise AssertionError("an imported module has a spec")
        self._depth += 1
        try:
            exec(self.code(str(spec.origin)), module.__dict__)
        finally:
            self._depth -= 1

    def get_source(self, name: str) -> str | None:
        """The text of a module, for tracebacks and for what is run elsewhere."""
        spec = self.find_spec(name)
        if spec is None:
            return None
        kept = f"{spec.origin} as text"
        if kept not in self.codes:
            self.codes[kept] = self.texts()[str(spec.origin)].encode()
            self.new = True
        return self.codes[kept].decode()

    def code(self, inside: str) -> CodeType:
        """The compiled source; compiled now where that was not done before."""
        if self.codes[inside]:
            known: CodeType = marshal.loads(self.codes[inside])
            return known
        code = compile(self.texts()[inside], inside, "exec", dont_inherit=True)
        self.codes[inside] = marshal.dumps(code)
        self.new = True
        return code


def serve(digest: str, archive: bytes, codes: dict[str, bytes], question: str, place: str, carried: bool) -> None:
    """Answer the question, keep what was not kept yet, and end the process."""
    # A visit is short: what holds itself in circles goes with the process.
    gc.disable()
    finder = Finder(archive, codes)
    if finder.new:
        finder.code(f"{_OWN.replace('.', '/')}/serve.py")
    sys.meta_path.insert(0, finder)
    asked = json.loads(question)
    __import__(f"{_OWN}.answer")
    known, module = len(finder.codes), f"{_PLUGINS}.modules.{asked['module']}"
    status = sys.modules[f"{_OWN}.answer"].answer(module, asked["args"], finder.codes, finder.importing)
    if finder.new or carried or len(finder.codes) > known:
        __import__(f"{_OWN}.keep")
        sys.modules[f"{_OWN}.keep"].keep(place, digest, archive, finder.codes)
    # What Python takes apart at its end, the kernel takes back faster.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
