# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of vendors, compared and matched with the library that Python packages use.

It is imported at its first use: `ansible-test sanity` imports every plugin without what ansible-core brings.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

from ....module_utils._parse.version_text import numbers

ANY = "any"
NONE = "none"


@functools.cache
def version(text: str) -> Version:
    """``24.10-3.2.5.0`` and ``580.173.02`` as versions that compare; without a number it is 0."""
    from packaging.version import Version

    return Version(".".join(str(number) for number in numbers(text)) or "0")


@functools.cache
def specifier(text: str) -> SpecifierSet | None:
    """The specifier, None for "none"; raises ValueError where it is neither."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if text == NONE:
        return None
    try:
        return SpecifierSet("" if text == ANY else text)
    except InvalidSpecifier:
        raise ValueError(f"{text!r} is no version specifier such as >=580.65.06,<590") from None


@functools.cache
def within(text: str, wanted: str) -> bool:
    """Whether a version text fits a specifier text, "any" or "none"."""
    allowed = specifier(wanted)
    return allowed is not None and allowed.contains(version(text), prereleases=True)
