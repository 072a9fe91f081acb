# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's lists of names: ``node[1-3,7],login``. Written with ranges at the end of a name alone.

Source: slurm.conf(5), NodeName. Reading takes brackets anywhere in a name, as several releases do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...module_utils._ground.text import few

MOST = 65536
# In a line for people: all names where they are no longer than this, else some.
_WIDTH, _NAMES = 48, 3
NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_NUMBERED = re.compile(r"(.+?)([0-9]{1,9})")
_ADDRESS = re.compile(r"[0-9.]+")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_PART = re.compile(r"([A-Za-z0-9_.-]+)|\[([0-9,-]+)\]")
_ENTRY = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")


def natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """In the order that people count: node2 before node10."""
    words = re.split(r"([0-9]{1,18})", name)
    return [(int(word), "") if at % 2 else (-1, word) for at, word in enumerate(words)], name


def fold(names: Iterable[str]) -> str:
    """The shortest list of these names that Slurm reads as the same names."""
    return ",".join(_pieces(names))


def shown(names: Iterable[str]) -> str:
    """The same for people: names of a domain by their first labels, ``gpu[01-16].cluster.example``."""
    domains: dict[str, list[str]] = {}
    for name in names:
        label, dot, domain = ("", "", "") if _ADDRESS.fullmatch(name) else name.partition(".")
        domains.setdefault(dot + domain, []).append(label or name)
    return ",".join(piece + domain for domain, labels in domains.items() for piece in _pieces(labels))


def brief(names: Sequence[str]) -> str:
    """All of them where that is no longer than a column, else some and how many more."""
    folded = shown(names)
    return folded if len(names) == 1 or len(folded) <= _WIDTH else few(names, _NAMES)


def _pieces(names: Iterable[str]) -> list[str]:
    plain: list[str] = []
    numbers: dict[str, list[str]] = {}
    for name in sorted(set(names), key=natural):
        found = _NUMBERED.fullmatch(name)
        if found is None:
            plain.append(name)
        else:
            numbers.setdefault(found[1], []).append(found[2])
    return [*plain, *(prefix + _ranges(digits) for prefix, digits in numbers.items())]


def _ranges(digits: list[str]) -> str:
    runs: list[list[str]] = []
    for text in digits:
        last = runs[-1] if runs else []
        if last and text == str(int(last[-1]) + 1).zfill(len(last[0])):
            last.append(text)
        else:
            runs.append([text])
    shown = [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return digits[0] if len(digits) == 1 else f"[{','.join(shown)}]"


def expand(text: str) -> list[str]:
    """Every name of a list; ValueError says what is none."""
    names: list[str] = []
    end = 0
    while True:
        match = _ENTRY.match(text, end)
        found = _expanded(match[0] if match else text[end : end + 1])
        if len(names) + len(found) > MOST:
            raise ValueError(f"more than {MOST} names")
        names += found
        end = match.end() if match else end
        if end == len(text):
            return names
        if text[end] != ",":
            raise ValueError(f"{text[end]!r} is in no pair of brackets")
        end += 1


def _expanded(entry: str) -> list[str]:
    names = [""]
    end = 0
    for part in _PART.finditer(entry):
        if part.start() != end:
            break
        end = part.end()
        words = [part[1]] if part[1] else _numbers(part[2])
        if len(names) * len(words) > MOST:
            raise ValueError(f"more than {MOST} names")
        names = [name + word for name in names for word in words]
    if not entry or end != len(entry):
        raise ValueError(f"{entry!r} is no name and no range of names such as node[1-4]")
    return names


def _numbers(text: str) -> list[str]:
    found: list[str] = []
    for word in text.split(","):
        match = _RANGE.fullmatch(word)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if match is None or high < low:
            raise ValueError(f"[{text}] is no range")
        if len(found) + high - low >= MOST:
            raise ValueError(f"more than {MOST} names")
        found += [str(number).zfill(len(match[1])) for number in range(low, high + 1)]
    return found
