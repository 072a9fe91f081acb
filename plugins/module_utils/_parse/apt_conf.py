# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse apt's configuration files and dnf's, as far as automatic updates need it."""

from __future__ import annotations

import re

from .._ground.bound import Bound

_TOKEN = re.compile(r'"([^"\n]{0,2000})"|([{};])|([^\s{};"]{1,500})')
_KEY = re.compile(r":{3,}")
# The longest of apt's own has 60 characters.
_LONGEST: Bound = 500
_COMMENT = re.compile(r"//|#")
_OPTION = re.compile(r"([A-Za-z_]{1,40}) ?[=:] ?(.*)")


def settings(text: str) -> list[tuple[str, str]]:
    """Every value with its full key in lower case: ``apt::periodic::unattended-upgrade``, ``1``.

    A list's values all go by the list's key. Anything that is not understood is passed over: apt
    itself would refuse the file. ValueError where the text ends within a setting or a comment:
    what would come next may be the one that counts.
    """
    found = []
    around: list[str] = []  # the key before each open brace
    base = key = ""
    pending = False
    for match in _TOKEN.finditer(_without_comments(text)):
        value, mark, word = match.groups()
        pending = mark is None
        if value is not None:
            found.append((key, value))
        elif word is not None:
            key = _KEY.sub("::", f"{key}::{word}".lower())
            if len(key) > _LONGEST:
                raise ValueError(f"a setting's name has more than {_LONGEST} characters")
        elif mark == "{":
            around.append(base)
            base = key
        else:
            if mark == "}" and around:
                base = around.pop()
            key = base
    if around or pending:
        raise ValueError("the text ends within a setting")
    return [(key.strip(":"), value) for key, value in found]


def options(text: str) -> dict[str, str]:
    """``key = value`` lines of an INI file, sections left out of account; keys in lower case.

    Indented lines go on with the value before them.
    """
    found: dict[str, str] = {}
    last = ""
    for line in text.replace("\r", "").split("\n"):
        if not line.strip() or line.lstrip().startswith(("#", ";", "[")):
            continue
        match = _OPTION.match(line.strip())
        if line[0] in " \t" and last:
            found[last] += " " + line.strip()
        elif match is not None:
            last = match.group(1).lower()
            found[last] = match.group(2).strip()
    return found


def held(status: str) -> list[str]:
    """The packages that dpkg's database (/var/lib/dpkg/status) says are on hold."""
    found = []
    name = ""
    for line in status.split("\n"):
        if line.startswith("Package: "):
            name = line[9:].strip()
        elif line.startswith("Status: hold ") and name:
            found.append(name)
    return found


def _without_comments(text: str) -> str:
    text = text.replace("\r", "")
    parts = []
    at = 0
    while True:
        begun = text.find("/*", at)
        if begun < 0:
            break
        parts.append(text[at:begun])
        at = text.find("*/", begun + 2) + 2
        if at < 2:
            raise ValueError("the text ends within a comment")
    parts.append(text[at:])
    lines = "".join(parts).split("\n")
    return "\n".join(_uncommented(line) for line in lines)


def _uncommented(line: str) -> str:
    """The line up to a comment; // and # within quotes begin none."""
    quotes = end = 0
    for match in _COMMENT.finditer(line):
        quotes += line.count('"', end, match.start())
        end = match.start()
        if quotes % 2 == 0:
            return line[: match.start()]
    return line
