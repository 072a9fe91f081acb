# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse depmod's /lib/modules/KERNEL/modules.dep: which file modprobe would load."""

from __future__ import annotations

import posixpath

from .._ground.text import ParseError

_TOOL = "modules_dep"


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
