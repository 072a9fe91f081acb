# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL makes of a value of NCCL_ALGO or NCCL_PROTO: words between commas, from 2.24 on by function.

``ring,collnetdirect;allreduce:^tree``: without a function the first list holds for all that have
none of their own.
"""

from __future__ import annotations

from typing import Mapping

from .._data import nccl_words as words
from .made import HARMFUL, Made
from .release import Release, shown

_RING, _LL128 = "RING", "LL128"
_NEAR = 0.6


def algorithms(_name: str, value: str, release: Release | None) -> Made:
    """NCCL_ALGO."""
    wrong = _wrong(value, words.ALGORITHMS, release)
    if wrong is not None:
        return wrong
    first, _colon, own = value.partition(";")[0].rpartition(":")
    listed = own.upper().split(",")
    if _strict(release) and value and not first and not own.startswith("^") and _RING not in listed:
        since = "" if release else f"from {shown(words.STRICT_SINCE)} on "
        means = f"{since}nothing falls back to ring: a collective that {own} cannot do ends the job"
        return Made(value, means, HARMFUL, harmless=True)
    return Made(value)


def protocols(_name: str, value: str, release: Release | None) -> Made:
    """NCCL_PROTO."""
    wrong = _wrong(value, words.PROTOCOLS, release)
    if wrong is not None:
        return wrong
    lists = [part.rpartition(":")[2] for part in value.split(";")]
    if any(_LL128 in one.upper().split(",") and not one.startswith("^") for one in lists):
        means = "LL128 is forced also where the platform cannot do it, which damages data without a word"
        return Made(value, means, HARMFUL, harmless=True)
    return Made(value)


def _strict(release: Release | None) -> bool:
    return release is None or release >= words.STRICT_SINCE


def _wrong(value: str, known: Mapping[str, Release], release: Release | None) -> Made | None:
    """What comes of the first word that the release does not know; None where it knows all of them."""
    parts = value.split(";") if _strict(release) else [value]
    for number, part in enumerate(parts):
        function, colon, listed = part.rpartition(":") if _strict(release) else ("", "", part)
        if (colon and function.upper() not in words.FUNCTIONS) or (number and not colon):
            return _refused(function or part, value, words.FUNCTIONS, release)
        for word in listed[1:].split(",") if listed.startswith("^") else listed.split(","):
            since, until = known.get(word.upper()), words.ALGORITHM_UNTIL.get(word.upper())
            late = since is not None and release is not None and release < since
            gone = until is not None and release is not None and release >= until
            if value and (since is None or late or gone):
                there = [one for one, first in known.items() if release is None or release >= first]
                return _refused(word, value, [one for one in there if one not in words.ALGORITHM_UNTIL], release)
    return None


def _refused(word: str, value: str, known: list[str] | tuple[str, ...], release: Release | None) -> Made:
    import difflib  # Few hosts have a word that nobody knows.

    near = difflib.get_close_matches(word.upper(), known, n=1, cutoff=_NEAR)
    meant = value.replace(word, near[0].capitalize(), 1) if near and word else ""
    makes = words.REFUSED if _strict(release) else words.PASSED_OVER
    since = "" if release else f"from {shown(words.STRICT_SINCE)} on "
    return Made(None, f"{word!r} is none of {', '.join(known)}: {since}{makes}", "word", meant)
