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
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import Problem
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import NEWEST, Release
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.render import render
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting

HEADER = "Written by ibready.cluster.nccl_conf. The next run undoes changes made by hand."
BEGIN = (
    "# Begin of what ibready.cluster.nccl_conf writes. The next run undoes changes up to the end."
)
END = "# End of what ibready.cluster.nccl_conf writes."
# A line is judged as both of these read it: with no comments, and cut into pieces.
_READERS: tuple[Release, ...] = (reading.VALUE_CUT_SINCE, NEWEST)


class ManageError(ValueError):
    """A file whose marks are not in order."""


@dataclass(frozen=True)
class Managed:
    """The new text, "" for no file.

    ``replaced``: lines of others that set a variable of ours and are gone. ``lost``: whether any
    line of others is gone. ``foreign``: what is wrong with the lines of others that stay, by the
    numbers of the new text.
    """

    text: str
    replaced: tuple[str, ...] = ()
    lost: bool = False
    foreign: tuple[Problem, ...] = ()


def manage(
    present: str,
    wanted: Sequence[Setting],
    exclusive: bool,
    version: Release | None = None,
    known_names: AbstractSet[str] | None = None,
) -> Managed:
    """The text with these settings and no others of ours; without any, our part goes.

    ``exclusive``: the whole file is ours, and nothing of others stays. Raises RenderError for a
    setting that cannot be written, ManageError for a block without its end.
    """
    above, below = _foreign(present)
    if exclusive:
        return Managed(render(wanted, HEADER) if wanted else "", lost=bool(above or below))
    names = {one.name for one in wanted}
    gone = [line for line in (*above, *below) if _sets(line, names)]
    ours = set(gone)
    head = "".join(line for line in above if line not in ours)
    tail = "".join(line for line in below if line not in ours)
    block = f"{BEGIN}\n{render(wanted, '')}{END}\n" if wanted else ""
    text = head + block + tail
    first = head.count("\n") + 1
    beyond = first + block.count("\n")
    found = lint.problems(text, version, known_names)
    foreign = [one for one in found if not first <= one.line < beyond]
    return Managed(text, tuple(line.rstrip("\r\n") for line in gone), bool(gone), tuple(foreign))


def _sets(line: str, names: AbstractSet[str]) -> bool:
    """Whether any release takes a value for one of these from the line."""
    return any(one.name in names for release in _READERS for one in parse(line, release))


def _foreign(text: str) -> tuple[list[str], list[str]]:
    """The lines of others above and below our block, with their ends."""
    lines = [f"{line}\n" for line in text.split("\n")]
    # What follows the last newline has none.
    last = lines.pop()[:-1]
    lines += [last] if last else []
    if lines and lines[0].rstrip("\r\n") == f"# {HEADER}":
        return [], []
    above: list[str] = []
    below: list[str] = []
    inside = 0
    blocks = 0
    for number, line in enumerate(lines, 1):
        mark = line.rstrip("\r\n")
        if inside:
            inside = 0 if mark == END else inside
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
    return (above, below) if blocks else ([], above)
