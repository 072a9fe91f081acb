# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the links of a fabric and their error counters: facts in, checks out, no I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterable, Iterator, TypeVar

from ..._data.fabric_counters import CHECKS, COUNTERS, DAMAGE
from ..._data.ib_counters import NOT_THIS_LINK, QUERIED
from ..._expect.expectations import CAPABILITY
from ..._ground.check import FAIL, Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..._parse.iblinkinfo import NOT_SET_UP, NOT_TRAINED, Iblinkinfo, Port
from ..._parse.ibqueryerrors import ALL, Ibqueryerrors, Port as Counted
from .facts import NOT_ASKED, Answer

T = TypeVar("T")

FABRIC = "fabric"
_STATE = "fabric.link.state"
_TRAINING = "fabric.link.training"
_WIDTH = "fabric.link.width"
_SPEED = "fabric.link.speed"
_SATURATED = "fabric.counters.saturated"


def judged(
    ids: tuple[str, ...],
    tool: str,
    reading: Reading[Answer[T]],
    judge: Callable[[T], Iterable[Check]],
    *,
    of_absence: bool = False,
) -> list[Check]:
    """What ``judge`` makes of an answer; of one that is not complete, only what is wrong.

    ``of_absence``: a failure says that something is not there, which takes the whole of it.
    """
    if reading.missing:
        return [skipped(entry, FABRIC, NOT_ASKED) for entry in ids]
    answer = reading.value
    if answer is None:
        return [unknown(entry, FABRIC, reading.why) for entry in ids]
    if answer.facts is None:
        said = answer.errors[-1] if answer.errors else "no facts"
        return [unknown(entry, FABRIC, f"{tool} could not ask: {said}") for entry in ids]
    checks = list(judge(answer.facts))
    if not answer.incomplete:
        return checks
    return [
        check if check.result == FAIL and not of_absence else unknown(check.id, check.subject, answer.incomplete)
        for check in checks
    ]


def judge_links(reading: Reading[Answer[Iblinkinfo]]) -> list[Check]:
    """fabric.link.state, training, width and speed of every link; each link once."""
    return judged((_STATE, _TRAINING, _WIDTH, _SPEED), "iblinkinfo", reading, _links)


def _links(listed: Iblinkinfo) -> Iterator[Check]:
    ports = tuple(_one_end_each(listed.ports))
    total = f"{len(listed.ports)} ports"
    bad = [port for port in ports if port.state in NOT_SET_UP]
    for entry in bad:
        cause = f"the link is up, but no subnet manager has set it up: {entry.state}"
        yield failed(_STATE, _name(entry), entry.state, "Active or Down", CAPABILITY, cause=cause)
    if not bad:
        yield passed(_STATE, FABRIC, total, "Active or Down", CAPABILITY)
    bad = [port for port in ports if port.phys in NOT_TRAINED]
    for entry in bad:
        yield failed(_TRAINING, _name(entry), entry.phys, "LinkUp or no link", CAPABILITY)
    if not bad:
        yield passed(_TRAINING, FABRIC, total, "LinkUp or no link", CAPABILITY)
    yield from _slow(_WIDTH, ports, total, lambda port: (port.width or "?", port.could_be_width))
    yield from _slow(_SPEED, ports, total, lambda port: (f"{port.speed_gbps} Gbps", port.could_be_speed))


def _slow(
    check_id: str,
    ports: tuple[Port, ...],
    total: str,
    is_and_could: Callable[[Port], tuple[str, str]],
) -> Iterator[Check]:
    """Links that do less than both their ends could, which iblinkinfo itself points out."""
    bad = [port for port in ports if is_and_could(port)[1]]
    for entry in bad:
        now, best = is_and_could(entry)
        peer = f"{entry.peer.name}/{entry.peer.port}" if entry.peer else "the other end"
        cause = f"{_name(entry)} and {peer} could both do {best} and trained to {now}"
        yield failed(check_id, _name(entry), now, best, CAPABILITY, cause=cause)
    if not bad:
        yield passed(check_id, FABRIC, total, "what both ends can do", CAPABILITY)


def _one_end_each(ports: tuple[Port, ...]) -> Iterator[Port]:
    """Every link is listed from both its ends; the first one counts."""
    seen: set[tuple[tuple[int, int], ...]] = set()
    for port in ports:
        if port.peer is not None and port.lid and port.peer.lid:
            key = tuple(sorted([(port.lid, port.port), (port.peer.lid, port.peer.port)]))
            if key in seen:
                continue
            seen.add(key)
        yield port


def _name(port: Port) -> str:
    return f"{port.node or port.guid or f'LID {port.lid}'}/{port.port}"


def judge_counters(reading: Reading[Answer[Ibqueryerrors]]) -> list[Check]:
    """The error counters of every port, and those that have stopped counting."""
    answer = reading.value
    if answer is not None and answer.facts is not None and not answer.incomplete:
        failures = answer.facts.query_failures
        why = f"{failures} questions for counters were not answered" if failures else ""
        reading = Reading(replace(answer, incomplete=why))
    return judged((*CHECKS, _SATURATED), "ibqueryerrors", reading, _counters)


def _counters(report: Ibqueryerrors) -> Iterator[Check]:
    # A list, for nodes may share a name.
    ports = list(_single_ports(report))
    total = f"{report.ports_checked} ports" if report.ports_checked is not None else "listed ports"
    for check_id in CHECKS:
        bad = [(name, port, keys) for name, port in ports if (keys := _above(check_id, port))]
        for name, entry, keys in bad:
            yield _too_many(check_id, name, entry, keys)
        if not bad:
            yield passed(check_id, FABRIC, total, "few errors", CAPABILITY)
    # One that is full and stands still is history: the other would tell of new damage.
    blind = [name for name, port in ports if all(key in port.counters and _full(port, key) for key in DAMAGE)]
    for name in blind:
        observed = f"{', '.join(DAMAGE)} at the highest value"
        yield failed(_SATURATED, name, observed, "a counter of damage that can rise", CAPABILITY)
    if not blind:
        yield passed(_SATURATED, FABRIC, total, "a counter of damage that can rise", CAPABILITY)


def _above(check_id: str, port: Counted) -> list[str]:
    """The counters of this check that are higher than a port may show without being named."""
    return [
        key
        for key, value in port.counters.items()
        if key in COUNTERS and COUNTERS[key].check == check_id and value > COUNTERS[key].above
    ]


def _too_many(check_id: str, name: str, port: Counted, keys: list[str]) -> Check:
    remedies = {key: QUERIED[key].remedy if key in QUERIED else "" for key in keys}
    # What the link itself does before what others send over it.
    worst = max(keys, key=lambda key: (not remedies[key], port.counters[key] / (COUNTERS[key].above + 1)))
    not_here = NOT_THIS_LINK if remedies[worst] else ""
    return failed(
        check_id,
        name,
        ", ".join(f"{key} {_shown(port, key)}" for key in keys),
        "at most " + ", ".join(f"{key} {COUNTERS[key].above}" for key in keys),
        CAPABILITY,
        cause=f"{worst}: {not_here}{COUNTERS[worst].means}",
        remedy=remedies[worst],
    )


def _shown(port: Counted, key: str) -> str:
    value = port.counters[key]
    return f"{value} or more (saturated)" if _full(port, key) else str(value)


def _full(port: Counted, key: str) -> bool:
    """Whether the counter stands at the highest value of its field and counts no more."""
    if key not in COUNTERS:
        return False
    bits = 64 if key in port.wide else COUNTERS[key].bits
    return port.counters[key] == (1 << bits) - 1


def _single_ports(report: Ibqueryerrors) -> Iterator[tuple[str, Counted]]:
    """Every port by name; the sum over a switch only where none of its ports is listed."""
    for node in report.nodes:
        single = [port for port in node.ports if port.port != ALL]
        for entry in single or node.ports:
            yield f"{node.name or entry.guid}/{entry.port}", entry
