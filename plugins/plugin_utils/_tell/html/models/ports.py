# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports of one host that are rails: state, rate and GID, and what the checks say of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .....module_utils._ground.check import PASS, SKIP, UNKNOWN
from .....module_utils._parse.gid import ROUTABLE
from .....module_utils._rails.roce_ports import ROCE_V2
from ...._ground.dicts import as_dict, as_list
from . import fleet, judged
from .text import brief, number

# Checks of ports; those that tell of state, rate and address; those that prove that one looked.
_AREAS = ("ib.port.", "roce.")
_ABOUT = (
    *("ib.port.state", "ib.port.physical_state", "ib.port.rate", "ib.port.link_layer"),
    *("ib.port.lid", "ib.port.sm", "ib.port.guid", "ib.port.pkey", "ib.port.mtu"),
    *("roce.port.", "roce.netdev.", "roce.gid."),
)
_ROCE = "roce.port.state"
_PROOF = ("ib.port.state", _ROCE)
# What is alike on several ports is told of this one.
_ALL = "host"


@dataclass(frozen=True)
class Port:
    """``look``: a word of judged.ORDER. ``odd``: it is unlike those of most equal hosts.

    ``rate``: Gb/s as text, "" where unknown. ``gid``: of RoCE, which address jobs take; of
    InfiniBand "", for the GUID (``own``) is each port's own. ``why``: of the worst check.
    """

    look: str = judged.NOT_LOOKED
    state: str = ""
    rate: str = ""
    gid: str = ""
    own: str = ""
    odd: bool = False
    why: str = ""

    @property
    def signature(self) -> tuple[str, ...]:
        """What has to be alike on equal hosts."""
        return (self.state, self.rate, self.gid)


def ports(host: fleet.Seen) -> dict[str, Port]:
    """The ports that are judged, by name: one that somebody set apart is no rail."""
    checks = judged.by_subject(host.checks, _AREAS)
    every = dict(_told(host))
    found = {}
    for name, (state, rate, gid, own) in every.items():
        mine = _judged(checks, name)
        # Of a host of which no port was judged all are shown.
        if mine or not any(other in checks for other in every):
            look = judged.word(mine, _PROOF)
            found[name] = Port(look, state, rate, gid, own, why=brief(judged.why(mine)))
    return found


def _judged(checks: Mapping[str, list[judged.Said]], name: str) -> list[judged.Said]:
    """The checks that tell of this port; [] for one that is no rail.

    A failure is always told of its port, while what nobody could look at may be told of all.
    """
    mine = checks.get(name, ())
    found = [entry for entry in mine if entry.get("result") not in (SKIP, UNKNOWN) or _is_about(entry)]
    found = [item for item in found if item.get("result") != SKIP]
    every = checks.get(_ALL, ())
    if any(entry.get("id") in _PROOF and _ROCE in str(entry.get("cause")) for entry in mine):
        found += [entry for entry in every if entry.get("id") == _ROCE and entry.get("result") == PASS]
    if found:
        found += [entry for entry in every if entry.get("result") == UNKNOWN and _is_about(entry)]
    return found


def _is_about(said: judged.Said) -> bool:
    return str(said.get("id")).startswith(_ABOUT)


def _told(host: fleet.Seen) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """State, rate, GID and GUID by name."""
    roce = as_list(as_dict(host.area("roce").get("ports")).get("value"))
    gids = {f"{entry.get('device')}/{entry.get('num')}": _gid(entry) for entry in map(as_dict, roce)}
    for ca in host.cas:
        for port in map(as_dict, as_list(ca.get("ports"))):
            name = brief(f"{ca.get('name')}/{port.get('num')}", 40)
            rate = number(port.get("rate"))
            yield (
                name,
                (
                    brief(port.get("state") or "", 20),
                    "" if rate is None else f"{rate:g}",
                    gids.get(name, ""),
                    brief(port.get("port_guid") or "", 24),
                ),
            )


def _gid(port: Mapping[str, Any]) -> str:
    """The first address that RoCE v2 can reach others with: ``3 IPv4``; ``?`` where not told."""
    reported = as_dict(port.get("gids"))
    if reported.get("value") is None:
        return "?"
    for entry in map(as_dict, as_list(reported["value"])):
        if entry.get("type") == ROCE_V2 and entry.get("kind") in ROUTABLE:
            return brief(f"{entry.get('index')} {entry.get('kind')}", 20)
    return "-"
