# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the lines of one rank, or of a whole log, tell, and decide what follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ._nccl_events import (
    ASSIGNED,
    BEGUN,
    BOOTSTRAP,
    CHANNEL,
    CLIQUE,
    COLLNET,
    COLLNET_OFF,
    COLLNET_PLUGIN,
    COMPLETE,
    DRIVER,
    FABRIC,
    GDR_HCA,
    HCA,
    HCAS,
    HINT,
    LINK,
    NETWORK,
    NO_IB,
    NODES,
    NVLS,
    OOB,
    P2P,
    PLUGIN,
    PROVIDER,
    RANK,
    REFUSED,
    RINGS,
    SETTING,
    SHM,
    SOCKETS,
    STARTED,
    USED_HCA,
    VERSION,
    Channel,
    Event,
)
from ._nccl_facts import IB, NONE, ROCE, SOCKET, Evidence, Fabric, Hca, Interface
from .version_text import numbers

# InfiniBand verbs, NCCL's own or those of a plugin: IB, IBext, IBext_v8.
_VERBS = re.compile(r"IB\w{0,20}")
# Up to then the Socket transport said what it had even where another one was used.
_ONLY_WHERE_USED = (2, 5)
# The network that was chosen last is the one in use.
_LAST_COUNTS = (NETWORK, CHANNEL, ASSIGNED)


@dataclass
class Seen:
    """What was told so far: the values of each event in order, each once; channels counted."""

    values: dict[int, dict[Any, None]] = field(default_factory=dict)
    channels: dict[tuple[str, bool, bool], int] = field(default_factory=dict)
    peers: set[int] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Add one event."""
        if event.name == CHANNEL:
            entry: Channel = event.value
            key = (entry.network, entry.receives, entry.gdr)
            self.channels[key] = self.channels.get(key, 0) + 1
            if entry.peer is not None:
                self.peers.add(entry.peer)
        mine = self.values.setdefault(event.name, {})
        value = event.value.network if event.name == CHANNEL else event.value
        if event.name in _LAST_COUNTS:
            mine.pop(value, None)
        mine[value] = None

    def add(self, other: Seen) -> None:
        """Add all that another one has seen."""
        for name, values in other.values.items():
            self.values.setdefault(name, {}).update(values)
        for key, count in other.channels.items():
            self.channels[key] = self.channels.get(key, 0) + count
        self.peers |= other.peers

    def all(self, name: int) -> list[Any]:
        return list(self.values.get(name, ()))

    def last(self, name: int) -> Any:
        found = self.all(name)
        return found[-1] if found else None


def decide(seen: Seen, errors: frozenset[str] = frozenset()) -> Evidence:
    """What follows from all that was told. ``errors``: codes of what went wrong."""
    hcas = _hcas(seen)
    backend = _backend(seen, hcas, errors)
    links = {hca.link for hca in hcas or () if hca.link} | set(seen.all(LINK))
    network = _network(seen, backend, links, errors)
    nranks = max((size for size, _number in seen.all(RANK)), default=None)
    # The largest communicator is the job's own.
    mine = [number for size, number in seen.all(RANK) if size == nranks]
    rdma = [(gdr, n) for (name, _in, gdr), n in seen.channels.items() if _VERBS.fullmatch(name)]
    ways = [name for name, event in (("P2P", P2P), ("SHM", SHM), ("NVLS", NVLS)) if seen.all(event)]
    able, done = seen.all(GDR_HCA), set(seen.all(COMPLETE))
    interfaces: list[Interface] = seen.all(BOOTSTRAP) or seen.all(OOB)
    versions = _versions(seen)
    fabrics: list[Fabric] = seen.all(FABRIC)
    return Evidence(
        version=versions[-1] if versions else None,
        versions=tuple(versions),
        cuda_driver=seen.last(DRIVER),
        plugin=seen.last(PLUGIN),
        backend=backend,
        network=network,
        links=tuple(sorted(links)),
        hcas=hcas,
        gdr=_gdr(seen, network),
        with_gdr=sum(n for gdr, n in rdma if gdr),
        without_gdr=sum(n for gdr, n in rdma if not gdr),
        intra=tuple(ways),
        p2p=tuple(sorted(entry for entry in seen.all(P2P) if entry)),
        bootstrap=interfaces[0] if interfaces else None,
        sockets=_sockets(seen),
        net_peers=tuple(sorted(seen.peers)),
        settings=tuple(sorted(dict(seen.all(SETTING)).items())),
        rank=mine[0] if len(mine) == 1 else None,
        nranks=nranks,
        nodes=max(seen.all(NODES), default=None),
        gdr_able=True if True in able else False if able else None,
        complete=bool(done) and set(seen.all(BEGUN)) <= done,
        provider=seen.last(PROVIDER),
        fabric=next((entry for entry in fabrics if entry.unhealthy), seen.last(FABRIC)),
        clique=max(seen.all(CLIQUE), default=None),
        collnet=max(seen.all(COLLNET), default=None),
        collnet_plugin=max(seen.all(COLLNET_PLUGIN), default=None),
        collnet_off=max(seen.all(COLLNET_OFF), default=None),
    )


def _versions(seen: Seen) -> list[str]:
    """Each once; a program that tells its NCCL's version leaves out the CUDA."""
    found: list[str] = seen.all(VERSION)
    return [entry for entry in found if not any(other.startswith(f"{entry}+") for other in found)]


def _hcas(seen: Seen) -> tuple[Hca, ...] | None:
    """The lists that NCCL printed; else single devices; else those that completions name."""
    if seen.all(HCAS):
        return tuple(dict.fromkeys(item for found in seen.all(HCAS) for item in found))
    if seen.all(HCA):
        return tuple(seen.all(HCA))
    if seen.all(USED_HCA):
        return tuple(Hca(name, None, "") for name in seen.all(USED_HCA))
    return () if seen.all(NO_IB) else None


def _backend(seen: Seen, hcas: tuple[Hca, ...] | None, errors: frozenset[str]) -> str | None:
    """The transport that NCCL names, by the surest line that tells it."""
    for name in (NETWORK, CHANNEL, ASSIGNED):
        reported: str | None = seen.last(name)
        if reported is not None:
            return reported
    started = seen.all(STARTED)
    if len(started) == 1:
        return str(started[0])
    hint: str | None = seen.last(HINT)
    if seen.all(HCAS) and hcas:
        plugin = seen.last(PLUGIN) or ""
        own = _VERBS.fullmatch(plugin) and not seen.all(REFUSED)
        return plugin if own else hint or IB
    if hint is not None and not seen.all(NO_IB) and "ifname_not_found" not in errors:
        return hint
    if seen.all(SOCKETS):
        version = numbers(seen.last(VERSION) or "")
        if seen.all(NO_IB) or "ib_disabled" in errors or version[:2] >= _ONLY_WHERE_USED:
            return SOCKET
    return None


def _network(seen: Seen, backend: str | None, links: set[str], errors: frozenset[str]) -> str | None:
    if backend is None:
        return NONE if seen.all(NO_IB) or "ifname_not_found" in errors else None
    if _VERBS.fullmatch(backend):
        return ROCE if links == {ROCE} else IB
    return backend


def _gdr(seen: Seen, network: str | None) -> bool | None:
    if network == SOCKET:
        return False
    if network not in (IB, ROCE):
        return None
    verbs = [key for key in seen.channels if _VERBS.fullmatch(key[0])]
    if verbs:
        # Sending may go through the host where reading GPU memory is slow; receiving may not.
        counted = [gdr for _name, receives, gdr in verbs if receives] or [verb[2] for verb in verbs]
        return all(counted)
    rings = seen.all(RINGS)
    if False in rings:
        return False
    if rings:
        # On a single host no channel is between hosts, and NCCL says 1 all the same.
        return True if max(seen.all(NODES), default=0) > 1 else None
    able = seen.all(GDR_HCA)
    return False if able == [False] else None


def _sockets(seen: Seen) -> tuple[Interface, ...] | None:
    found = seen.all(SOCKETS)
    return tuple(dict.fromkeys(entry for some in found for entry in some)) if found else None
