# SPDX-License-Identifier: GPL-3.0-or-later
"""Which packages a part of a stack comes in, by what it is and where it is to be; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from .model import Fact, Matrix
from .versions import NONE, within

# Whose packages the driver comes in, where a stack does not say so (locks of before did not).
NVIDIA = "nvidia"
_RANGES = ("branch", "version")


def packages(component: str, stack: Mapping[str, Any], system: str, matrix: Matrix) -> Iterator[Fact]:
    """The packages of one part of a stack; none where the part is not in it, or nobody has it for the system."""
    for fact in matrix.all("packages.packages").values():
        if fact.get("component") == component and applies(fact, stack, system):
            yield fact


def applies(fact: Fact, stack: Mapping[str, Any], system: str) -> bool:
    """Whether an entry of packages.yml is about this stack on this system (ubuntu24.04).

    Its ``when`` is asked of the part itself, but for ``system`` and ``driver_flavour``, which is the driver's.
    """
    component = stack.get(fact.get("component"))
    if component is None or component.get("found"):
        return False  # A part that stays as it was found brings none.
    driver = (stack.get("driver") or {}).get("flavour", NVIDIA)
    here = {**component, "system": system, "driver_flavour": driver}
    return all(_fits(key, str(here.get(key, "")), wanted) for key, wanted in (fact.get("when") or {}).items())


def dkms(fact: Fact, stack: Mapping[str, Any], family: str) -> bool:
    """Whether DKMS builds the kernel modules of these packages on the host."""
    version = str(stack[fact.get("component")].get("version", ""))
    return within(version, fact.get("dkms", {}).get(family, NONE))


def _fits(key: str, value: str, wanted: str) -> bool:
    if key == "system":
        return fnmatchcase(value, wanted)
    return within(value, wanted) if key in _RANGES else value == wanted
