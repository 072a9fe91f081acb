# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL makes of a value, and where that is not what the text seems to mean."""

from __future__ import annotations

import ipaddress
import re
from typing import Callable

from .._data import nccl_spans as spans, nccl_values as data, nccl_variables as kinds, nccl_words as words
from .._parse.strtoll import number
from . import registry, value_lists
from .made import HARMFUL, Made
from .release import Release, shown

_BLANKS = " \t\n\v\f\r"
_YES = frozenset(("true", "yes", "on", "enable", "enabled"))
_NO = frozenset(("false", "no", "off", "disable", "disabled", "none"))
# What NCCL_NET is set to by mistake: a device or an interface.
_DEVICE = re.compile(r"(?:mlx[45]|ib|eth|en[ospx]|bond|roce|hfi)[\w,:-]{0,60}")
_DEVICES = re.compile(r"ALL|MAX:[1-9][0-9]{0,3}")
_POSITIVE = re.compile(r"(?=.*[1-9])[0-9]{1,9}(?:\.[0-9]{0,9})?")
_ADDRESS = re.compile(r"(?:[^\s:\[\]]+|\[[0-9A-Fa-f:.]+(?:%[^\s\]]+)?\]):[0-9]{1,5}")


def means(name: str, value: int) -> str:
    """The number in words: ``0`` or ``0 (no timeout at all)``."""
    word = data.MEANS.get((name, value), "")
    return f"{value} ({word})" if word else str(value)


def made(name: str, value: str, release: Release | None) -> Made:
    """What this release makes of the value of this variable, or the newest where none is given."""
    read = _BY_NAME.get(name) or (_words if name in words.WORDS else _READERS.get(registry.kind_at(name, release)))
    return Made(value) if read is None else read(name, value, release)


def _default(name: str, release: Release | None) -> str:
    return (registry.default_at(name, release) if name in kinds.VARIABLES else "") or "nothing"


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
    return _sized(name, read.value, registry.default_at(name, release))


def _sized(name: str, value: int, default: str) -> Made:
    """A number by itself: whether the variable takes it, and whether jobs suffer by it."""
    span, effective = spans.SPANS.get(name), str(value)
    if effective == default:
        return Made(effective)
    if span is not None and not span.holds(value):
        beyond = f": {span.beyond}" if span.beyond else ""
        return Made(effective, f"the guide knows {span}{beyond}", "unusual-value", harmless=not span.stops)
    for unwise in spans.UNWISE:
        if unwise.name == name and unwise.least <= value <= unwise.most:
            return Made(effective, unwise.means, HARMFUL, harmless=True)
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
    for known, effective in ((data.TRUE, "true"), (data.FALSE, "false")):
        if value.upper() in known:
            return Made(effective)
    held = _default(name, release)
    every = ", ".join((*data.TRUE, *data.FALSE))
    said = f"it is none of {every}: the default holds, {held}"
    return Made(held, said if value else "", "word-for-flag" if value else "")


def _level(name: str, value: str, release: Release | None) -> Made:
    known = (*data.LEVELS, data.NVLINK) if name in data.WITH_NVLINK else data.LEVELS
    if value in known:
        return Made(value)
    held = _default(name, release)
    if value in data.NUMBERS:
        return Made(data.OLD_LEVELS[int(value)])
    if value[:1].isdigit() and value[:1].isascii():
        read = number(value).value
        old = data.OLD_LEVELS[-1 if read is None else min(read, len(data.OLD_LEVELS) - 1)]
        return Made(old, f"the guide knows the numbers 0 to 5: NCCL takes it for {old}", "level", old, harmless=True)
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


def _words(name: str, value: str, release: Release | None) -> Made:
    known = words.WORDS[name]
    if not value:
        return Made(_default(name, release))
    if not known.between:
        return _word(name, value, known, release)
    blank = _list(name, value, release)
    if blank.differs:
        return blank
    listed = value[1:] if known.out and value.startswith("^") else value
    # NCCL cuts at commas with strtok_r, which passes over what is empty; what it does at a | is not known.
    named = [word for word in listed.split(known.between) if word or known.between != ","] or [""]
    each = [_word(name, word, known, release) for word in named]
    wrong = next((word for word in each if word.differs), None)
    return Made(value) if wrong is None else Made(None, wrong.differs, wrong.kind, "", wrong.harmless)


def _word(name: str, word: str, known: words.Words, release: Release | None) -> Made:
    """One word of the value."""
    said = word.upper() if known.any_case else word
    since = words.WORD_SINCE.get((name, said))
    if said in known.words and (since is None or release is None or release >= since):
        harm = words.UNWISE.get((name, said), "")
        return Made(said, harm, HARMFUL if harm else "", harmless=bool(harm))
    upper = word.strip(_BLANKS).upper()
    if since is not None:
        makes = f"it is known from {shown(since)} on: {known.otherwise}"
    else:
        makes = f"{word!r} is none of {', '.join(known.words)}: {known.otherwise}"
    settled = "not known" not in known.otherwise
    held = _default(name, release) if settled else None
    meant = upper if upper in known.words and since is None else ""
    return Made(held, makes, "word", meant, harmless=not known.stops)


def _list(_name: str, value: str, _release: Release | None) -> Made:
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


def _network_name(name: str, value: str, release: Release | None) -> Made:
    lower = value.lower()
    own = {word.lower(): word for word in words.NETWORKS}
    if not value or lower in own:
        return Made(own.get(lower, _default(name, release)))
    if any(lower.startswith(word.lower()) for word in words.PLUGIN_NETWORKS):
        return Made(value)
    meant = words.NETWORKS_MEANT.get(lower, "")
    if meant or _DEVICE.fullmatch(lower):
        return Made(None, words.NO_NETWORK, "word", meant)
    return Made(None, words.BY_PLUGIN, "word", harmless=True)


def _policy(name: str, value: str, release: Release | None) -> Made:
    if not value or _DEVICES.fullmatch(value):
        return Made(value or None)
    return Made(None, "it is neither MAX:N nor ALL: NCCL goes on as without it", "word")


def _factor(name: str, value: str, release: Release | None) -> Made:
    if not value or _POSITIVE.fullmatch(value):
        return Made(value or _default(name, release))
    return Made("1", "it is no number above 0: NCCL reads 1", "word")


_BY_NAME: dict[str, Callable[[str, str, Release | None], Made]] = {
    "NCCL_ALGO": value_lists.algorithms,
    "NCCL_NET": _network_name,
    "NCCL_NETDEVS_POLICY": _policy,
    "NCCL_PROTO": value_lists.protocols,
    "NCCL_RAS_ADDR": _address,
    "NCCL_RAS_TIMEOUT_FACTOR": _factor,
}
_READERS: dict[str, Callable[[str, str, Release | None], Made]] = {
    kinds.INT: _integer,
    kinds.FLAG: _integer,
    registry.TYPED: _typed,
    kinds.LEVEL: _level,
    kinds.LIST: _list,
    kinds.PATH: _path,
    kinds.ADDRESS: _address,
    kinds.NETWORK: _network,
}
