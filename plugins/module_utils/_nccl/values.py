# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL makes of a value, and where that is not what the text seems to mean."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Callable

from .._data import nccl_values as data, nccl_variables as kinds
from .._parse.strtoll import number
from . import registry
from .release import Release, shown

_BLANKS = " \t\n\v\f\r"
_YES = frozenset(("true", "yes", "on", "enable", "enabled"))
_NO = frozenset(("false", "no", "off", "disable", "disabled", "none"))
_ADDRESS = re.compile(r"(?:[^\s:\[\]]+|\[[0-9A-Fa-f:.]+(?:%[^\s\]]+)?\]):[0-9]{1,5}")


@dataclass(frozen=True)
class Made:
    """What becomes of a value.

    ``effective``: the value that holds, None where that is not known. ``differs``: what NCCL makes
    of the text, "" where that is what the text seems to mean; ``kind`` then is one word for it,
    ``meant`` what to write instead ("" for: it depends), and ``harmless`` says that no more than a
    doubt is left.
    """

    effective: str | None
    differs: str = ""
    kind: str = ""
    meant: str = ""
    harmless: bool = False


def means(name: str, value: int) -> str:
    """The number in words: ``0`` or ``0 (no timeout at all)``."""
    word = data.MEANS.get((name, value), "")
    return f"{value} ({word})" if word else str(value)


def made(name: str, value: str, release: Release | None) -> Made:
    """What this release makes of the value of this variable, or the newest where none is given."""
    kind = registry.kind_at(name, release)
    read = _READERS.get(kind)
    return Made(value) if read is None else read(name, value, release)


def _default(name: str, release: Release | None) -> str:
    return registry.default_at(name, release) or "nothing"


def _integer(name: str, value: str, release: Release | None) -> Made:
    if not value:
        return Made(_default(name, release))
    read = number(value)
    if read.value is None:
        held = _default(name, release)
        return Made(held, f"it is out of range: the default holds, {held}", "out-of-range")
    effective, rest = str(read.value), read.rest.strip(_BLANKS)
    reported = f"NCCL reads {means(name, read.value)}"
    if len(read.rest) == len(value):
        return _wordy(name, value, effective, reported)
    if rest.startswith(","):
        return Made(effective, f"it takes one number: {reported} and ignores the rest", "list-for-integer")
    if rest:
        return Made(effective, f"{reported} and ignores {rest!r}", "integer-tail")
    if read.octal:
        said = f"a 0 in front makes it octal: {reported}"
        return Made(effective, said, "octal", value.strip(_BLANKS).replace("0", "", 1))
    least, greatest = data.RANGES.get(name, (read.value, read.value))
    if not least <= read.value <= greatest:
        return Made(effective, f"the guide knows {least} to {greatest}", "unusual-value", harmless=True)
    return Made(effective)


def _wordy(name: str, value: str, effective: str, told: str) -> Made:
    """A text without any number."""
    word = value.strip(_BLANKS).lower()
    if word in _NO:
        said = f"no word is understood: {told}"
        return Made(effective, said, "word-for-integer", "0", harmless=name.endswith("_ENABLE"))
    meant = "1" if word in _YES else ""
    return Made(effective, f"no word is understood: {told}", "word-for-integer", meant)


def _typed(name: str, value: str, release: Release | None) -> Made:
    for words, effective in ((data.TRUE, "true"), (data.FALSE, "false")):
        if value.upper() in words:
            return Made(effective)
    held = _default(name, release)
    known = ", ".join((*data.TRUE, *data.FALSE))
    said = f"it is none of {known}: the default holds, {held}"
    return Made(held, said if value else "", "word-for-flag" if value else "")


def _level(name: str, value: str, release: Release | None) -> Made:
    known = (*data.LEVELS, data.NVLINK) if name in data.WITH_NVLINK else data.LEVELS
    if value in known:
        return Made(value)
    held = _default(name, release)
    if value[:1].isdigit() and value[:1].isascii():
        read = number(value).value
        old = data.OLD_LEVELS[-1 if read is None else min(read, len(data.OLD_LEVELS) - 1)]
        said = f"the number stands for {old}, and may stand for another level in another release"
        return Made(old, said, "level", old, harmless=True)
    if value == data.NVLINK:
        said = "NCCL takes it, and no NIC is that near: GPUDirect RDMA is off"
        return Made(value, said, "level", data.LEVELS[0], harmless=True)
    if value in data.OTHER_PATHS:
        said = f"it is not in the guide; a release that does not know it keeps the default, {held}"
        return Made(None, said, "level", harmless=True)
    if not value:
        return Made(held)
    upper = value.strip(_BLANKS).upper()
    said = f"it is none of {', '.join(known)}: NCCL ignores it without a word, {held} holds"
    return Made(held, said, "level", upper if upper in known else "")


def _word(name: str, value: str, release: Release | None) -> Made:
    known = data.WORDS[name]
    word = value.upper() if known.any_case else value
    since = data.WORD_SINCE.get((name, word))
    if word in known.words and (since is None or release is None or release >= since):
        return Made(word)
    if not value:
        return Made(_default(name, release))
    upper = value.strip(_BLANKS).upper()
    if since is not None:
        said = f"it is known from {shown(since)} on: {known.otherwise}"
    else:
        said = f"it is none of {', '.join(known.words)}: {known.otherwise}"
    settled = "not known" not in known.otherwise
    held = _default(name, release) if settled else None
    return Made(held, said, "word", upper if upper in known.words and since is None else "")


def _list(name: str, value: str, release: Release | None) -> Made:
    if re.search(r",\s|\s,", value):
        said = "blanks stay part of the words, which NCCL then does not know"
        return Made(None, said, "blank-in-list", re.sub(r"\s*,\s*", ",", value))
    return Made(value)


def _path(name: str, value: str, release: Release | None) -> Made:
    if value.startswith("~"):
        return Made(value, "the ~ is not expanded: it is part of the file's name", "expansion")
    return Made(value)


def _address(name: str, value: str, release: Release | None) -> Made:
    if not value or _ADDRESS.fullmatch(value):
        return Made(value)
    return Made(None, "it is no HOST:PORT and no [IPV6]:PORT: every job ends with an invalid argument", "address")


def _network(name: str, value: str, release: Release | None) -> Made:
    try:
        if value:
            ipaddress.ip_network(value, strict=False)
    except ValueError:
        return Made(None, "it is no network such as 10.0.0.0/8: NCCL cannot match it", "network")
    return Made(value)


_READERS: dict[str, Callable[[str, str, Release | None], Made]] = {
    kinds.INT: _integer,
    kinds.FLAG: _integer,
    registry.TYPED: _typed,
    kinds.LEVEL: _level,
    kinds.WORD: _word,
    kinds.LIST: _list,
    kinds.PATH: _path,
    kinds.ADDRESS: _address,
    kinds.NETWORK: _network,
}
