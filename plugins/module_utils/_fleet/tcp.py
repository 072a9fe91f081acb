# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who reached whom by TCP, and say in an operator's words what was seen, why, and what to do; no I/O."""

from __future__ import annotations

from typing import Iterable, Mapping, Tuple

from .._between.tcp.tried import (
    BARRED,
    CONNECTED,
    DROPPED,
    OTHER,
    PROVED,
    REFUSED,
    SILENT,
    UNREACHABLE,
    UNRESOLVED,
    Host,
    Try,
)
from .._expect.expectations import CAPABILITY
from .._ground.check import Check, failed, passed, skipped, unknown
from .blame import blame, held

_SEEN = {
    DROPPED: "timed out",
    REFUSED: "refused",
    UNREACHABLE: "unreachable",
    SILENT: "connected but not answered",
    OTHER: "answered by something else",
}
# Whose firewall it is cannot be seen from outside; the host's own is likelier than one between.
_INWARD = {
    DROPPED: "a firewall drops new connections to TCP {what} of {host}: its own, or one between",
    REFUSED: "a firewall refuses TCP {what} of {host}, where ibready listened at that time: its "
    "own with a rule that rejects, or one between",
    UNREACHABLE: "a firewall rejects TCP {what} of {host} with an ICMP message, as firewalld's "
    "zones do, or there is no route to it",
    SILENT: "something between accepts connections in place of {host} and passes nothing on",
    OTHER: "the address of {host} leads elsewhere, or something between answers in its place",
}
_OUTWARD = {
    DROPPED: "a firewall drops what {host} sends to TCP {what} of others: its own, or one between",
    REFUSED: "a firewall refuses what {host} sends to TCP {what} of others: its own, or one between",
    UNREACHABLE: "{host} has no route to others, or a firewall rejects what it sends to their TCP {what} with an ICMP "
    "message",
    SILENT: "something between accepts the connections of {host} and passes nothing on",
    OTHER: "{host} resolves the names of others to wrong addresses, or something between answers in their place",
}
_ANY_LOOK = "`nft list ruleset` (or `iptables -S`, `firewall-cmd --list-all`)"
RENDEZVOUS = "fabric.tcp.rendezvous"
RANGE = "fabric.tcp.range"
_UNTESTED = "fix what kept the ports from being tested, then verify again"

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
    for attempt in tries:
        together.setdefault(LOCAL_PORTS if attempt.sample else _rendezvous(attempt.port), []).append(attempt)
    # The local ports last.
    together[LOCAL_PORTS] = together.pop(LOCAL_PORTS, [])
    checks: dict[str, list[Check]] = {name: [] for name in hosts}
    for key, tried in together.items():
        barred = _blamed(attempt for attempt in tried if attempt.outcome in BARRED)
        nameless = _blamed(attempt for attempt in tried if attempt.outcome == UNRESOLVED)
        for name, host in hosts.items():
            mine = [attempt for attempt in tried if name in (attempt.client, attempt.server)]
            if mine or key == LOCAL_PORTS or key in map(_rendezvous, host.ports):
                check = _not_judged(key, host, size) or _one(key, name, host, mine, barred, nameless)
                checks[name].append(check)
    return checks


def _blamed(bad: Iterable[Try]) -> set[str]:
    """By pairs, however many of their ports it is."""
    return blame({(attempt.client, attempt.server) for attempt in bad}, asked_first=True)


def _rendezvous(port: int) -> Key:
    return RENDEZVOUS, f"port {port}"


def _not_judged(key: Key, host: Host, size: int) -> Check | None:
    """The skip where this was left out, None where it was not."""
    why = "one host: there is no other to reach" if size == 1 else host.off
    if not why and key == LOCAL_PORTS:
        why = host.no_range
    return skipped(*key, why) if why else None


def _one(key: Key, name: str, host: Host, mine: list[Try], barred: set[str], nameless: set[str]) -> Check:
    what = _what(key[1], host.span if key == LOCAL_PORTS else None)
    bad = [attempt for attempt in mine if attempt.outcome in BARRED]
    if bad and name in barred:
        check = failed(
            *key,
            _observed(name, bad, mine),
            "an answer",
            CAPABILITY,
            cause=_cause(name, what, bad),
            remedy=_remedy(name, what, bad, host.look),
        )
        # That it reaches others says nothing of who reaches it.
        reached = (attempt.client for attempt in mine if attempt.outcome in PROVED and attempt.server == name)
        return held(check, name, (attempt.client for attempt in bad), reached)
    if host.error:
        return unknown(*key, host.error, remedy=_UNTESTED)
    lost = [attempt for attempt in mine if attempt.outcome == UNRESOLVED]
    if lost and name in nameless:
        return unknown(*key, _unresolved(lost), remedy=_naming(lost))
    own = [attempt.untested for attempt in mine if attempt.untested and attempt.culprit == name]
    if own:
        return unknown(*key, own[0], remedy=_UNTESTED)
    if not any(attempt.outcome in PROVED for attempt in mine):
        return unknown(*key, _untested(mine), remedy=_UNTESTED)
    others = {attempt.culprit for attempt in mine if attempt.untested}
    others |= (barred | nameless) - {name}
    return passed(*key, _proved(name, host, mine, others), "an answer", CAPABILITY)


def _what(subject: str, span: tuple[int, int] | None) -> str:
    """``port 29500``, or ``local ports 32768 to 60999`` where they are known."""
    return f"{subject} {span[0]} to {span[1]}" if span and span[1] else subject


def _observed(name: str, bad: list[Try], mine: list[Try]) -> str:
    """``timed out from node1, node3``; of local ports also on how many."""
    parts = []
    for inward in (True, False):
        for outcome in BARRED:
            these = [t for t in bad if t.outcome == outcome and (t.server == name) is inward]
            if not these:
                continue
            peers = _names(t.client if inward else t.server for t in these)
            text = f"{_SEEN[outcome]} {'from' if inward else 'to'} {peers}"
            if these[0].sample:
                tried = {t.port for t in mine if t.sample and (t.server == name) is inward}
                ports = sorted({t.port for t in these})
                shown = ", ".join(map(str, ports[:5])) + (", ..." if len(ports) > 5 else "")
                text += f" on {len(ports)} of {len(tried)} ports ({shown})"
            parts.append(text)
    return "; ".join(parts)


def _cause(name: str, of: str, bad: list[Try]) -> str:
    """Why most of the bad connections may have gone wrong."""
    inward, outcome = _mostly(name, bad)
    text = (_INWARD if inward else _OUTWARD)[outcome].format(what=of, host=name)
    said = sorted({attempt.said for attempt in bad if attempt.outcome == OTHER and attempt.said})
    return f"{text} ({'; '.join(said[:3])})" if outcome == OTHER and said else text


def _remedy(name: str, of: str, bad: list[Try], look: str) -> str:
    """Where to look, by one command, and what has to be there."""
    inward, outcome = _mostly(name, bad)
    peers = _names(attempt.client if inward else attempt.server for attempt in bad)
    if outcome == OTHER:
        return (
            f"compare that address with `ip -br addr` on {name if inward else peers}; fix the "
            f"names, or set ibready_address of {name if inward else peers}"
        )
    shown = f"`{look}`" if look else _ANY_LOOK
    if outcome == UNREACHABLE:
        who = peers if inward else name
        to = next((attempt.said.rpartition(": ")[0] for attempt in bad if _no_way(attempt)), "")
        asked = f"`ip route get {to}`" if to else "`ip route`"
        shown = f"{asked} on {who} and give it the route that is missing; where it has one, run {shown}"
    way = "in from all nodes" if inward else "out to all nodes"
    text = f"run {shown} on {name}: its rules have to let TCP {of} {way}; where they do, look at "
    text += f"what is between it and {peers} (ACLs, security groups)"
    if bad[0].sample:
        text += "; or narrow net.ipv4.ip_local_port_range to what is open"
    return text


def _unresolved(lost: list[Try]) -> str:
    """Who could not be resolved by whom."""
    pairs = sorted({(attempt.client, attempt.server, attempt.said) for attempt in lost})
    return "; ".join(f"{client} finds no address of {server}: {said}" for client, server, said in pairs)


def _naming(lost: list[Try]) -> str:
    """What to do about names."""
    servers = _names(attempt.server for attempt in lost)
    return (
        f"set ibready_address of {servers} to what other nodes reach it by, or let DNS or "
        f"/etc/hosts of {_names(attempt.client for attempt in lost)} name it"
    )


def _untested(mine: list[Try]) -> str:
    """Why nobody was reached, where it is not this host's fault."""
    others = sorted({f"{attempt.culprit}: {attempt.untested}" for attempt in mine if attempt.untested})
    if not others and mine:
        return "no other host was reached, for causes that are named there"
    return "; ".join(others) or "no other host took part (was there a --limit?)"


def _proved(name: str, host: Host, mine: list[Try], others: set[str]) -> str:
    """``all 4 pairs, at most 0.4 ms``, and what is not said by that."""
    good = [attempt for attempt in mine if attempt.outcome in PROVED]
    pairs = {(attempt.client, attempt.server) for attempt in mine}
    bad = {(attempt.client, attempt.server) for attempt in mine if attempt.outcome not in PROVED}
    text = f"{len(pairs - bad)} of {len(pairs)} pairs"
    if good[0].sample:
        ports = {attempt.port for attempt in mine if attempt.server == name}
        text += f", {len(ports)} ports of {host.span[0]} to {host.span[1]}" if ports else ""
    times = [attempt.ms for attempt in good if attempt.ms is not None]
    text += f", at most {max(times):g} ms" if times else ""
    held = {attempt.port for attempt in good if attempt.server == name and attempt.outcome == CONNECTED}
    text += "".join(f"; {host.held[port]} has it, so only the way is proved" for port in held)
    absent = {peer for pair in bad for peer in pair} & others
    return f"{text}; not with {_names(absent)} (told there)" if absent else text


def _no_way(attempt: Try) -> bool:
    return attempt.outcome == UNREACHABLE


def _mostly(name: str, bad: list[Try]) -> tuple[bool, str]:
    """Whether most were connections to this host, and what became of most.

    What the host itself says of its way out goes first: without a route nothing answers what comes in.
    """
    if any(_no_way(attempt) and attempt.client == name for attempt in bad):
        return False, UNREACHABLE
    inward = 2 * sum(attempt.server == name for attempt in bad) >= len(bad)
    these = [attempt.outcome for attempt in bad if (attempt.server == name) is inward]
    return inward, max(BARRED, key=these.count)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))
