# SPDX-License-Identifier: GPL-3.0-or-later
"""Order versions as rpm does (rpmvercmp): which of two is the newer one."""

from __future__ import annotations

import re

_PIECE = re.compile(r"[0-9]+|[a-zA-Z]+|~|\^")


def compare(one: str, other: str) -> int:
    """-1, 0 or 1 for two texts of the form [epoch:]version[-release]."""
    left, right = _split(one), _split(other)
    for a, b in zip(left, right):
        order = _piecewise(a, b)
        if order:
            return order
    return 0


def _split(text: str) -> tuple[str, str, str]:
    epoch, colon, rest = text.partition(":")
    if not colon:
        epoch, rest = "0", text
    version, _dash, release = rest.partition("-")
    return epoch, version, release


def _piecewise(one: str, other: str) -> int:
    left, right = _PIECE.findall(one), _PIECE.findall(other)
    for a, b in zip(left, right):
        if a == b:
            continue
        # A tilde sorts before everything, a caret before all but the end.
        for mark in "~^":
            if mark in (a, b):
                return -1 if a == mark else 1
        if a.isdigit() and b.isdigit():
            if int(a) == int(b):
                continue
            return 1 if int(a) > int(b) else -1
        if a.isdigit() != b.isdigit():
            return 1 if a.isdigit() else -1
        return 1 if a > b else -1
    if len(left) == len(right):
        return 0
    longer = left if len(left) > len(right) else right
    sign = 1 if longer is left else -1
    return -sign if longer[min(len(left), len(right))] == "~" else sign
