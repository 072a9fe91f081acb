# SPDX-License-Identifier: GPL-3.0-or-later
"""A sized fabric as a table for people."""

from __future__ import annotations

import textwrap
from typing import Iterator

from .size import Sizes

_WIDTH = 100


def lines(found: Sizes) -> list[str]:
    """What is printed."""
    head = f"{found.title}: {found.gpus} GPUs on {found.nodes} nodes, {found.network}"
    free = found.places - found.reserved - found.nodes
    rows = [
        (
            "nodes",
            f"{found.nodes}",
            f"{_many(found.units, 'unit')} of {found.unit_nodes}; {_many(free, 'place')} free{_reserved(found)}",
        ),
        ("", "", f"{found.node_gbps} Gb/s each, on links of {found.rate_gbps}"),
        *_switches(found),
        *((f"cables {tier}", f"{count}", "") for tier, count in found.cables.items() if count),
        ("oversubscription", f"{found.oversubscription:g}:1", "of a full leaf"),
        (
            "spare ports",
            "",
            ", ".join(f"{count} of {level}" for level, count in found.spare.items() if _has(found, level)),
        ),
    ]
    table = [f"  {name:<18}{count:>7}  {words}".rstrip() for name, count, words in rows]
    words = [found.published, *found.notes, f"source: {found.source} ({found.confidence})"]
    return [head, *table, *(line for entry in words for line in _wrapped(entry))]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _reserved(found: Sizes) -> str:
    return f", {found.reserved} taken by managers" if found.reserved else ""


def _has(found: Sizes, level: str) -> bool:
    return level != "core" or found.cores > 0


def _switches(found: Sizes) -> Iterator[tuple[str, str, str]]:
    planes = f" in {found.planes} planes" if found.planes > 1 else ""
    yield "leaves", f"{found.leaves}", f"of {found.radix} ports{planes}: {found.down} down, {found.uplinks} up"
    pods = f" in {found.pods} pods" if found.pods > 1 else ""
    up = f", {found.spine_uplinks} up" if found.cores else ""
    yield "spines", f"{found.spines}", f"{_many(found.pair_links, 'link')} of each leaf{pods}{up}"
    if found.cores:
        yield "cores", f"{found.cores}", f"{_many(found.core_links, 'link')} of each spine of its group"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
