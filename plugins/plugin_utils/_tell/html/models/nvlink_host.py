# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVLinks of one host, as its facts tell them; whatever has another shape is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .....module_utils._ground.check import FAIL, UNKNOWN
from ...._ground.dicts import as_dict, as_list
from . import fleet
from .text import brief, number

STATE = "nvlink.link.state"
# While these pass, a link that is down is one that the board does not use.
_MINDS = (STATE, "nvlink.link.count")

# By GPU: how many links are up, and which are down.
Links = Mapping[str, tuple[int, tuple[int, ...]]]


def links(host: fleet.Seen) -> Links:
    """Those of every GPU; {} where nobody looked, or there is none."""
    found = {}
    for entry in map(as_dict, as_list(host.area("nvlink").get("links"))):
        active = number(entry.get("active"))
        if active is None or not 0 <= active <= 1024:
            continue
        down = [number(link) for link in as_list(entry.get("down"))]
        numbers = tuple(int(link) for link in down if link is not None and 0 <= link < 1024)
        found[_gpu(entry)] = (int(active), numbers)
    return found


def errors(host: fleet.Seen) -> list[tuple[str, str, str]]:
    """GPU, link, and what was counted there."""
    found: dict[tuple[str, str], list[str]] = {}
    for entry in map(as_dict, as_list(host.area("nvlink").get("errors"))):
        key = (_gpu(entry), brief(entry.get("link"), 12))
        found.setdefault(key, []).append(f"{entry.get('counter')} {entry.get('value')}")
    return [(*key, brief(", ".join(said), 100)) for key, said in found.items()]


def pairs(host: fleet.Seen) -> dict[str, str]:
    """How each two GPUs are joined: ``GPU0-GPU1`` by ``NV18``."""
    reported = as_dict(host.area("nvlink").get("pairs"))
    return {brief(pair, 30): brief(relation, 20) for pair, relation in reported.items()}


def minded(host: fleet.Seen) -> bool:
    """Whether a check of its links failed, or could not be made."""
    mine = [check.get("result") for check in host.checks if check.get("id") in _MINDS]
    return not mine or FAIL in mine or UNKNOWN in mine


def _gpu(told: Mapping[str, Any]) -> str:
    return "?" if told.get("gpu") is None else brief(told["gpu"], 12)
