# SPDX-License-Identifier: GPL-3.0-or-later
"""What a firewall is to let through between the nodes: addresses of those of the inventory, and ports."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence, Tuple, Union

from ..._between.tcp.ports import LAST, Span

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
Spans = Tuple[Span, ...]
# A wider source is no list of nodes, whoever wrote it.
WIDEST = {4: 8, 6: 16}


class WantedError(ValueError):
    """A source or a port that is refused, with the next step."""


@dataclass(frozen=True)
class Wanted:
    """``sources``: addresses and networks, none inside another, in order. ``tcp`` and ``udp``:
    first and last port of spans that do not touch, in order."""

    sources: tuple[str, ...]
    tcp: Spans
    udp: Spans = ()

    def of_family(self, family: int) -> tuple[str, ...]:
        """The sources of IP version 4 or 6."""
        return tuple(source for source in self.sources if ipaddress.ip_network(source).version == family)

    @property
    def empty(self) -> bool:
        return not self.sources or not (self.tcp or self.udp)


def sources(given: Iterable[str]) -> tuple[str, ...]:
    """Each address once, and two halves as their whole; never wider than what was given."""
    found = [source(entry) for entry in given]
    return tuple(text(entry) for entry in collapsed(found))


def source(given: str) -> Network:
    """One address or network that may be let in; WantedError for what is no node's."""
    try:
        found = ipaddress.ip_network(given, strict=True)
    except ValueError as exc:
        raise WantedError(
            f"source {given!r} is neither an address nor a network: {exc}. Next: give an address,"
            " or a network by its first address"
        ) from exc
    if found.prefixlen < WIDEST[found.version]:
        raise WantedError(
            f"source {given!r} is wider than /{WIDEST[found.version]}: that opens the ports to"
            " everybody. Next: name the networks of the nodes"
        )
    first = found.network_address
    if first.is_loopback or first.is_multicast or first.is_unspecified or first.is_link_local:
        raise WantedError(
            f"source {given!r} is no address that another node comes from. Next: take it out, or"
            " set ibready_address of that host"
        )
    return found


def collapsed(networks: Iterable[Network]) -> list[Network]:
    """In order, version 4 first, none inside another."""
    known = list(networks)
    four = [entry for entry in known if isinstance(entry, ipaddress.IPv4Network)]
    six = [entry for entry in known if isinstance(entry, ipaddress.IPv6Network)]
    return [*ipaddress.collapse_addresses(four), *ipaddress.collapse_addresses(six)]


def text(network: Network) -> str:
    """An address without its length, a network with it."""
    return str(network.network_address) if network.num_addresses == 1 else str(network)


def span(given: str) -> Span:
    """``22`` or ``30000-30100``; WantedError on anything else."""
    low, dash, high = given.strip().partition("-")
    ends = (low, high if dash else low)
    if not all(end.isdigit() and end.isascii() for end in ends):
        raise WantedError(f"port {given!r} is neither a port nor a range like 30000-30100")
    first, last = int(ends[0]), int(ends[1])
    if not 1 <= first <= last <= LAST:
        raise WantedError(f"port {given!r} is not between 1 and {LAST}, in order")
    return first, last


def merged(spans: Iterable[Span]) -> Spans:
    """The same ports in as few spans as there can be."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def words(spans: Spans, dash: str = "-") -> list[str]:
    """``["22", "32768-60999"]``."""
    return [str(first) if first == last else f"{first}{dash}{last}" for first, last in spans]


def told(wanted: Wanted | None) -> list[str]:
    """For people, one line each; [] for nothing."""
    if wanted is None or wanted.empty:
        return []
    ports = [f"{name} {', '.join(words(spans))}" for name, spans in (("tcp", wanted.tcp), ("udp", wanted.udp)) if spans]
    return [*(f"from {source}" for source in wanted.sources), *ports]


def merge_nodes(given: Any, known: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Node -> addresses. ``given``: node -> {addresses, complete}; ``known``: of the last run.

    A node that nobody could look at keeps what it had; one that the inventory no longer has goes.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(given):
        entry = given[name]
        if not isinstance(entry, Mapping) or not isinstance(entry.get("addresses"), list):
            raise WantedError(
                f"node {name!r} is not {{addresses: [...], complete: true}}. Next: give what"
                " ibready.cluster.firewall_nodes returns"
            )
        addresses = [str(address) for address in entry["addresses"]]
        before = [] if entry.get("complete") else list(known.get(name, ()))
        found[name] = sorted({*addresses, *before})
    return found
