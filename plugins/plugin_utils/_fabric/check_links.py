# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether every cable is up, and as wide and fast as both its ends, and its like, can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._ground.check import Check, failed, skipped, unknown
from ...module_utils._parse.iblinkinfo import NOT_SET_UP, NOT_TRAINED, Port
from .model import LANE_GBPS, Cable, End, Fabric
from .say import majority, settled

STATE = "fabric.link.state"
TRAINING = "fabric.link.training"
WIDTH = "fabric.cable.width"
SPEED = "fabric.cable.speed"
GENERATION = "fabric.cable.generation"
LINK_CHECKS = (STATE, TRAINING, WIDTH, SPEED, GENERATION)
# What switch chips can do and no cable of today: 12X took connectors of twelve lanes (CXP).
_MOST = "4X"
_NO_CABLE = ("8X", "12X")


@dataclass(frozen=True)
class Usual:
    """What most cables between the same levels have; ``source``: "fleet n/m"."""

    width: str
    speed: str
    source: str


def judge(fabric: Fabric, partial: str) -> list[Check]:
    """Every check of LINK_CHECKS. ``partial``: why not every port was listed."""
    if not fabric.lines:
        why = partial or "iblinkinfo listed no port"
        return [unknown(link_check, fabric.name, why) for link_check in LINK_CHECKS]
    ends = f"{len(fabric.lines)} ports"
    cables = f"{len(fabric.cables)} cables"
    usual = usuals(fabric)
    if not fabric.cables:
        why = "no cable is up"
        slow: list[Check] = [skipped(entry, fabric.name, why) for entry in (WIDTH, SPEED, GENERATION)]
        return [*_states(fabric, ends, partial), *slow]
    return [
        *_states(fabric, ends, partial),
        *settled(
            *(WIDTH, fabric.name, list(_narrow(fabric, usual)), cables),
            "as many lanes as both ends have",
            partial=partial,
        ),
        *settled(*(SPEED, fabric.name, list(_slow(fabric)), cables), "as fast as both ends are", partial=partial),
        *settled(
            *(GENERATION, fabric.name, list(_old(fabric, usual)), cables),
            "as fast as most of their kind",
            partial=partial,
        ),
    ]


def usuals(fabric: Fabric) -> dict[tuple[str, str], Usual]:
    """Per pair of levels, what most of the cables between them have."""
    sorts: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for cable in fabric.cables:
        sorts.setdefault(sort_of(fabric, cable), []).append((cable.width, cable.speed))
    found = {}
    for sort, values in sorts.items():
        most = majority(values)
        if most is not None:
            (width, speed), times, total = most
            found[sort] = Usual(width, speed, f"fleet {times}/{total}")
    return found


def sort_of(fabric: Fabric, cable: Cable) -> tuple[str, str]:
    """The levels, or types, of both ends: cables of one sort are equal."""
    first, second = (fabric.nodes[end.guid] for end in (cable.a, cable.b))
    return first.level or first.type, second.level or second.type


def _states(fabric: Fabric, total: str, partial: str) -> list[Check]:
    seen: set[End] = set()
    idle, training = [], []
    for end, line in fabric.lines.items():
        bad = line.state in NOT_SET_UP or line.phys in NOT_TRAINED
        if not bad or fabric.far.get(end) in seen:
            continue
        seen.add(end)
        name = _both(fabric, end)
        if line.state in NOT_SET_UP:
            cause = f"the link is up, but no subnet manager has set it up: {line.state}"
            idle.append(failed(STATE, name, line.state, "Active", CAPABILITY, cause=cause))
        else:
            training.append(failed(TRAINING, name, line.phys, "LinkUp", CAPABILITY))
    return [
        *settled(STATE, fabric.name, idle, total, "Active or Down", partial=partial),
        *settled(TRAINING, fabric.name, training, total, "LinkUp or no link", partial=partial),
    ]


def _both(fabric: Fabric, end: End) -> str:
    """A link by its ends, in one order whoever looked: tools list from the asker outwards."""
    far = fabric.far.get(end)
    return " - ".join(map(fabric.end_name, sorted((end, far)) if far else (end,)))


def _narrow(fabric: Fabric, usual: Mapping[tuple[str, str], Usual]) -> Iterator[Check]:
    for cable in fabric.cables:
        could = _could(fabric, cable, "could_be_width")
        now = cable.width.upper()
        name = fabric.cable_name(cable)
        could = _MOST if could in _NO_CABLE else could
        if could and _lanes(now) < _lanes(could):
            cause = f"both ends can do {could} and trained to {now}: lanes of this cable are dead"
            yield failed(WIDTH, name, now, could, CAPABILITY, cause=cause)
            continue
        like = usual.get(sort_of(fabric, cable))
        if like is not None and _lanes(cable.width) < _lanes(like.width):
            cause = "fewer lanes than the other cables of its kind: some of this cable are dead"
            yield failed(WIDTH, name, now, like.width.upper(), like.source, cause=cause)


def _slow(fabric: Fabric) -> Iterator[Check]:
    for cable in fabric.cables:
        could = _could(fabric, cable, "could_be_speed")
        if could:
            name = fabric.cable_name(cable)
            line = _line(fabric, cable)
            now = f"{line.speed_gbps:g} Gbps" if line and line.speed_gbps else cable.speed
            cause = f"both ends can do {could} a lane and trained to {now} ({cable.speed})"
            yield failed(SPEED, name, f"{now} a lane", f"{could} a lane", CAPABILITY, cause=cause)


def _old(fabric: Fabric, usual: Mapping[tuple[str, str], Usual]) -> Iterator[Check]:
    """Slower than its kind, though an end can do no more: what runs over it is slowed."""
    for cable in fabric.cables:
        like = usual.get(sort_of(fabric, cable))
        if like is None or _could(fabric, cable, "could_be_speed"):
            continue
        if 0 < _lane(cable.speed) < _lane(like.speed):
            first, second = fabric.end_name(cable.a), fabric.end_name(cable.b)
            cause = f"{first} or {second} can do {cable.speed} at most: an older generation"
            yield failed(*(GENERATION, fabric.cable_name(cable), cable.speed, like.speed, like.source), cause=cause)


def _line(fabric: Fabric, cable: Cable) -> Port | None:
    return fabric.lines.get(cable.a) or fabric.lines.get(cable.b)


def _could(fabric: Fabric, cable: Cable, what: str) -> str:
    """What iblinkinfo says that both ends could do more; it says so at either end."""
    for end in (cable.a, cable.b):
        line = fabric.lines.get(end)
        if line is not None and getattr(line, what):
            return str(getattr(line, what))
    return ""


def _lanes(width: str) -> int:
    text = width.rstrip("xX")
    return int(text) if text.isdigit() else 99


def _lane(speed: str) -> float:
    return LANE_GBPS.get(speed, 0.0)
