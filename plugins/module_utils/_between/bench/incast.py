# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the counters of this node's RoCE ports before and after an incast, and watch one port fill."""

from __future__ import annotations

import posixpath
import re
import time
from typing import Any, Callable, Iterator, Sequence

from ..._areas.ib import observe_roce
from ..._areas.ib.sysfs import BASE
from ..._data.incast import DATA, DATA_BYTES, by_ethtool, hw, names_of
from ..._data.roce_counters import ETHTOOL, ETHTOOL_DRIVER, HW, LAST_LINES
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground import unit as _unit
from ..._parse import ethtool_stats

_COUNT = re.compile(r"[0-9]{1,20}")
_EVERY_S = 1.0
_HW, _ETHTOOL = hw(), frozenset(by_ethtool())


def look(evidence: Evidence, device: str, port: int) -> dict[str, Any]:
    """``values``: every counter that tells of loss, pauses, marks and CNPs, by name; ``driver``; ``why``: why there
    are none."""
    driver = _driver(evidence, device)
    try:
        return {"driver": driver, "values": dict(_values(evidence, device, port, driver)), "why": ""}
    except ValueError as exc:
        return {"driver": driver, "values": {}, "why": str(exc)}


def watch(
    evidence: Evidence,
    device: str,
    port: int,
    limit: float,
    busy: Callable[[], bool],
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[list[float]]:
    """[seconds, bytes received by RDMA], every second until ``busy`` says no or ``limit`` is over; none where the port
    does not tell, which ends nothing: the servers are still needed."""
    begun = clock()
    found: list[list[float]] = []
    while True:
        got = received(evidence, device, port)
        if got is not None:
            found.append([round(clock() - begun, 3), got])
        if clock() - begun >= limit or not busy():
            return found
        sleep(_EVERY_S)


def received(evidence: Evidence, device: str, port: int) -> int | None:
    """Bytes that the port received by RDMA; None where it does not tell."""
    base = f"{BASE}/{device}/ports/{port}"
    words = _number(ask.text(evidence, f"{base}/{DATA}").value)
    if words is not None:
        return words * DATA_BYTES
    for name in names_of(_driver(evidence, device)).received:
        got = _number(ask.text(evidence, f"{base}/{HW}/{name}").value)
        if got is not None:
            return got
    return None


def serving(run: _unit.Run, units: Sequence[str]) -> bool:
    """Whether one of these servers still runs."""
    return any(_unit.active(run, name) for name in units)


def _driver(evidence: Evidence, device: str) -> str:
    return posixpath.basename(ask.link(evidence, f"{BASE}/{device}/device/driver").value or "")


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _COUNT.fullmatch(text) else None


def _values(evidence: Evidence, device: str, port: int, driver: str) -> Iterator[tuple[str, int]]:
    """Raises ValueError where a counter that is there cannot be read."""
    base = f"{BASE}/{device}/ports/{port}/{HW}"
    listed = ask.names(evidence, base)
    if listed.value is None and not listed.missing:
        raise ValueError(listed.why)
    for name in _HW:
        if name in (listed.value or ()):
            text = ask.text(evidence, f"{base}/{name}")
            got = _number(text.value)
            if got is None:
                raise ValueError(text.why or f"{base}/{name}: {(text.value or '')[:40]!r} is no number")
            yield name, got
    for netdev in _netdev(evidence, device, port):
        # It comes with the distribution's ethtool, which a host need not have.
        shown = ask.optional(evidence, "ethtool_stats", ethtool_stats.parse, netdev)
        if shown.value is None and not shown.missing:
            raise ValueError(shown.why)
        told = shown.value or {}
        if told and driver == ETHTOOL_DRIVER and not any(name.startswith(LAST_LINES) for name in told):
            raise ValueError("ethtool -S: it shows no channels, which come last: the output was cut")
        for name, value in told.items():
            if f"{ETHTOOL} {name}" in _ETHTOOL:
                yield f"{ETHTOOL} {name}", value


def _netdev(evidence: Evidence, device: str, port: int) -> list[str]:
    """The interface of this port, none where its function has none. Raises ValueError where nobody can tell."""
    own = observe_roce.port_netdev(evidence, f"{BASE}/{device}", port)
    if own.value is None and not own.missing:
        raise ValueError(own.why)
    return [own.value] if own.value else []
