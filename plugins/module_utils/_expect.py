# SPDX-License-Identifier: GPL-3.0-or-later
"""Who expects what of a host: the inventory, then the fleet's majority.

What the parts themselves promise (CAPABILITY) is known to the check that compares it, so it does
not pass through here. Nothing is ever learnt from the judged host's own present state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Mapping

# Who expects: the operator, or what the parts themselves promise.
INVENTORY = "inventory"
CAPABILITY = "capability"

LINK_LAYERS = ("InfiniBand", "Ethernet")
# What `ibready_expect` may hold, as an argument spec; the module ibverify documents the keys.
SPEC: dict[str, dict[str, Any]] = {
    "hcas": {"type": "int"},
    "link_layer": {"type": "str", "choices": list(LINK_LAYERS)},
    "rate_gbps": {"type": "float"},
    "firmware": {"type": "str"},
    "ignore": {"type": "list", "elements": "str", "default": []},
}
_TYPES = {"int": int, "float": float, "str": str}


class ExpectationError(ValueError):
    """The site's expectations cannot be understood; the message names the key."""


@dataclass(frozen=True)
class Expected:
    """One expected value and who expects it."""

    value: Any
    source: str


@dataclass(frozen=True)
class Expectations:
    """All that is expected of one host, by key, best source first."""

    values: dict[str, Expected] = field(default_factory=dict)
    ignore: list[str] = field(default_factory=list)

    def get(self, key: str) -> Expected | None:
        return self.values.get(key)

    def ignores(self, *names: str) -> bool:
        """Whether the inventory leaves out what goes by one of these names."""
        return not set(self.ignore).isdisjoint(names)


def from_inventory(raw: Mapping[str, Any] | None) -> Expectations:
    """Check and take over what the operator wrote; raises ExpectationError."""
    values: dict[str, Expected] = {}
    ignore: list[str] = []
    for key, value in (raw or {}).items():
        if key not in SPEC:
            raise ExpectationError(f"expect.{key} is not known; known are {', '.join(SPEC)}")
        if key == "ignore":
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise ExpectationError(f"expect.ignore must be a list of names, not {value!r}")
            ignore = list(value)
            continue
        values[key] = Expected(_convert(key, value), INVENTORY)
    return Expectations(values, ignore)


def with_fleet(own: Expectations, fleet: Mapping[str, Expected]) -> Expectations:
    """Add the fleet's majority for whatever nobody else expects anything of."""
    return Expectations({**fleet, **own.values}, own.ignore)


def _convert(key: str, value: Any) -> Any:
    kind = _TYPES[SPEC[key]["type"]]
    if isinstance(value, bool):
        raise ExpectationError(f"expect.{key} must be {kind.__name__}, not {value!r}")
    try:
        if kind is int and isinstance(value, float) and value != int(value):
            raise ValueError
        converted = kind(value)
    except (TypeError, ValueError):
        raise ExpectationError(f"expect.{key} must be {kind.__name__}, not {value!r}") from None
    if kind in (int, float) and not (converted > 0 and math.isfinite(converted)):
        raise ExpectationError(f"expect.{key} must be a number above 0, not {value!r}")
    if key == "link_layer" and converted not in LINK_LAYERS:
        raise ExpectationError(f"expect.link_layer must be one of {', '.join(LINK_LAYERS)}")
    return converted
