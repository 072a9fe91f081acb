# SPDX-License-Identifier: GPL-3.0-or-later
"""One package of a package database, whichever one it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable

_OF_A_KERNEL = re.compile(r"^(?:linux|kernel|kmod)-(?:\S*-)?\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d)")


@dataclass(frozen=True)
class Package:
    """``whole``: installed to the end. A package of which only settings are left is none."""

    name: str
    version: str
    arch: str
    whole: bool = True


def named(packages: Iterable[Package], names: Iterable[str]) -> list[Package]:
    """Those of these names, in the names' order; with a branch, too: cuda-toolkit-13-0."""
    found = list(packages)
    return [package for name in names for package in found if is_named(package.name, name)]


def is_named(package: str, name: str) -> bool:
    """Whether a package has this name, or this name and a branch."""
    rest = package[len(name) + 1 :].replace("-", "")
    return package == name or (package.startswith(f"{name}-") and rest.isdigit())


def is_of_a_kernel(name: str) -> bool:
    """Whether a package is of one release of the kernel, by its name, so that it goes with that one."""
    return _OF_A_KERNEL.search(name) is not None
