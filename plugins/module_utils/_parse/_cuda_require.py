# SPDX-License-Identifier: GPL-3.0-or-later
"""The constraints by which an image says on which hosts it runs: NVIDIA_REQUIRE_CUDA and its like.

Blanks part alternatives, of which a host has to meet only the first that it can; commas part what has to hold
together: ``cuda>=12.4 brand=tesla,driver>=470,driver<471``. Source: nvidia-container-toolkit,
internal/requirements/constraints; confirmed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping, Sequence

from .._ground.text import ParseError
from .version_text import numbers

_TOOL = "NVIDIA_REQUIRE_CUDA"
CUDA, DRIVER, BRAND = "cuda", "driver", "brand"
_FACTOR = re.compile(r"([a-z]{1,20})(!=|<=|>=|=|<|>)([0-9A-Za-z._-]{1,60})")
_VERSION = re.compile(r"v?[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}")
_VERSIONS = (CUDA, DRIVER, "arch")
_LONGEST = 65536


@dataclass(frozen=True)
class Factor:
    """One property held against a value: ``driver<471``."""

    name: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}{self.operator}{self.value}"


Constraint = Sequence[Sequence[Factor]]


def parse(text: str) -> Constraint:
    """The alternatives; ParseError where a part of them is no constraint."""
    if len(text) > _LONGEST:
        raise ParseError(_TOOL, 1, text[:60], "longer than any constraint")
    terms = [[_factor(part) for part in term.split(",") if part] for term in text.split()]
    found = tuple(tuple(term) for term in terms if term)
    if not found:
        raise ParseError(_TOOL, 1, text[:60], "no constraint in it")
    return found


def _factor(part: str) -> Factor:
    match = _FACTOR.fullmatch(part)
    if match is None:
        raise ParseError(_TOOL, 1, part[:60], "not a property, an operator and a value")
    factor = Factor(*match.groups())
    if factor.name in _VERSIONS and not _VERSION.fullmatch(factor.value):
        raise ParseError(_TOOL, 1, part[:60], "not a version")
    return factor


def met(constraint: Constraint, host: Mapping[str, str]) -> bool | None:
    """Whether the host meets it; None where that hangs on a property that nobody knows of it."""
    return _any([_all([_holds(factor, host.get(factor.name)) for factor in term]) for term in constraint])


def names(constraint: Constraint, host: Mapping[str, str]) -> bool:
    """Whether an alternative holds that names a brand and which drivers, up to a last: those for which
    NVIDIA's images bring compatibility libraries. ``driver>=450`` alone says nothing of these."""
    return met([term for term in constraint if _bounded(term)], host) is True


def _bounded(term: Sequence[Factor]) -> bool:
    said = {(factor.name, factor.operator) for factor in term}
    return (BRAND, "=") in said and bool(said & {(DRIVER, "<"), (DRIVER, "<="), (DRIVER, "=")})


def least(constraint: Constraint) -> str:
    """The oldest CUDA that an alternative by itself asks for; "" where none does."""
    alone = [term[0] for term in constraint if len(term) == 1 and term[0].name == CUDA]
    return next((factor.value for factor in alone if factor.operator in (">=", "=")), "")


def _holds(factor: Factor, value: str | None) -> bool | None:
    if value is None:
        return None
    if factor.name not in _VERSIONS:
        return {"=": value == factor.value, "!=": value != factor.value}.get(factor.operator)
    mine, theirs = _padded(value), _padded(factor.value)
    return {
        "=": mine == theirs,
        "!=": mine != theirs,
        "<": mine < theirs,
        "<=": mine <= theirs,
        ">": mine > theirs,
        ">=": mine >= theirs,
    }[factor.operator]


def _padded(text: str) -> tuple[int, ...]:
    return (*numbers(text), 0, 0, 0, 0)[:4]


def _all(parts: Sequence[bool | None]) -> bool | None:
    return False if False in parts else None if None in parts else True


def _any(parts: Sequence[bool | None]) -> bool | None:
    return True if True in parts else None if None in parts else False
