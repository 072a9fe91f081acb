# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of a run by pair and by host: with thousands nobody looks through all for each."""

from __future__ import annotations

from typing import Dict, Iterable, Mapping, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._checks import _rdma_text
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.tried import Host, Rail, Try

AGAIN = "mend what kept the data from being moved, then verify again"
# Client, server, rail and place; then by test.
Key = Tuple[str, str, str, str]
ByPair = Dict[Key, Dict[str, Try]]


def key(one: Try) -> Key:
    """What the tests of one pair at one place have in common."""
    return (one.client, one.server, one.rail, one.where)


def by_pair(tries: Iterable[Try]) -> ByPair:
    """The tests of each pair at each place, by test."""
    found: ByPair = {}
    for one in tries:
        found.setdefault(key(one), {})[one.test] = one
    return found


def by_host(tries: Iterable[Try]) -> dict[str, list[Try]]:
    """What each host took part in, at either end."""
    found: dict[str, list[Try]] = {}
    for one in tries:
        for name in dict.fromkeys(one.hosts):
            found.setdefault(name, []).append(one)
    return found


def rails(one: Try, hosts: Mapping[str, Host]) -> list[Rail]:
    """The rails of both ends, as far as they are known."""
    return [rail for _, rail in _rdma_text.ends(one, hosts)]
