# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse depmod's /lib/modules/KERNEL/modules.dep: which file modprobe would load."""

from __future__ import annotations

import posixpath
import re
from typing import Mapping

from .._ground.text import ParseError

_TOOL = "modules_dep"
# Debian renames the files of NVIDIA's modules, and has modprobe.d load them by the modules' own names.
_RENAMED = re.compile(r"nvidia_(?:current_open|current|tesla_\d{3}|tesla)(_[a-z]{1,20})?")


def parse(text: str) -> dict[str, str]:
    """The file of every module, relative to /lib/modules/KERNEL, by name with underscores."""
    if text.strip() and not text.endswith("\n"):
        line = text[-120:].split("\n")[-1]
        raise ParseError(_TOOL, text.count("\n") + 1, line, "the file ends here, cut off")
    found = {}
    for line_no, line in enumerate(text.split("\n"), 1):
        path, colon, _needs = line.partition(":")
        if not line.strip():
            continue
        stem, ko, _packed = posixpath.basename(path).partition(".ko")
        if not colon or not ko:
            raise ParseError(_TOOL, line_no, line, "not 'PATH.ko: ...'")
        found[stem.replace("-", "_")] = path.strip()
    if not found:
        raise ParseError(_TOOL, 0, "", "no module in it")
    return found


def file_of(files: Mapping[str, str], module: str) -> str:
    """The file of a module, "" where there is none; also one that Debian renamed (nvidia_current_open of nvidia)."""
    if module in files:
        return files[module]
    for name in sorted(files):
        renamed = _RENAMED.fullmatch(name)
        if renamed is not None and f"nvidia{renamed.group(1) or ''}" == module:
            return files[name]
    return ""
