# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``ibready_fabric_design`` says that a fabric was built as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME = "ibready_fabric_design"
_NUMBERS = ("leaves", "spines", "cores", "uplinks", "spine_uplinks")
_KEYS = (*_NUMBERS, "fabric")


class DesignError(ValueError):
    """The variable's value cannot be used; the message says why."""


@dataclass(frozen=True)
class Wanted:
    """Switches by level, and links of each; None where nothing was said.

    ``uplinks``, ``spine_uplinks``: of a leaf and of a spine. ``fabric``: the port by which the fabric is known, ""
    where there is one.
    """

    leaves: int | None = None
    spines: int | None = None
    cores: int | None = None
    uplinks: int | None = None
    spine_uplinks: int | None = None
    fabric: str = ""

    @property
    def pair_links(self) -> int | None:
        """Links of a leaf to each of its spines, where every leaf is on every spine and they part evenly."""
        if not self.spines or self.cores or not self.uplinks or self.uplinks % self.spines:
            return None
        return self.uplinks // self.spines


NOTHING = Wanted()


def read(said: Any) -> Wanted:
    """The variable's value; raises DesignError on what cannot be used."""
    if not isinstance(said, Mapping):
        raise DesignError(f"{said!r} is no dictionary of {', '.join(_KEYS)}")
    strange = [str(key) for key in said if key not in _KEYS]
    if strange:
        raise DesignError(f"there is no {', '.join(strange)}; known are {', '.join(_KEYS)}")
    fabric = said.get("fabric") or ""
    if not isinstance(fabric, str):
        raise DesignError(f"fabric: {fabric!r} is no port, such as mlx5_0/1")
    numbers = {key: _whole(key, said[key]) for key in _NUMBERS if said.get(key) is not None}
    if not numbers:
        raise DesignError(f"it takes some of {', '.join(_NUMBERS)}")
    return Wanted(**numbers, fabric=fabric)


def _whole(key: str, value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DesignError(f"{key}: {value!r} is no whole number from 0 on")
    return value
