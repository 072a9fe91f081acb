# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the size of packets between the two ends of every rail; no I/O."""

from __future__ import annotations

from typing import Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    _rdma_text,
    rdma_pairs,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import HOST, VERBS
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.tried import Host, Rail, Try

MTU = "fabric.rdma.mtu"


def judge(
    hosts: Mapping[str, Host],
    tries: Sequence[Try],
    by_pair: rdma_pairs.ByPair,
    size: int,
) -> dict[str, list[Check]]:
    """The packets that both ends of a rail can send, and what of them arrives."""
    found: dict[str, list[Check]] = {name: [] for name in hosts}
    between = [one for one in tries if one.where == HOST and one.test == VERBS]
    for rail in sorted({one.rail for one in between}):
        mine = [one for one in between if one.rail == rail]
        differ = blame(one.hosts for one in mine if _differ(one, hosts))
        less = [
            one
            for one in mine
            if _rdma_text.carries_less(one, by_pair.get(rdma_pairs.key(one), {}))
        ]
        choked = blame(one.hosts for one in less)
        for name, pairs in rdma_pairs.by_host(mine).items():
            own = hosts[name].rails.get(rail) if name in hosts else None
            if own is None or size == 1 or hosts[name].off:
                continue
            found[name].append(_mtu(name, own, pairs, hosts, name in differ, name in choked))
    return found


def _differ(one: Try, hosts: Mapping[str, Host]) -> bool:
    known = [rail.mtu for rail in rdma_pairs.rails(one, hosts) if rail.mtu]
    return len(set(known)) > 1


def _mtu(
    name: str,
    own: Rail,
    pairs: Sequence[Try],
    hosts: Mapping[str, Host],
    differs: bool,
    choked: bool,
) -> Check:
    if not own.mtu:
        return unknown(MTU, own.name, "the MTU of the port is not known", remedy=rdma_pairs.AGAIN)
    others = {
        other: rail.mtu
        for one in pairs
        for other, rail in _rdma_text.ends(one, hosts)
        if other != name and rail.mtu
    }
    apart = {other: mtu for other, mtu in others.items() if mtu != own.mtu}
    if differs and apart:
        shown = ", ".join(f"{mtu} on {other}" for other, mtu in sorted(apart.items()))
        observed = f"{own.mtu} here, {shown}"
        interface = own.netdev or own.name
        cause = f"the MTU of {interface} is not that of the other end"
        expected = "one size at both ends"
        return failed(MTU, own.name, observed, expected, CAPABILITY, cause=cause)
    if choked:
        observed = f"packets of {own.mtu} bytes do not arrive, small ones do"
        cause = "a switch or bridge between the hosts carries smaller packets than both ends send"
        return failed(MTU, own.name, observed, f"{own.mtu} bytes", CAPABILITY, cause=cause)
    alike = others.keys() - apart.keys()
    arrived = alike & {peer for one in pairs if one.arrived for peer in one.hosts}
    if not arrived:
        return unknown(MTU, own.name, "no full packet arrived anywhere", remedy=rdma_pairs.AGAIN)
    return passed(MTU, own.name, f"{own.mtu} bytes to {len(arrived)} hosts", "one size", CAPABILITY)
