# SPDX-License-Identifier: GPL-3.0-or-later
"""From the text of an nccl.conf and the settings that it is to hold to its new text.

Either the whole file is ours, or a block in it between two marks, in the one form that every
release reads alike. The block stands first, because the first line that sets a variable holds;
where somebody moved it, it stays. Lines outside of it are kept byte for byte, but for those that
set a variable of ours.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import AbstractSet, Iterable, Sequence

from .._data import nccl_reading as reading
from .._ground import keyvalue
from . import lint
from .conf import as_bytes, parse
from .derived import Setting
from .problem import ERROR, Problem, short
from .release import NEWEST, Release

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_WIDTH = 98
HEADER = "Written by ibready.cluster.nccl_conf. The next run undoes changes made by hand."
BEGIN = "# Begin of what ibready.cluster.nccl_conf writes. The next run undoes changes up to the end."
END = "# End of what ibready.cluster.nccl_conf writes."
_DUPLICATE = "duplicate"
# A line is judged as both of these read it: with no comments, and cut into pieces.
_READERS: tuple[Release, ...] = (reading.VALUE_CUT_SINCE, NEWEST)


class RenderError(ValueError):
    """A setting that has no safe form, with what NCCL would make of it."""


def render(settings: Iterable[Setting], header: str) -> str:
    """The file's text: the header and every reason as comments, the settings in the given order.

    Any release reads exactly these settings back. Raises RenderError for a name that is none or
    comes twice, a value of more than one line, and a line of 1000 bytes or more.
    """
    blocks = [comment(header)] if header.strip() else []
    seen: dict[str, str] = {}
    for setting in settings:
        line = _line(setting)
        if setting.name in seen:
            raise RenderError(
                f"{setting.name} is set twice, to {short(seen[setting.name])!r} and to {short(setting.value)!r}"
                ": NCCL would take the first. Next: give it once"
            )
        seen[setting.name] = setting.value
        above = comment(setting.reason) if setting.reason.strip() else ""
        blocks.append(f"{above}{line}\n")
    return "\n".join(blocks)


def comment(text: str) -> str:
    """The text as lines of comment, without a = (before 2.26 that would set a variable)."""
    lines = []
    for part in text.replace("=", ":").split("\n"):
        plain = as_bytes(_CONTROL.sub(" ", part)).decode("utf-8", "replace")
        lines += textwrap.wrap(plain, _WIDTH - 2) or [""]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _line(setting: Setting) -> str:
    if not _NAME.fullmatch(setting.name):
        raise RenderError(
            f"{short(setting.name)!r} is no name of a variable: NCCL would set one that nothing reads."
            " Next: write the bare name, such as NCCL_IB_HCA"
        )
    control = _CONTROL.search(setting.value)
    if control:
        fate = "begin a line of its own" if "\n" in setting.value else "end or spoil the value there"
        raise RenderError(
            f"{setting.name}: the value {short(setting.value)!r} has a control character: NCCL would {fate}"
            ". Next: give it in one line of plain text"
        )
    line = f"{setting.name}={setting.value}"
    size = len(as_bytes(line))
    if size >= reading.SAFE_LINE:
        raise RenderError(
            f"{setting.name}: the line has {size} bytes, {reading.SAFE_LINE - 1} are safe: NCCL cuts a"
            f" value after {reading.LONGEST} without a word. Next: shorten the value"
        )
    return line


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

    Raises RenderError for a setting that cannot be written, ConfError for a block without its end.
    """
    above, inside, below = _parts(present)
    names = {setting.name for setting in wanted.settings}
    settings = (*wanted.settings, *_kept(inside, wanted.keep - names - wanted.drop))
    if wanted.exclusive:
        text = render(settings, HEADER) if settings else ""
        return Managed(text, lost=bool(above or below))
    theirs = wanted.drop.union(setting.name for setting in settings)
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
    foreign = [problem for problem in found if not first <= problem.line < beyond]
    replaced = tuple(others[at].rstrip("\r\n") for at in sorted(gone))
    return Managed(text, replaced, bool(gone), tuple(foreign))


def _sets(line: str, names: AbstractSet[str]) -> bool:
    """Whether any release takes a value for one of these from the line."""
    return any(entry.name in names for release in _READERS for entry in parse(line, release))


def _kept(inside: Sequence[str], names: AbstractSet[str]) -> list[Setting]:
    """Those of our lines that set one of these, with the reasons above them; the first of two."""
    found: dict[str, Setting] = {}
    reasons: list[str] = []
    for line in inside:
        text = line.rstrip("\n")
        if text.startswith("#"):
            reasons.append(text[1:].strip())
            continue
        for entry in parse(text, NEWEST):
            if entry.name is not None and entry.name in names:
                kept = Setting(entry.name, entry.value or "", " ".join(reasons))
                found.setdefault(entry.name, kept)
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
    reported = lint.problems("".join(lines[at] for at in stay), version, known_names)
    wrong = [problem for problem in reported if problem.severity == ERROR]
    return {stay[problem.line - 1] for problem in wrong if doubles == (problem.kind == _DUPLICATE)}


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of others above our block, ours, and those of others below, with their ends."""
    lines = keyvalue.lines(text)
    if lines and lines[0].rstrip("\r\n") == f"# {HEADER}":
        return [], lines[1:], []
    above, within, below = keyvalue.parts(text, BEGIN, END, strict=False)
    return (above, within, below) if BEGIN in (line.strip() for line in lines) else ([], [], above)
