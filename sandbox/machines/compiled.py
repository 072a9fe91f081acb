# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the machines' image: what Python has compiled out of an archive once, it keeps.

Ansible sends a module with its libraries as an archive of sources, and every task compiles them
anew. Of ours, a node keeps what came out (_ground/compiled.py), but Ansible's own libraries are
compiled before any code of ours runs. That takes a processor a twentieth of a second, and an
emulated one nearly half of a small task. Kept is what the compiler made of these very bytes, until
the next boot, behind a sum of its own: damaged code can end the interpreter. Where nothing can be
kept (another user than root), it is compiled as usual. Needs the standard library of the machines'
Python alone.
"""

from __future__ import annotations

import _imp
import contextlib
import marshal
import os
import zipimport
from types import CodeType
from typing import Any, cast

# A directory of root's own (setup.sh): nobody else may say what root runs.
HOME = "/run/ibready-compiled"
# As importlib does, whose name for the code is the place where it was found.
_KEY = 0x69627265616479
_SUM = 8
_SEEN = (OSError, EOFError, ValueError, TypeError)
_zipimport: Any = zipimport
_imp_: Any = _imp
_compile = _zipimport._compile_source


def install() -> None:
    """Have zipimport compile by way of what was kept."""
    _zipimport._compile_source = compiled


def compiled(place: str, source: bytes) -> CodeType:
    """Return the code of a source that was found at a place; SyntaxError as compile() has it."""
    kept = os.path.join(HOME, f"{_imp_.source_hash(_KEY, source).hex()}-{len(source)}")
    try:
        with open(os.open(kept, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            written, body = file.read(_SUM), file.read()
        if _sum(body) != written:
            raise ValueError(f"{kept} is not as it was written")
        code = cast(CodeType, marshal.loads(body))
        _imp_._fix_co_filename(code, place)
    except _SEEN:
        code = _compile(place, source)
        with contextlib.suppress(*_SEEN):
            _keep(kept, code)
    return code


def _keep(path: str, code: CodeType) -> None:
    """Put it there whole: other tasks may be looking."""
    fresh = f"{path}.{os.getpid()}"
    body = marshal.dumps(code)
    try:
        with open(fresh, "xb") as file:
            file.write(_sum(body) + body)
        os.replace(fresh, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def _sum(body: bytes) -> bytes:
    return cast(bytes, _imp_.source_hash(_KEY, body))
