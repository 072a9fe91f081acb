# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL makes of a value of NCCL_ALGO or NCCL_PROTO: words between commas, from 2.24 on by function.

``ring,collnetdirect;allreduce:^tree``: without a function the first list holds for all that have
none of their own. NCCL cuts with strtok_r, which passes over what is empty: ``Ring,`` is ``Ring``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from .._data import nccl_words as words
from .made import HARMFUL, Made
from .release import Release, shown

_RING, _LL128 = "RING", "LL128"
_NEAR = 0.6


@dataclass(frozen=True)
class _Part:
    """One list. ``start``: where it begins in the value. ``function``: "" for none of its own."""

    start: int
    function: str
    listed: str

    @property
    def out(self) -> bool:
        """Whether its words are left out."""
        return self.listed.startswith("^")

    @property
    def words(self) -> list[str]:
        return [word for word in self.listed[self.out :].split(",") if word]


def algorithms(_name: str, value: str, release: Release | None) -> Made:
    """NCCL_ALGO."""
    wrong = _wrong(value, words.ALGORITHMS, release)
    if wrong is not None:
        return wrong
    first = next(iter(_parts(value, release)), None)
    if first is None or first.function or first.out or not _strict(release):
        return Made(value)
    if _RING not in (word.upper() for word in first.words):
        since = "" if release else f"from {shown(words.STRICT_SINCE)} on "
        means = f"{since}nothing falls back to ring: a collective that {','.join(first.words)} cannot do ends the job"
        return Made(value, means, HARMFUL, harmless=True)
    return Made(value)


def protocols(_name: str, value: str, release: Release | None) -> Made:
    """NCCL_PROTO."""
    wrong = _wrong(value, words.PROTOCOLS, release)
    if wrong is not None:
        return wrong
    for part in _parts(value, release):
        if part.out or _LL128 not in (word.upper() for word in part.words):
            continue
        means = "LL128 is forced also where the platform cannot do it, which damages data without a word"
        return Made(value, means, HARMFUL, harmless=True)
    return Made(value)


def _strict(release: Release | None) -> bool:
    return release is None or release >= words.STRICT_SINCE


def _parts(value: str, release: Release | None) -> list[_Part]:
    """The lists of a value; none of what is empty."""
    if not _strict(release):
        return [_Part(0, "", value)] if value else []
    found, start = [], 0
    for text in value.split(";"):
        # What stands behind a second colon is not looked at.
        named = [piece for piece in text.split(":") if piece][:2]
        if text:
            function = named[0] if len(named) > 1 else ""
            found.append(_Part(start, function, named[-1] if named else ""))
        start += len(text) + 1
    return found


def _wrong(value: str, known: Mapping[str, Release], release: Release | None) -> Made | None:
    """What comes of the first word that the release does not know; None where it knows all of them."""
    for part in _parts(value, release):
        # Only what begins at the value's first byte may do without a function: not what follows a leading semicolon.
        if part.function.upper() not in ("", *words.FUNCTIONS) or (part.start and not part.function):
            return _refused(part.function or part.listed, value, words.FUNCTIONS, release)
        # A ^ without a word leaves nothing out; without a ^ nothing is left to take.
        for word in part.words or ([] if part.out else [""]):
            since, until = known.get(word.upper()), words.ALGORITHM_UNTIL.get(word.upper())
            late = since is not None and release is not None and release < since
            gone = until is not None and release is not None and release >= until
            if since is None or late or gone:
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
