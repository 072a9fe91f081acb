# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the name that a host gives itself, and whether its name service knows it."""

from __future__ import annotations

import re
from dataclasses import replace

from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.reading import Reading
from ..._ground.text import flat_lines
from ..._parse import getent_ahosts, ip_addr
from .facts_machine import NameFacts

NAME = "/proc/sys/kernel/hostname"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
# getent(1): one or more of the keys could not be found.
_NOT_FOUND = 2


def observe(evidence: Evidence) -> NameFacts:
    """One lookup, as programs make it: /etc/hosts, DNS, whatever nsswitch.conf has; and what the host holds."""
    found = _looked_up(evidence)
    held = ask.command(evidence, "ip_addr", ip_addr.parse)
    local = held.map(lambda every: tuple(address.local for one in every for address in one.addresses))
    return replace(found, held=local)


def _looked_up(evidence: Evidence) -> NameFacts:
    own = ask.text(evidence, NAME)
    if own.value is None:
        return NameFacts(own, Reading(None, own.why, own.missing))
    if _NAME.fullmatch(own.value) is None:
        return NameFacts(own, Reading(None, f"{own.value[:60]!r} is no host's name"))
    try:
        output = evidence.run("getent_ahosts", own.value)
    except Unavailable as exc:
        return NameFacts(own, Reading(None, str(exc)))
    if output.rc == _NOT_FOUND:
        return NameFacts(own, Reading(()))
    # Each address has three lines, of which that of raw sockets comes last.
    if output.rc == 0 and flat_lines(output.stdout)[-1:] and " RAW" not in flat_lines(output.stdout)[-1]:
        return NameFacts(own, Reading(None, "getent_ahosts: the output ends early"))
    return NameFacts(own, ask.command(evidence, "getent_ahosts", getent_ahosts.parse, own.value))
