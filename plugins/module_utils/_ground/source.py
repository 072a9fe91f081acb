# SPDX-License-Identifier: GPL-3.0-or-later
"""Run modules of ours as a program of its own: by their source, whatever archive they lie in."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

from .command import Unavailable

_OURS = re.compile(r"^from \.[\w.]* import (?:\([^)]*\)|.*)\n", re.MULTILINE)
_FUTURE = "from __future__ import annotations\n"
_PROGRAM = """\
import sys, types
for name, text in {sources!r}:
    module = sys.modules[name] = types.ModuleType(name)
    module.__package__ = name.rpartition(".")[0]
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""


def argv_of(*modules: ModuleType) -> list[str]:
    """How this Python runs ``main()`` of the last module; the others are what it imports of ours.

    Isolated: neither the environment nor the working directory decide what else is imported.
    """
    if not sys.executable:
        raise Unavailable(modules[-1].__name__, "this Python does not know its own program")
    sources = [(module.__name__, source_of(module)) for module in modules]
    return [sys.executable, "-I", "-S", "-c", _PROGRAM.format(sources=sources)]


def joined(*modules: ModuleType) -> str:
    """The text of one program that stands alone: the last module, behind what it imports of ours."""
    about = "".join(f"# {line}".rstrip() + "\n" for line in (modules[-1].__doc__ or "").splitlines())
    first, *others = (_OURS.sub("", source_of(module)) for module in modules)
    return "\n\n".join([about + first, *(text.replace(_FUTURE, "", 1) for text in others)])


def source_of(module: ModuleType) -> str:
    """The source, from its folder or from Ansible's or our own archive."""
    loader: Any = module.__spec__.loader if module.__spec__ is not None else None
    text = loader.get_source(module.__name__) if hasattr(loader, "get_source") else None
    if not isinstance(text, str):
        raise Unavailable(module.__name__, "its source is not at hand")
    return text
