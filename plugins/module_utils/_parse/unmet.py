# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what `apt-get check` and `rpm -Va --nofiles` say of installed packages that lack others."""

from __future__ import annotations

_APT = "unmet dependencies:"
_DEPENDS = ("Depends:", "PreDepends:", "Conflicts:", "Breaks:")
_RPM = " is needed by "


def parse(text: str) -> tuple[str, ...]:
    """A phrase for each package that lacks something, in the manager's own words; () where it says nothing of it."""
    above, apt, below = text.partition(_APT)
    lines = [" ".join(line.split()) for line in (below if apt else above).splitlines()]
    if not apt:
        return tuple(line.replace("(installed) ", "") for line in lines if _RPM in line)
    found, of = [], ""
    for line in lines:
        # Of one package's lines the first alone has its name.
        name, colon, lack = line.partition(" : ")
        of, lack = (name, lack) if colon else (of, line)
        if lack.startswith(_DEPENDS):
            found.append(f"{of} : {lack}")
    return tuple(found)
