# SPDX-License-Identifier: GPL-3.0-or-later
"""From the text of an nccl.conf and the settings that it is to hold to its new text.

Either the whole file is ours, or a block in it between two marks. The block stands first, because
the first line that sets a variable holds; where somebody moved it, it stays. Lines outside of it
are kept byte for byte, but for those that set a variable of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import AbstractSet, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_reading as reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import lint
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import parse
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import ERROR, Problem
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import NEWEST, Release
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.render import render
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting

HEADER = "Written by ibready.cluster.nccl_conf. The next run undoes changes made by hand."
BEGIN = (
    "# Begin of what ibready.cluster.nccl_conf writes. The next run undoes changes up to the end."
)
END = "# End of what ibready.cluster.nccl_conf writes."
_DUPLICATE = "duplicate"
# A line is judged as both of these read it: with no comments, and cut into pieces.
_READERS: tuple[Release, ...] = (reading.VALUE_CUT_SINCE, NEWEST)


class ManageError(ValueError):
    """A file whose marks are not in order."""


@dataclass(frozen=True)
class Managed:
    """The new text, "" for no file.

    ``replaced``: lines of others that are gone. ``lost``: whether any
    line of others is gone. ``foreign``: what is wrong with the lines of others that stay, by the
    numbers of the new text.
    """

    text: str
    replaced: tuple[str, ...] = ()
    lost: bool = False
    foreign: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """``settings``: what the file is to hold of ours, and nothing else but lines that set one of
    ``keep`` and are ours already. ``exclusive``: the whole file is ours, and nothing of others
    stays. Of others, lines that set one of ``drop`` go, and with ``repair`` those that NCCL reads
    otherwise than they say."""

    settings: tuple[Setting, ...] = ()
    keep: frozenset[str] = frozenset()
    exclusive: bool = False
    drop: frozenset[str] = frozenset()
    repair: bool = False


def manage(
    present: str,
    wanted: Wanted,
    version: Release | None = None,
    known_names: AbstractSet[str] | None = None,
) -> Managed:
    """The text with these settings and no others of ours; without any, our part goes.

    Raises RenderError for a setting that cannot be written, ManageError for a block without its
    end.
    """
    above, inside, below = _parts(present)
    names = {one.name for one in wanted.settings}
    settings = (*wanted.settings, *_kept(inside, wanted.keep - names - wanted.drop))
    if wanted.exclusive:
        text = render(settings, HEADER) if settings else ""
        return Managed(text, lost=bool(above or below))
    theirs = wanted.drop.union(one.name for one in settings)
    others = [*above, *below]
    gone = {at for at, line in enumerate(others) if _sets(line, theirs)}
    if wanted.repair:
        # A line that is hidden by a wrong one may be right: the wrong ones go first.
        gone |= _misread(others, gone, version, known_names, doubles=False)
        gone |= _misread(others, gone, version, known_names, doubles=True)
    kept = ["" if at in gone else line for at, line in enumerate(others)]
    head, tail = "".join(kept[: len(above)]), "".join(kept[len(above) :])
    block = f"{BEGIN}\n{render(settings, '')}{END}\n" if settings else ""
    text = head + block + tail
    first = head.count("\n") + 1
    beyond = first + block.count("\n")
    found = lint.problems(text, version, known_names)
    foreign = [one for one in found if not first <= one.line < beyond]
    replaced = tuple(others[at].rstrip("\r\n") for at in sorted(gone))
    return Managed(text, replaced, bool(gone), tuple(foreign))


def _sets(line: str, names: AbstractSet[str]) -> bool:
    """Whether any release takes a value for one of these from the line."""
    return any(one.name in names for release in _READERS for one in parse(line, release))


def _kept(inside: Sequence[str], names: AbstractSet[str]) -> list[Setting]:
    """Those of our lines that set one of these, with the reasons above them; the first of two."""
    found: dict[str, Setting] = {}
    reasons: list[str] = []
    for line in inside:
        text = line.rstrip("\n")
        if text.startswith("#"):
            reasons.append(text[1:].strip())
            continue
        for one in parse(text, NEWEST):
            if one.name is not None and one.name in names:
                kept = Setting(one.name, one.value or "", " ".join(reasons))
                found.setdefault(one.name, kept)
        reasons = []
    return list(found.values())


def _misread(
    lines: Sequence[str],
    gone: AbstractSet[int],
    version: Release | None,
    known_names: AbstractSet[str] | None,
    doubles: bool,
) -> set[int]:
    """Which of the lines that stay NCCL reads otherwise than they say, by their place; or which
    set what an earlier one sets already."""
    stay = [at for at in range(len(lines)) if at not in gone]
    told = lint.problems("".join(lines[at] for at in stay), version, known_names)
    wrong = [one for one in told if one.severity == ERROR]
    return {stay[one.line - 1] for one in wrong if doubles == (one.kind == _DUPLICATE)}


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of others above our block, ours, and those of others below, with their ends."""
    lines = [f"{line}\n" for line in text.split("\n")]
    # What follows the last newline has none.
    last = lines.pop()[:-1]
    lines += [last] if last else []
    if lines and lines[0].rstrip("\r\n") == f"# {HEADER}":
        return [], lines[1:], []
    above: list[str] = []
    within: list[str] = []
    below: list[str] = []
    inside = 0
    blocks = 0
    for number, line in enumerate(lines, 1):
        mark = line.rstrip("\r\n")
        if inside:
            inside = 0 if mark == END else inside
            within += [line] if inside else []
        elif mark == BEGIN:
            inside = number
            blocks += 1
        else:
            (below if blocks else above).append(line)
    if inside:
        raise ManageError(
            f"line {inside} begins the block that ibready writes, and no line ends it: what of the"
            " rest is ours cannot be told. Next: take out the rest of the block with that line"
        )
    return (above, within, below) if blocks else ([], [], above)
