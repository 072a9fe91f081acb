# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who reached whom by TCP: all connections in, checks per host out, no I/O."""

from __future__ import annotations

from typing import Iterable, Mapping, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._checks import _tcp_text
from ansible_collections.ibready.cluster.plugins.module_utils._checks._blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.outcome import (
    BARRED,
    PROVED,
    UNRESOLVED,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.tried import Host, Try

RENDEZVOUS = "fabric.tcp.rendezvous"
RANGE = "fabric.tcp.range"
_UNTESTED = "mend what kept the ports from being tested, then verify again"

# A check's id and subject: what is judged together.
Key = Tuple[str, str]
LOCAL_PORTS: Key = (RANGE, "local ports")


def judge(hosts: Mapping[str, Host], tries: Iterable[Try], size: int) -> dict[str, list[Check]]:
    """Checks per host. ``size``: how many hosts the inventory has.

    What is wrong between two hosts is laid at the door of the one that takes part in most bad
    pairs; where two are equally likely, of the one that was connected to, for its firewall is the
    first to look at.
    """
    together: dict[Key, list[Try]] = {_rendezvous(p): [] for h in hosts.values() for p in h.ports}
    for one in tries:
        together.setdefault(LOCAL_PORTS if one.sample else _rendezvous(one.port), []).append(one)
    # The local ports last.
    together[LOCAL_PORTS] = together.pop(LOCAL_PORTS, [])
    checks: dict[str, list[Check]] = {name: [] for name in hosts}
    for key, tried in together.items():
        barred = _blamed(one for one in tried if one.outcome in BARRED)
        nameless = _blamed(one for one in tried if one.outcome == UNRESOLVED)
        for name, host in hosts.items():
            mine = [one for one in tried if name in (one.client, one.server)]
            if mine or key == LOCAL_PORTS or key in map(_rendezvous, host.ports):
                check = _not_judged(key, host, size) or _one(
                    key, name, host, mine, barred, nameless
                )
                checks[name].append(check)
    return checks


def _blamed(bad: Iterable[Try]) -> set[str]:
    """By pairs, however many of their ports it is."""
    return blame({(one.client, one.server) for one in bad}, asked_first=True)


def _rendezvous(port: int) -> Key:
    return RENDEZVOUS, f"port {port}"


def _not_judged(key: Key, host: Host, size: int) -> Check | None:
    """The skip where this was left out, None where it was not."""
    why = "one host: there is no other to reach" if size == 1 else host.off
    if not why and key == LOCAL_PORTS:
        why = host.no_range
    return skipped(*key, why) if why else None


def _one(
    key: Key, name: str, host: Host, mine: list[Try], barred: set[str], nameless: set[str]
) -> Check:
    what = _tcp_text.what(key[1], host.span if key == LOCAL_PORTS else None)
    bad = [one for one in mine if one.outcome in BARRED]
    if bad and name in barred:
        return failed(
            *key,
            _tcp_text.observed(name, bad, mine),
            "an answer",
            CAPABILITY,
            cause=_tcp_text.cause(name, what, bad),
            remedy=_tcp_text.remedy(name, what, bad, host.look),
        )
    if host.error:
        return unknown(*key, host.error, remedy=_UNTESTED)
    lost = [one for one in mine if one.outcome == UNRESOLVED]
    if lost and name in nameless:
        return unknown(*key, _tcp_text.unresolved(lost), remedy=_tcp_text.naming(lost))
    own = [one.untested for one in mine if one.untested and one.culprit == name]
    if own:
        return unknown(*key, own[0], remedy=_UNTESTED)
    if not any(one.outcome in PROVED for one in mine):
        return unknown(*key, _tcp_text.untested(mine), remedy=_UNTESTED)
    others = {one.culprit for one in mine if one.untested}
    others |= (barred | nameless) - {name}
    return passed(*key, _tcp_text.proved(name, host, mine, others), "an answer", CAPABILITY)
