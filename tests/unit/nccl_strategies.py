# SPDX-License-Identifier: GPL-3.0-or-later
"""Any hosts, policies and fleets that an nccl.conf may be derived for; most of them in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.gpudirect import Ways
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl_policy import NcclPolicy
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import near
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import fleet_view
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import (
    MEDIUM,
    Apart,
    Card,
    NcclHost,
    NcclPort,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse import gid
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_addr import Address, Interface
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_route import Route
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import GidEntry

DERIVED = (
    "NCCL_IB_DISABLE",
    "NCCL_IB_HCA",
    "NCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_FAMILY",
    "NCCL_IB_GID_INDEX",
    "NCCL_IB_ADDR_FAMILY",
    "NCCL_IB_TC",
    "NCCL_IB_SL",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_GDR_C2C",
    "NCCL_TOPO_FILE",
)
WORDS = st.sampled_from(["", "a", "node 7: timeout", "line\nbreak", "\x1b[31m", "ü" * 999])
DEVICES = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_10", "mlx5_bond_0", "rocep1s0"]
INTERFACES = ["eth0", "bond0", "lo", "ib0", "x,y", "^e"]
ADDRESSES = ["10.0.0.11", "fd00::b", "10.0.1.11"]
VERSIONS = ["", "2", "1:2.19.3-1", "2.5.7", "2.18.3", "2.21.5", "2.26.2", "2.28.7-1+cuda13.0", "x"]
KINDS = {"10.0.0.1": gid.IPV4, "fd00::1": gid.IPV6, "169.254.0.1": gid.LINK_LOCAL}
KINDS["fe80::1"] = gid.LINK_LOCAL


def mostly(usual: object, *others: object) -> st.SearchStrategy[Any]:
    """The usual value, or now and then another: where all is odd nothing gets as far as a line."""
    return st.sampled_from([usual] * (3 * len(others)) + list(others))


def reading(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Reading[Any]]:
    """A value, or now and then none and why."""
    unknown: st.SearchStrategy[Reading[Any]] = st.builds(Reading, st.none(), WORDS, st.booleans())
    return mostly(True, False).flatmap(lambda known: values.map(Reading) if known else unknown)


def several(
    one: st.SearchStrategy[Any], most: int, least: int = 0, key: Any = None
) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(one, min_size=least, max_size=most, unique_by=key).map(tuple)


gids = st.builds(
    lambda entry, address: replace(entry, address=address, kind=KINDS[address]),
    st.builds(
        GidEntry,
        index=st.integers(0, 5),
        address=st.just(""),
        kind=st.just(""),
        type=mostly("RoCE v2", "IB/RoCE v1", ""),
        netdev=st.sampled_from(INTERFACES),
    ),
    st.sampled_from(list(KINDS)),
)


def ports(layer: str) -> st.SearchStrategy[NcclPort]:
    """Ports that are mostly of this link layer."""
    return st.builds(
        NcclPort,
        device=st.sampled_from(DEVICES * 9 + ["a,b", "=x", "x y", ""]),
        num=mostly(1, 2),
        layer=mostly(layer, "InfiniBand", "Ethernet", "") if layer else st.just("InfiniBand"),
        state=mostly("Active", "Down", ""),
        rate=mostly(400.0, None, 100.0, 200.0),
        model=WORDS,
        most_gbps=mostly(400.0, 0.0, 200.0),
        address=mostly("", "0000:18:00.0", "0000:29:00.0"),
        ports=mostly(1, 2, 3),
        adapter=mostly("", "0x1", "0x2"),
        near=mostly("PIX", "", *near.WORDS),
        subnet=mostly("0x1", "", "0x2"),
        unclear=mostly(False, False, False, False, True),
        apart=mostly(None, *(Apart(why, MEDIUM) for why in ("x", "y\nz", "virtual function"))),
        gids=reading(several(gids, 6, 2, lambda one: one.index)),
        traffic_class=st.sampled_from([None, -1, 106]),
    )


interfaces = st.builds(
    Interface,
    name=mostly(*INTERFACES),
    kind=mostly("", "loopback", "bond"),
    up=mostly(True, False, True),
    running=mostly(True, False, True),
    mtu=st.just(1500),
    addresses=several(
        st.sampled_from(ADDRESSES).map(lambda one: Address(6 if ":" in one else 4, one, 8, "x")),
        3,
        1,
        lambda one: one.local,
    ),
)
routes = st.builds(
    Route,
    peer=st.just("10.0.0.12"),
    dev=mostly("eth0", *INTERFACES, "gone"),
    source=mostly(*ADDRESSES),
)
hosts = st.sampled_from(["", "InfiniBand", "Ethernet"]).flatmap(
    lambda layer: st.builds(
        NcclHost,
        ports=reading(several(ports(layer), 6, 0, lambda one: (one.device, one.num))),
        gpus=reading(several(st.just(Card("0000:13:00.0")), 2)),
        interfaces=reading(several(interfaces, 4, 1, lambda one: one.name)),
        routes=st.dictionaries(mostly("10.0.0.12", "10.0.0.13"), reading(routes), min_size=1),
        nccl=reading(st.sampled_from(VERSIONS)),
        gpudirect=st.builds(
            Ways,
            reading(st.sampled_from(["", "too old"])),
            reading(st.sampled_from([(), ("nv_mem",)])),
            reading(st.sampled_from([(), ("nvidia_peermem",)])),
        ),
        superchip=st.sampled_from([None, True, False]),
        wanted=st.builds(
            Wanted,
            hcas=mostly(0, 1, 2, 4),
            exact=st.booleans(),
            source=st.sampled_from(["inventory", "profile hgx-h100-8"]),
            gid_index=mostly(None, 0, 3),
            tos=st.sampled_from([None, 106]),
        ),
        simulated=st.sampled_from(["", "GPUs"]),
    )
)
named = mostly((), ("mlx5_9",), ("mlx5_0:1", "mlx5_1/2"), ("0000:18:00.0",), ("mlx5_0", "mlx5_10"))
policies = st.builds(
    NcclPolicy,
    variables=mostly({}, {"NCCL_DEBUG": "WARN"}, *({one: "=mlx5_0"} for one in DERIVED)),
    forbid=mostly((), *((one,) for one in (*DERIVED, "NCCL_DEBUG"))),
    rails=named,
    storage=named,
    socket_ifname=mostly("", "eth0", "eth9"),
    tc=st.sampled_from([None, 0, 106]),
    sl=st.sampled_from([None, 0, 3]),
    topo_file=st.sampled_from(["", "/etc/topology.xml"]),
    gdr_level=st.sampled_from(["", "off", "PXB", "SYS"]),
)
fleets = st.one_of(
    st.none(),
    st.dictionaries(st.sampled_from(["a", "b"]), st.tuples(hosts, policies), max_size=2).map(fleet_view),
)
