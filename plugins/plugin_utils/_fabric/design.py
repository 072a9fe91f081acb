# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``ibready_fabric_design`` says that a fabric was built as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...module_utils._data.designs import INFINIBAND
from ...module_utils._design.size import DesignError, Sizes, asked

NAME = "ibready_fabric_design"
_SIZED = ("nodes", "gpus", "gpus_per_node", "rails", "radix", "oversubscription", "manager_ports")
_NUMBERS = ("leaves", "spines", "cores", "uplinks")
_KEYS = ("design", *_SIZED, *_NUMBERS, "fabric")


@dataclass(frozen=True)
class Wanted:
    """Switches by level, and links of each; None where nothing was said.

    ``uplinks``, ``spine_uplinks``: of a leaf and of a spine. ``pair_links``, ``core_links``: of a leaf to each of its
    spines, of a spine to each of its cores. ``fabric``: the port by which the fabric is known, "" where there is one.
    """

    leaves: int | None = None
    spines: int | None = None
    cores: int | None = None
    uplinks: int | None = None
    spine_uplinks: int | None = None
    pair_links: int | None = None
    core_links: int | None = None
    oversubscription: float | None = None
    fabric: str = ""


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
    numbers: dict[str, Any] = {key: _whole(key, said[key]) for key in _NUMBERS if said.get(key) is not None}
    sized = {key: said[key] for key in _SIZED if said.get(key) is not None}
    if said.get("design") is None:
        if sized or not numbers:
            raise DesignError(f"it takes `design`, or some of {', '.join(_NUMBERS)} alone")
        return _parted(Wanted(fabric=fabric, **numbers))
    over = sized.pop("oversubscription", None)
    counts: dict[str, Any] = {key: _whole(key, value) for key, value in sized.items()}
    if over is not None:
        counts["oversubscription"] = _ratio(over)
    wanted = replace(_sized(asked(str(said["design"]), counts)), fabric=fabric)
    changed = replace(wanted, **numbers)
    if (changed.spines, changed.cores, changed.uplinks) == (wanted.spines, wanted.cores, wanted.uplinks):
        return changed
    return _parted(replace(changed, spine_uplinks=None, pair_links=None, core_links=None, oversubscription=None))


def _sized(found: Sizes) -> Wanted:
    if found.network != INFINIBAND:
        raise DesignError(f"{found.design} is {found.network}, and only InfiniBand fabrics are asked")
    return Wanted(
        *(found.leaves, found.spines, found.cores, found.uplinks),
        *(found.spine_uplinks, found.pair_links, found.core_links, found.oversubscription),
    )


def _parted(wanted: Wanted) -> Wanted:
    """The same with the links of each pair, where every leaf is on every spine and they part evenly."""
    if not wanted.spines or wanted.cores or not wanted.uplinks or wanted.uplinks % wanted.spines:
        return wanted
    return replace(wanted, pair_links=wanted.uplinks // wanted.spines)


def _whole(key: str, value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DesignError(f"{key}: {value!r} is no whole number from 0 on")
    return value


def _ratio(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DesignError(f"oversubscription: {value!r} is no number") from None
