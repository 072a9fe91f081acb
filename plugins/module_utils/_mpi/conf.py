# SPDX-License-Identifier: GPL-3.0-or-later
"""A block of ours in a file of ``name = value`` lines, beside the lines of others; no I/O.

Of two lines that set the same the last counts in these files, so the block stands last: at the end,
or before the first ``[section]``. What the site sets itself is the site's and is left out of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import AbstractSet, Mapping, Sequence

BEGIN = (
    "# Begin of what ibready.cluster.mpi_conf writes. The next run undoes changes up to the end."
)
END = "# End of what ibready.cluster.mpi_conf writes."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,120}")
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_SECTION = re.compile(r"\s*\[.*\]\s*")


class ConfError(ValueError):
    """A line that cannot be written, or a file whose marks are not in order."""


@dataclass(frozen=True)
class Line:
    """``forced``: the site's own word, which stands above its file."""

    name: str
    value: str
    reason: str = ""
    forced: bool = False


@dataclass(frozen=True)
class Merged:
    """``kept``: names that the site's own lines set, so that ours were left out."""

    text: str
    kept: tuple[str, ...] = ()


def merge(
    text: str,
    lines: Sequence[Line],
    defaults: Mapping[str, Sequence[str]] | None = None,
) -> Merged:
    """The file with these lines and no others of ours; without any, our block goes.

    ``defaults``: values by name that are the distribution's and not the site's.
    """
    for line in lines:
        _check(line)
    others = _others(text)
    theirs = _set_by_site(others, defaults or {})
    mine = [line for line in lines if line.forced or line.name not in theirs]
    kept = tuple(line.name for line in lines if line not in mine)
    if not mine:
        return Merged("".join(others), kept)
    at = next((n for n, one in enumerate(others) if _SECTION.fullmatch(one)), len(others))
    head, tail = others[:at], others[at:]
    if head and not head[-1].endswith("\n"):
        # Debian's file ends without one, and the next line would become a part of its last.
        head[-1] += "\n"
    return Merged("".join([*head, *_block(mine), *tail]), kept)


def _check(line: Line) -> None:
    if not _NAME.fullmatch(line.name):
        raise ConfError(f"{line.name!r} is no name of a setting")
    if not line.value.isprintable() or line.value != line.value.strip() or not line.value:
        raise ConfError(f"{line.name}: the value {line.value!r} does not fit on a line")


def _block(lines: Sequence[Line]) -> list[str]:
    found = [f"{BEGIN}\n"]
    for line in lines:
        found += [f"# {line.reason}\n"] if line.reason else []
        found.append(f"{line.name}={line.value}\n")
    return [*found, f"{END}\n"]


def _others(text: str) -> list[str]:
    """The lines that are not ours, with their ends."""
    found: list[str] = []
    inside = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        mark = line.strip()
        if inside:
            inside = 0 if mark == END else inside
        elif mark == BEGIN:
            inside = number
        elif mark == END:
            raise ConfError(
                f"line {number} ends the block that ibready writes, and no line begins it. Next:"
                " take out the rest of the block with that line"
            )
        else:
            found.append(line)
    if inside:
        raise ConfError(
            f"line {inside} begins the block that ibready writes, and no line ends it. Next: take"
            " out the rest of the block with that line"
        )
    return found


def _set_by_site(lines: Sequence[str], defaults: Mapping[str, Sequence[str]]) -> AbstractSet[str]:
    """The names that lines before the first section set, but for what a distribution writes."""
    values: dict[str, str] = {}
    for line in lines:
        if _SECTION.fullmatch(line):
            break
        found = _LINE.fullmatch(line.rstrip("\r\n"))
        if found is not None:
            values[found.group(1)] = found.group(2)
    return {name for name, value in values.items() if value not in defaults.get(name, ())}
