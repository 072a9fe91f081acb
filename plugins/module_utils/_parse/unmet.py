# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what `apt-get check` and `rpm -Va --nofiles` say of installed packages that lack others."""

from __future__ import annotations

from .._ground.text import ParseError, flat_lines

_APT = "unmet dependencies:"
_APT_END = "Reading state information..."
_DEPENDS = ("Depends:", "PreDepends:", "Conflicts:", "Breaks:")
_RPM = " is needed by "


def parse(text: str) -> tuple[str, ...]:
    """A phrase for each package that lacks something, in the manager's own words; () where it says nothing of it."""
    lines = flat_lines(text)
    begin = next((at for at, line in enumerate(lines) if line.endswith(_APT)), None)
    if begin is None:
        return tuple(line.replace("(installed) ", "") for line in lines if _RPM in line)
    found, of = [], ""
    for line in lines[begin + 1 :]:
        # Of one package's lines the first alone has its name.
        name, colon, lack = line.partition(" : ")
        of, lack = (name, lack) if colon else (of, line)
        if lack.startswith(_DEPENDS):
            found.append(f"{of} : {lack}")
    return tuple(found)


def whole(text: str) -> tuple[str, ...]:
    """The same of apt where it finds nothing: then its last step is told."""
    found = parse(text)
    if not found and not any(line.startswith(_APT_END) for line in flat_lines(text)):
        raise ParseError("apt-get check", 0, "", "it ends before apt has read the state of the packages")
    return found
