# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ports of this host to ask, where nobody says: one for each fabric that they see."""

from __future__ import annotations

import os
from typing import List, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import is_infiniband
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibstat, sminfo

Ports = List[Tuple[str, int]]
_FIRST = "ibnetdiscover"


def live(evidence: Evidence) -> Ports:
    """Ports with a link, one a fabric: two that are told of one subnet manager are on the same.

    Raises Unavailable where ibstat cannot tell.
    """
    told = _ask.command(evidence, "ibstat", ibstat.parse, ok=None)
    if told.value is None:
        raise Unavailable("ibstat", told.why.replace("ibstat: ", "", 1))
    found: Ports = []
    seen = set()
    for ca in told.value.cas:
        for port in ca.ports:
            if not is_infiniband(port) or port.physical_state != "LinkUp":
                continue
            answer = _ask.command(
                evidence, "sminfo", sminfo.parse, "-C", ca.name, "-P", str(port.num)
            )
            manager = answer.value.guid if answer.value is not None else None
            if manager is None or manager not in seen:
                found.append((ca.name, port.num))
                seen.add(manager)
    return found


def recorded(directory: str) -> Ports:
    """Ports that a bundle has a discovery of; ("", 0) for one of no port in particular."""
    try:
        names = sorted(os.listdir(os.path.join(directory, "commands")))
    except OSError as exc:
        raise Unavailable("commands", (exc.strerror or str(exc)).lower()) from exc
    found: Ports = [("", 0)] if _FIRST in names else []
    for name in names:
        device, _dash, port = name.partition(f"{_FIRST}@")[2].rpartition("-")
        if device and port.isdigit():
            found.append((device, int(port)))
    return found
