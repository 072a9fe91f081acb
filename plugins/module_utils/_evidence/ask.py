# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the evidence for one thing and keep the reason where it cannot be told."""

from __future__ import annotations

from typing import Callable, TypeVar

from .._ground.reading import Reading
from .._ground.text import last_word
from .sources import Evidence, Missing, Output, Unavailable

T = TypeVar("T")


def command(
    evidence: Evidence,
    name: str,
    parse: Callable[[str], T],
    *args: str,
    ok: tuple[int, ...] | None = (0,),
) -> Reading[T]:
    """What ``parse`` makes of the command's stdout.

    A status outside ``ok`` (None: any is fine), a text that cannot be parsed and a command that
    cannot be run or does not end in time all give an unknown reading that says so.
    """
    try:
        output = evidence.run(name, *args)
    except Unavailable as exc:
        return _without(exc)
    return _told(evidence, output, parse, (name, *args), ok)


def optional(
    evidence: Evidence,
    name: str,
    parse: Callable[[str], T],
    *args: str,
    ok: tuple[int, ...] | None = (0,),
) -> Reading[T]:
    """The same of a tool that need not be there: missing where it is not installed, whatever a tool's own words are."""
    try:
        output = evidence.run(name, *args)
    except Unavailable as exc:
        return Reading(None, str(exc), isinstance(exc, Missing) or "not installed" in exc.reason)
    return _told(evidence, output, parse, (name, *args), ok)


def _told(
    evidence: Evidence, output: Output, parse: Callable[[str], T], asked: tuple[str, ...], ok: tuple[int, ...] | None
) -> Reading[T]:
    if ok is not None and output.rc not in ok:
        said = last_word(output.stdout, output.stderr) or "without a word"
        return Reading(None, f"{asked[0]} ended with status {output.rc}: {said}")
    # Several areas read the same output; its facts are frozen, so they may share them.
    parsed = getattr(evidence, "parsed", {})
    key = (*asked, parse)
    if key in parsed:
        return Reading(parsed[key])
    try:
        return Reading(parsed.setdefault(key, parse(output.stdout)))
    except ValueError as exc:  # ParseError is one
        said = last_word(output.stderr)
        more = f" ({said})" if said else ""
        return Reading(None, f"{exc} (exit status {output.rc}){more}")


def text(evidence: Evidence, path: str) -> Reading[str]:
    """The file's text without the blanks around it; an empty file is a value, too."""
    return _asked(lambda: evidence.read(path).strip())


def file(evidence: Evidence, path: str, convert: Callable[[str], T]) -> Reading[T]:
    """What ``convert`` makes of the file's text; its ValueError makes the reading unknown."""
    got = text(evidence, path).map(convert)
    return got if got.known or got.why.startswith(path) else Reading(None, f"{path}: {got.why}", got.missing)


def whole(evidence: Evidence, path: str, parse: Callable[[str], T]) -> Reading[T]:
    """What ``parse`` makes of a file to its last byte: where it ends tells whether it was cut."""
    try:
        return Reading(parse(evidence.read(path)))
    except ValueError as exc:
        return Reading(None, f"{path}: {exc}")
    except Unavailable as exc:
        return _without(exc)


def names(evidence: Evidence, path: str) -> Reading[list[str]]:
    """The sorted names in a directory."""
    return _asked(lambda: evidence.list(path))


def link(evidence: Evidence, path: str) -> Reading[str]:
    """The text of a symbolic link."""
    return _asked(lambda: evidence.link(path))


def data(evidence: Evidence, path: str) -> Reading[bytes]:
    """The bytes of a file that holds no text (PCI config space, VPD)."""
    return _asked(lambda: evidence.read_bytes(path))


def mode(evidence: Evidence, path: str) -> Reading[int]:
    """The permissions of a file."""
    return _asked(lambda: evidence.mode(path))


def there(evidence: Evidence, path: str) -> Reading[bool]:
    """Whether there is such a file or folder; cheaper than to list one that holds thousands."""
    found = mode(evidence, path)
    return Reading(False) if found.missing else found.map(lambda _mode: True)


def _asked(question: Callable[[], T]) -> Reading[T]:
    try:
        return Reading(question())
    except Unavailable as exc:
        return _without(exc)


def _without(exc: Unavailable) -> Reading[T]:
    return Reading(None, str(exc), isinstance(exc, Missing))
