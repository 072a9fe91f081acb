# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ports of this host to ask, where nobody says: one for each fabric that they see."""

from __future__ import annotations

import os
from typing import List, Tuple

from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._parse import ibstat, sminfo
from ..._rails.ib_ports import is_infiniband, port_name

Ports = List[Tuple[str, int]]
_FIRST = "ibnetdiscover"


def live(evidence: Evidence) -> Ports:
    """Ports with a link, one a fabric: two that are told of one subnet manager are on the same.

    None on a host without InfiniBand. Raises Unavailable where ibstat cannot tell, or no port of
    it has a link.
    """
    mine = _infiniband(evidence)
    found: Ports = []
    seen = set()
    for ca, port in mine:
        if port.physical_state != "LinkUp":
            continue
        answer = ask.command(evidence, "sminfo", sminfo.parse, "-C", ca.name, "-P", str(port.num))
        manager = answer.value.guid if answer.value is not None else None
        if manager is None or manager not in seen:
            found.append((ca.name, port.num))
            seen.add(manager)
    if mine and not found:
        states = (f"{port_name(ca, port)} is {port.physical_state or port.state}" for ca, port in mine)
        raise Unavailable("ibstat", f"no link to ask through: {', '.join(states)}")
    return found


def recorded(evidence: Evidence, directory: str) -> Ports:
    """Ports that a bundle has a discovery of; ("", 0) for one of no port in particular.

    Raises Unavailable where it has none, unless its host has no InfiniBand.
    """
    try:
        names = sorted(os.listdir(os.path.join(directory, "commands")))
    except OSError as exc:
        raise Unavailable("commands", (exc.strerror or str(exc)).lower()) from exc
    found: Ports = [("", 0)] if _FIRST in names else []
    for name in names:
        device, _dash, port = name.partition(f"{_FIRST}@")[2].rpartition("-")
        if device and port.isdigit():
            found.append((device, int(port)))
    if not found and _infiniband(evidence):
        raise Unavailable(_FIRST, "not in the bundle")
    return found


def _infiniband(evidence: Evidence) -> list[tuple[ibstat.Ca, ibstat.Port]]:
    reported = ask.command(evidence, "ibstat", ibstat.parse, ok=None)
    if reported.value is None:
        raise Unavailable("ibstat", reported.why.replace("ibstat: ", "", 1))
    return [(ca, port) for ca in reported.value.cas for port in ca.ports if is_infiniband(port)]
