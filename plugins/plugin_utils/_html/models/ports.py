# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports of one host that are rails: state, rate and GID, and what the checks say of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    PASS,
    SKIP,
    UNKNOWN,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import ROCE_V2
from ansible_collections.ibready.cluster.plugins.module_utils._parse.gid import ROUTABLE
from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import as_dict, as_list
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import fleet, judged
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models.text import brief, number

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
    found = [one for one in mine if one.get("result") not in (SKIP, UNKNOWN) or _is_about(one)]
    found = [one for one in found if one.get("result") != SKIP]
    every = checks.get(_ALL, ())
    if any(one.get("id") in _PROOF and _ROCE in str(one.get("cause")) for one in mine):
        found += [one for one in every if one.get("id") == _ROCE and one.get("result") == PASS]
    if found:
        found += [one for one in every if one.get("result") == UNKNOWN and _is_about(one)]
    return found


def _is_about(one: judged.Said) -> bool:
    return str(one.get("id")).startswith(_ABOUT)


def _told(host: fleet.Seen) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """State, rate, GID and GUID by name."""
    roce = as_list(as_dict(host.area("roce").get("ports")).get("value"))
    gids = {f"{one.get('device')}/{one.get('num')}": _gid(one) for one in map(as_dict, roce)}
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
    told = as_dict(port.get("gids"))
    if told.get("value") is None:
        return "?"
    for one in map(as_dict, as_list(told["value"])):
        if one.get("type") == ROCE_V2 and one.get("kind") in ROUTABLE:
            return brief(f"{one.get('index')} {one.get('kind')}", 20)
    return "-"
