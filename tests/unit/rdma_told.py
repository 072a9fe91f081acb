# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts with RoCE rails and what became of the data between them, made up."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma.tried import Host, Rail, Try, Words
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data

NAMES = ("a", "b", "c")
NUMBERS: dict[str, dict[str, Any]] = {
    data.VERBS: {"moved": 2 << 20},
    data.LATENCY: {"usec": 2.1},
    data.BANDWIDTH: {"gbps": 391.0, "moved": 1 << 30},
    data.CM: {"pings": 20},
}


def rail(number: int = 1, **bent: Any) -> Rail:
    """A rail of which all is well."""
    address = f"10.0.0.{number}"
    good = {
        "gid_index": 3,
        "gid": f"RoCE v2 IPv4 {address}",
        "gid_type": "RoCE v2",
        "address": address,
        "netdev": "ens1",
        "mtu": 4096,
        "rate": 400.0,
    }
    return Rail("mlx5_0/1", "mlx5_0", 1, **{**good, **bent})


def hosts(bent: Mapping[str, Any] | None = None, **all_of: Any) -> dict[str, Host]:
    """Three hosts with a rail each; ``bent``: of a host by its name, ``rail`` or fields of Host."""
    found = {}
    for number, name in enumerate(NAMES, 1):
        own = {"rails": {"mlx5_0/1": rail(number)}, **all_of, **dict((bent or {}).get(name, {}))}
        found[name] = Host(**own)
    return found


def tries(places: tuple[str, ...] = (data.HOST,), **bent: dict[str, Any]) -> list[Try]:
    """All ordered pairs moved data; ``a_b={...}`` bends a pair, ``of_b`` all of a host, a test's
    name all of that test, each by fields of Try."""
    found = []
    for (client, server), where, test in product(permutations(NAMES, 2), places, data.TESTS):
        values: dict[str, Any] = {"state": data.MOVED, **NUMBERS[test]}
        for key in (test, f"of_{client}", f"of_{server}", f"{client}_{server}", f"in_{where}"):
            values.update(bent.get(key, {}))
        if values["state"] != data.MOVED:
            values.update(dict.fromkeys(("moved", "usec", "gbps", "pings")))
        found.append(Try(client, server, "mlx5_0/1", where, test, **values))
    return found


def failure(kind: str, said: str = "it said so", at: str = "client", **more: Any) -> dict[str, Any]:
    """A test that failed."""
    words = Words(kind, said, **more)
    ends = {"asked": words} if at == "client" else {"served": words}
    return {"state": data.FAILED, "kind": kind, "said": said, "at": at, **ends}
