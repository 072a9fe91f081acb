# SPDX-License-Identifier: GPL-3.0-or-later
"""Set values in a BeeGFS file of ``name = value`` lines, in place, every other byte kept; no I/O.

BeeGFS takes the last of two lines that set the same, and refuses to start on a name that its
release does not know: so a line is changed where it stands, and names that the file has nowhere
are only added where somebody asks for them.
"""

from __future__ import annotations

import re
from typing import Mapping

from .._ground import keyvalue

_NAME = re.compile(r"[a-z][A-Za-z0-9]{0,80}")


def value_of(text: str, name: str) -> str | None:
    """What a name is set to, None where no line sets it."""
    return keyvalue.settings(keyvalue.lines(text)).get(name)


def changed(text: str, values: Mapping[str, str]) -> str:
    """The text with these values: lines that set one are rewritten, what is not there is added."""
    for name, value in values.items():
        keyvalue.refuse(name, value, _NAME)
    lines = []
    seen = set()
    for line in keyvalue.lines(text):
        body = line.rstrip("\r\n")
        match = keyvalue.LINE.fullmatch(body)
        if match is not None and match["name"] in values:
            seen.add(match["name"])
            if match["value"] != values[match["name"]]:
                line = f"{_head(match['head'])}{values[match['name']]}{line[len(body) :]}"
        lines.append(line)
    more = [f"{name} = {value}\n" for name, value in values.items() if name not in seen]
    if more and lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines, *more])


def _head(head: str) -> str:
    """With the blanks around the = as the line has them; an empty value has none behind it."""
    return f"{head} " if head.endswith((" =", "\t=")) else head


def argument(text: str, name: str, key: str, value: str) -> dict[str, str]:
    """``key=value`` among the words of a setting (buildArgs), for `changed`; others stay."""
    words = (value_of(text, name) or "").split()
    kept = [word for word in words if not word.startswith(f"{key}=")]
    return {name: " ".join([*kept, *([f"{key}={value}"] if value else [])])}
