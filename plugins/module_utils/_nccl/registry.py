# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a release of NCCL reads a variable, how, and what to write instead."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import AbstractSet

from .._data import nccl_names as names, nccl_values as values, nccl_variables as data
from .release import Release, release, shown

# How a name stands.
READ = "read"
NEVER = "never-read"
GONE = "gone"
NEW = "new"
ABSENT = "not-in-library"  # the registry says that it is read, the library does not hold it
ELSEWHERE = "elsewhere"  # a plugin or a framework reads it
FOREIGN = "not-nccl"  # not NCCL's manner of name
UNKNOWN = "unknown-name"

# A flag that is no longer read as an integer.
TYPED = "typed flag"
_PREFIX = "NCCL_"
_LONGEST_GUESS = 100
_NEAR = 0.8
# Nearer than this, one or two letters are wrong; a plugin's own name differs by a word.
_TYPO = 0.92
# The same where the prefix is misspelt.
_SWAPPED = 0.9


@dataclass(frozen=True)
class Standing:
    """How a name stands with one release (or with any, where none is known).

    ``says``: what becomes of a line that sets it. ``instead``: what to do, "" for nothing.
    ``certain``: False where another release, or something unseen, may read it.
    """

    kind: str
    says: str = ""
    instead: str = ""
    certain: bool = True


def kind_at(name: str, at: Release | None) -> str:
    """How the value is read: a kind of nccl_variables or TYPED; "" where that is not known."""
    found = data.VARIABLES.get(name)
    if found is None:
        return ""
    if found.kind == data.LEVEL and at is not None and at < values.LEVEL_WORDS:
        return data.INT
    if found.kind == data.FLAG and default_at(name, at) in ("true", "false"):
        return TYPED
    return found.kind


def default_at(name: str, at: Release | None) -> str:
    """What holds without the variable, in the newest release where none is given; "" for nothing.

    Raises KeyError for a name that is in no source.
    """
    chosen = ""
    for number, text in enumerate(data.VARIABLES[name].default.split("; ")):
        since, colon, later = text.partition(": ")
        if number == 0:
            chosen = text
        elif colon and (at is None or at >= release(since)):
            chosen = later
    return chosen


def reads(name: str, at: Release) -> bool:
    """Whether the release reads the variable; KeyError for a name that is in no source."""
    known = data.VARIABLES[name]
    return at >= release(known.first) and not (known.last and at > release(known.last))


def is_default(name: str, value: str, at: Release | None) -> bool:
    """Whether the release does the same without the variable; False where none is known."""
    if at is None or not reads(name, at):
        return False
    return value in default_at(name, at).split(" or ")


def standing(name: str, at: Release | None, known: AbstractSet[str] | None, guess: bool = True) -> Standing:
    """How the name stands.

    ``known``: the names that the installed library holds, if it was read. ``guess``: look for the
    name that was meant, which costs some milliseconds.
    """
    if known is not None and name in known and name not in names.NOT_BY_THE_LIBRARY:
        return Standing(READ)
    if name in names.ELSEWHERE:
        who = names.ELSEWHERE[name]
        return Standing(ELSEWHERE, f"NCCL does not read it, {who} may", "", False)
    if name in names.NEVER_READ or name in names.GUIDE_ONLY:
        return _never(name)
    span = _span(name)
    if span is not None:
        return _in_time(name, span, at, known)
    reader = plugin(name)
    if reader is not None:
        return Standing(ELSEWHERE, f"NCCL does not read it, {reader.who} may", "", False)
    near = nearest(name, known) if guess else ""
    if not name.startswith(_PREFIX):
        says = "NCCL sets it in the job's environment and does not read it"
        # HCA alone, IB_HCA or nccl_ib_hca is NCCL's; GLOO_SOCKET_IFNAME is somebody else's.
        same = near in (_plain(name), f"{_PREFIX}{_plain(name)}")
        meant = same or _alike(name, near, _SWAPPED)
        instead = f"write {near}, if that is meant" if near else ""
        return Standing(FOREIGN, says, instead, meant)
    return _unknown(name, near, at, known)


def plugin(name: str) -> names.Plugin | None:
    """The plugin whose variables are called so; None where none is known."""
    return next((known for known in names.PLUGINS if name.startswith(known.begins)), None)


def _alike(name: str, near: str, least: float) -> bool:
    import difflib  # Few hosts have a name that nobody knows.

    return difflib.SequenceMatcher(None, name, near).ratio() >= least


def _plain(name: str) -> str:
    return name.upper().replace("-", "_")


def _never(name: str) -> Standing:
    instead = names.NEVER_READ.get(name) or names.GUIDE_ONLY.get(name, "")
    guide = name in names.GUIDE_ONLY
    says = "no release reads it" + (", though the guide has a section on it" if guide else "")
    return Standing(NEVER, says, _use(instead))


def _use(instead: str) -> str:
    if not instead:
        return "leave it out; NCCL has nothing like it"
    return f"leave it out; {'use ' if instead.startswith(_PREFIX) else ''}{instead}"


def _span(name: str) -> tuple[str, str] | None:
    """The first and the last release that reads it, the last "" for none; None if not known."""
    if name in data.VARIABLES:
        return data.VARIABLES[name].first, data.VARIABLES[name].last
    return names.BINARY_ONLY.get(name)


def _in_time(name: str, span: tuple[str, str], at: Release | None, known: AbstractSet[str] | None) -> Standing:
    first, last = span
    instead = next((renamed.new for renamed in names.RENAMED if renamed.old == name), "")
    use = f"use {instead} instead" if instead else "leave it out"
    if at is not None and at < release(first):
        return Standing(NEW, f"it is new in {first}: {shown(at)} ignores it", "leave it out")
    if last and (at is None or at > release(last)):
        return Standing(GONE, f"no release after {last} reads it", use, at is not None)
    if known is not None and name.startswith(_PREFIX) and name not in names.NOT_BY_THE_LIBRARY:
        until = f" to {last}" if last else ""
        says = f"the installed library does not hold the name (releases from {first}{until} do)"
        return Standing(ABSENT, says, "leave it out, or install another release")
    return Standing(READ)


def _unknown(name: str, near: str, at: Release | None, known: AbstractSet[str] | None) -> Standing:
    ends = shown(names.NEWEST_LIBRARY)
    if known is None:
        says = f"it is none of the variables known of NCCL up to {ends} (no library was read)"
    else:
        says = "the installed library does not hold the name"
    later = known is None and at is not None and at > names.NEWEST_LIBRARY
    if near:
        there = standing(near, at, known, guess=False).kind == READ
        lacks = "" if there else ", which this release lacks"
        typo = _alike(name, near, _TYPO)
        return Standing(UNKNOWN, says, f"write {near}{lacks}, if that is meant", typo and not later)
    return Standing(UNKNOWN, says, "leave it out, if no plugin reads it", False)


def nearest(name: str, known: AbstractSet[str] | None) -> str:
    """The variable that was probably meant, of any release or of the library; "" for none."""
    if len(name) > _LONGEST_GUESS:
        return ""
    return _nearest(name, None if known is None else frozenset(known))


@functools.lru_cache(maxsize=1024)
def _nearest(name: str, known: frozenset[str] | None) -> str:
    every = (*data.VARIABLES, *names.BINARY_ONLY)
    candidates = sorted(every if known is None else known)
    plain = _plain(name)
    if plain in candidates:
        return plain
    if f"{_PREFIX}{plain}" in candidates:
        return f"{_PREFIX}{plain}"
    import difflib

    found = difflib.get_close_matches(plain, candidates, n=1, cutoff=_NEAR)
    return found[0] if found else ""
