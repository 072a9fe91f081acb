# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of connections: seen, cause and remedy, in an operator's words."""

from __future__ import annotations

from typing import Iterable

from ansible_collections.ibready.cluster.plugins.module_utils._tcp.outcome import (
    BARRED,
    CONNECTED,
    DROPPED,
    OTHER,
    PROVED,
    REFUSED,
    SILENT,
    UNREACHABLE,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp.tried import Host, Try

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
    REFUSED: "a firewall refuses what {host} sends to TCP {what} of others: its own, or one "
    "between",
    UNREACHABLE: "a firewall rejects what {host} sends to TCP {what} of others with an ICMP "
    "message, or {host} has no route to them",
    SILENT: "something between accepts the connections of {host} and passes nothing on",
    OTHER: "{host} resolves the names of others to wrong addresses, or something between answers "
    "in their place",
}
_ANY_LOOK = "`nft list ruleset` (or `iptables -S`, `firewall-cmd --list-all`)"


def what(subject: str, span: tuple[int, int] | None) -> str:
    """``port 29500``, or ``local ports 32768 to 60999`` where they are known."""
    return f"{subject} {span[0]} to {span[1]}" if span and span[1] else subject


def observed(name: str, bad: list[Try], mine: list[Try]) -> str:
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


def cause(name: str, of: str, bad: list[Try]) -> str:
    """Why most of the bad connections may have gone wrong."""
    inward, outcome = _mostly(name, bad)
    text = (_INWARD if inward else _OUTWARD)[outcome].format(what=of, host=name)
    said = sorted({one.said for one in bad if one.outcome == OTHER and one.said})
    return f"{text} ({'; '.join(said[:3])})" if outcome == OTHER and said else text


def remedy(name: str, of: str, bad: list[Try], look: str) -> str:
    """Where to look, by one command, and what has to be there."""
    inward, outcome = _mostly(name, bad)
    peers = _names(one.client if inward else one.server for one in bad)
    if outcome == OTHER:
        return (
            f"compare that address with `ip -br addr` on {name if inward else peers}; mend the "
            f"names, or set ibready_address of {name if inward else peers}"
        )
    shown = f"`{look}`" if look else _ANY_LOOK
    way = "in from all nodes" if inward else "out to all nodes"
    text = f"run {shown} on {name}: its rules have to let TCP {of} {way}; where they do, look at "
    text += f"what is between it and {peers} (ACLs, security groups)"
    if bad[0].sample:
        text += "; or narrow net.ipv4.ip_local_port_range to what is open"
    return text


def unresolved(lost: list[Try]) -> str:
    """Who could not be resolved by whom."""
    pairs = sorted({(one.client, one.server, one.said) for one in lost})
    return "; ".join(
        f"{client} finds no address of {server}: {said}" for client, server, said in pairs
    )


def naming(lost: list[Try]) -> str:
    """What to do about names."""
    servers = _names(one.server for one in lost)
    return (
        f"set ibready_address of {servers} to what other nodes reach it by, or let DNS or "
        f"/etc/hosts of {_names(one.client for one in lost)} name it"
    )


def untested(mine: list[Try]) -> str:
    """Why nobody was reached, where it is not this host's fault."""
    others = sorted({f"{one.culprit}: {one.untested}" for one in mine if one.untested})
    if not others and mine:
        return "no other host was reached, for causes that are named there"
    return "; ".join(others) or "no other host took part (was there a --limit?)"


def proved(name: str, host: Host, mine: list[Try], others: set[str]) -> str:
    """``all 4 pairs, at most 0.4 ms``, and what is not said by that."""
    good = [one for one in mine if one.outcome in PROVED]
    pairs = {(one.client, one.server) for one in mine}
    bad = {(one.client, one.server) for one in mine if one.outcome not in PROVED}
    text = f"{len(pairs - bad)} of {len(pairs)} pairs"
    if good[0].sample:
        ports = {one.port for one in mine if one.server == name}
        text += f", {len(ports)} ports of {host.span[0]} to {host.span[1]}" if ports else ""
    times = [one.ms for one in good if one.ms is not None]
    text += f", at most {max(times):g} ms" if times else ""
    held = {one.port for one in good if one.server == name and one.outcome == CONNECTED}
    text += "".join(f"; {host.held[port]} has it, so only the way is proved" for port in held)
    absent = {peer for pair in bad for peer in pair} & others
    return f"{text}; not with {_names(absent)} (told there)" if absent else text


def _mostly(name: str, bad: list[Try]) -> tuple[bool, str]:
    """Whether most were connections to this host, and what became of most."""
    inward = 2 * sum(one.server == name for one in bad) >= len(bad)
    these = [one.outcome for one in bad if (one.server == name) is inward]
    return inward, max(BARRED, key=these.count)


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))
