# SPDX-License-Identifier: GPL-3.0-or-later
"""What smpquery and ibportstate print alike: blocks of ``Name:....value``, with a port's widths and speeds.

Source: infiniband-diags (smpquery.c, ibportstate.c) and libibmad (dump.c, fields.c) of rdma-core, read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .._ground.text import ParseError

PORT = "Port info"
FDR10 = "MLNX ext Port info"
KINDS = (PORT, "Port info Extended", "Node info", "Switch info", FDR10)
# A link that is up in one of these has no routes, so it carries no data.
NOT_SET_UP = ("Initialize", "Armed")

_HEADER = re.compile(rf"# ({'|'.join(KINDS)}): (.{{1,200}}?)(?: port ([0-9]{{1,3}}))?")
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,40}):\.{1,40}([^.].{0,200})")
_CAPABILITY = re.compile(r"Is[A-Z][A-Za-z0-9]{1,60}")
_WIDTH = re.compile(r"\b([0-9]{1,2})X\b")
_SPEED = re.compile(r"\b([0-9]{1,4}(?:\.[0-9]{1,6})?) Gbps")
_NUMBER = re.compile(r"[0-9]{1,10}")
_FDR10_GBPS = 10.3125
# What each answer begins with.
_FIRST = {
    "Mkey": PORT,
    "GidPrefix": PORT,
    "LinkState": PORT,
    "BaseVers": "Node info",
    "LinearFdbCap": "Switch info",
}


@dataclass(frozen=True)
class Block:
    """One answer. ``target`` is as the tool writes it, ``Lid 2``; ``port`` is None where it names none."""

    kind: str
    target: str
    port: int | None
    values: dict[str, str] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The port, or the node, for people."""
        if not self.target:
            return "the port"
        return self.target if self.port is None else f"{self.target} port {self.port}"

    def number(self, name: str) -> int | None:
        """A value that is a number; None where it is another, or there is none."""
        value = self.values.get(name, "")
        return int(value) if _NUMBER.fullmatch(value) else None


class Opened:
    """A block that is being read."""

    def __init__(self, kind: str, target: str, port: int | None) -> None:
        self.kind = kind
        self.target = target
        self.port = port
        self.values: dict[str, str] = {}
        self.capabilities: list[str] = []

    def take(self, tool: str, line_no: int, line: str) -> bool:
        """Whether the line belongs to the block; raises ParseError where it contradicts an earlier line."""
        found = _FIELD.fullmatch(line)
        if found is None:
            if _CAPABILITY.fullmatch(line) is None:
                return False
            self.capabilities.append(line)
            return True
        if self.values.setdefault(found.group(1), found.group(2)) != found.group(2):
            raise ParseError(tool, line_no, line, "contradicts an earlier line of this block")
        return True

    def closed(self) -> Block:
        """The block as it was read."""
        return Block(self.kind, self.target, self.port, self.values, tuple(dict.fromkeys(self.capabilities)))


def headless(line: str) -> Opened | None:
    """The block of an answer without its header, by its first line; None where the line begins none."""
    found = _FIELD.fullmatch(line)
    kind = None if found is None else _FIRST.get(found.group(1))
    return None if kind is None else Opened(kind, "", None)


def opened(line: str) -> Opened | None:
    """The block that a header opens; None where the line is no header."""
    found = _HEADER.fullmatch(line)
    if found is None:
        return None
    return Opened(found.group(1), found.group(2), None if found.group(3) is None else int(found.group(3)))


@dataclass(frozen=True)
class Link:
    """A port's widths, ``4X``, and its speeds in Gb/s a lane, lowest first.

    ``*_active`` is "" or None where the text does not tell, or tells it in a code that nobody knows.
    """

    width_supported: tuple[str, ...] = ()
    width_enabled: tuple[str, ...] = ()
    width_active: str = ""
    speed_supported: tuple[float, ...] = ()
    speed_enabled: tuple[float, ...] = ()
    speed_active: float | None = None

    def facts(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "width": {
                "supported": list(self.width_supported),
                "enabled": list(self.width_enabled),
                "active": self.width_active,
            },
            "speed_gbps": {
                "supported": list(self.speed_supported),
                "enabled": list(self.speed_enabled),
                "active": self.speed_active,
            },
        }


def link(block: Block, fdr10: Block | None = None) -> Link:
    """Width and speed of a port; ``fdr10``: the block of Mellanox's own speed behind it."""
    width = block.values.get("LinkWidthActive", "")
    return Link(
        _widths(block.values.get("LinkWidthSupported", "")),
        _widths(block.values.get("LinkWidthEnabled", "")),
        width if _WIDTH.fullmatch(width) else "",
        _speeds(block, fdr10, "Supported"),
        _speeds(block, fdr10, "Enabled"),
        _active(block, fdr10),
    )


def _widths(text: str) -> tuple[str, ...]:
    return tuple(f"{lanes}X" for lanes in sorted({int(lanes) for lanes in _WIDTH.findall(text)}))


def _speeds(block: Block, fdr10: Block | None, which: str) -> tuple[float, ...]:
    names = (f"LinkSpeed{which}", f"LinkSpeedExt{which}", f"LinkSpeedExt{which}2")
    found = {float(speed) for name in names for speed in _SPEED.findall(block.values.get(name, ""))}
    if fdr10 is not None and _is_on(fdr10, which):
        found.add(_FDR10_GBPS)
    return tuple(sorted(found))


def _active(block: Block, fdr10: Block | None) -> float | None:
    """The fastest kind of speed that is active tells it; the others then show what means nothing."""
    for name in ("LinkSpeedExtActive2", "LinkSpeedExtActive"):
        value = block.values.get(name, "No Extended Speed")
        if value.startswith("No Extended Speed"):
            continue
        found = _SPEED.fullmatch(value)
        return None if found is None else float(found.group(1))
    if fdr10 is not None and _is_on(fdr10, "Active"):
        return _FDR10_GBPS
    found = _SPEED.fullmatch(block.values.get("LinkSpeedActive", ""))
    return None if found is None else float(found.group(1))


def _is_on(fdr10: Block, which: str) -> bool:
    """Whether the bit of FDR10 is set."""
    value = fdr10.values.get(f"LinkSpeed{which}", "")
    return re.fullmatch(r"0x[0-9a-fA-F]{1,8}", value) is not None and int(value, 16) & 1 == 1


def state_wrong(block: Block) -> tuple[str, ...]:
    """A link that is up without routes, or that does not get up."""
    state, phys = block.values.get("LinkState", ""), block.values.get("PhysLinkState", "")
    if state in NOT_SET_UP and phys == "LinkUp":
        return (f"{block.label} is {state} with its link up: no subnet manager set it up",)
    if phys == "LinkErrorRecovery":
        return (f"{block.label} is in {phys}: its link fails again and again",)
    return ()


def slower(label: str, here: Link, there: Link) -> tuple[str, ...]:
    """What the link does less than both of its ends support and have enabled, as the tool itself compares them."""
    found = []
    widths = [width for width in _width_of(here) if width in _width_of(there)]
    if here.width_active and widths and _lanes(here.width_active) < _lanes(widths[-1]):
        found.append(f"{label} runs at {here.width_active} where both ends support {widths[-1]}")
    speeds = [speed for speed in _speed_of(here) if speed in _speed_of(there)]
    if here.speed_active is not None and speeds and here.speed_active < speeds[-1]:
        slow, fast = f"{here.speed_active:.9g} Gb/s a lane", f"{speeds[-1]:.9g} Gb/s a lane"
        found.append(f"{label} runs at {slow} where both ends support {fast}")
    return tuple(found)


_Kind = TypeVar("_Kind", str, float)


def _allowed(supported: tuple[_Kind, ...], enabled: tuple[_Kind, ...]) -> tuple[_Kind, ...]:
    return tuple(one for one in supported if not enabled or one in enabled)


def _width_of(link_of: Link) -> tuple[str, ...]:
    return _allowed(link_of.width_supported, link_of.width_enabled)


def _speed_of(link_of: Link) -> tuple[float, ...]:
    return _allowed(link_of.speed_supported, link_of.speed_enabled)


def _lanes(width: str) -> int:
    return int(width[:-1])
