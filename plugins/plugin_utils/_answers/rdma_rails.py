# SPDX-License-Identifier: GPL-3.0-or-later
"""On which rails of a host data can be moved, with which GID, and why not on the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._areas.ib import area as ib
from ...module_utils._between.rdma.tried import ROCE, Rail
from ...module_utils._data import rdma_drivers, roce
from ...module_utils._expect.expectations import Expectations
from ...module_utils._ground.link import ETHERNET, INFINIBAND
from ...module_utils._ground.reading import Reading
from ...module_utils._nccl.fleet import selected
from ...module_utils._parse.gid import IPV4, IPV6
from ...module_utils._rails import roce as roce_rails
from ...module_utils._rails.ib_ports import IbFacts, is_infiniband, port_name
from ...module_utils._rails.roce_ports import GidEntry, RocePort, RoceReported
from .._ground.dicts import as_dict
from .typed import read

INDEX = "NCCL_IB_GID_INDEX"
# What stands for the rails of a host of which nobody knows any.
_SOME = "RoCE rails"
Found = tuple[dict[str, Rail], dict[str, str]]


def of_roce(facts: Mapping[str, Any], ib_facts: IbFacts | None, expect: Expectations) -> Found:
    """The RoCE rails that are Active and have an address, and why the others cannot take part.

    An Ethernet port beside InfiniBand rails is none, unless the inventory says so.
    """
    told = reported(facts, ib_facts, expect)
    if told is None:
        return {}, {}
    seen = told.get("ports", Reading())
    ports = seen.value or ()
    rails: dict[str, Rail] = {}
    bare = ib_facts is not None and ib_facts.bus.value == ()
    bare = bare and not as_dict(facts["roce"].get("devices")).get("value")
    missing = {} if bare and "soft_roce" not in expect.values else _absent(seen, expect)
    wanted = wanted_index(facts, expect)
    for port in roce_rails.split(ports, expect)[0]:
        index, entry = _gid(port, wanted)
        if port.state != roce_rails.ACTIVE:
            missing[port.name] = f"the port is {port.state or 'in no known state'}"
        elif port.gids.value is None:
            missing[port.name] = port.gids.why or "nobody looked at its GIDs"
        elif index is None:
            missing[port.name] = "the port has no GID that other hosts can reach"
        else:
            rails[port.name] = _rail(port, index, entry)
    return rails, missing


def reported(facts: Mapping[str, Any], ib_facts: IbFacts | None, expect: Expectations) -> RoceReported | None:
    """What a host told of its RoCE ports; None of a host whose rails are InfiniBand, and of one that told nothing."""
    said = expect.get("link_layer")
    known = ib_facts.cas if ib_facts is not None else ()
    beside = any(is_infiniband(port) for ca in known for port in ca.ports)
    if said is None and expect.get("soft_roce") is not None:
        beside = False
    if beside if said is None else said.value != ETHERNET:
        return None
    return read(RoceReported, facts["roce"], "facts.roce") if "roce" in facts else None


def _absent(seen: Reading[tuple[RocePort, ...]], expect: Expectations) -> dict[str, str]:
    """What cannot take part because nobody saw it: the site says that it is there, or nobody could
    look."""
    if seen.value is None and not seen.missing:
        return {_SOME: seen.why or "nobody looked for RoCE ports"}
    there = {port.device for port in seen.value or ()}
    soft = expect.get("soft_roce")
    wanted = [f"{name}/1" for name in (soft.value if soft else ()) if name not in there]
    lost = [name for name in wanted if not expect.ignores(name, name[:-2])]
    if lost:
        return dict.fromkeys(lost, "there is no such device")
    said = expect.get("link_layer")
    return {_SOME: "there is no RoCE port"} if said is not None and not there else {}


def wanted_index(facts: Mapping[str, Any], expect: Expectations) -> int | None:
    """The index that jobs are told: by the inventory, else by nccl.conf; None where NCCL picks."""
    said = expect.get("roce_gid_index")
    if said is not None:
        return int(said.value)
    settings = as_dict(as_dict(as_dict(facts.get("nccl")).get("settings")).get("value"))
    text = str(settings.get(INDEX) or "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _gid(port: RocePort, wanted: int | None) -> tuple[int | None, GidEntry | None]:
    """The index that NCCL would use, and what the table holds there."""
    found = port.gids.value or ()
    if wanted is not None:
        return wanted, next((gid for gid in found if gid.index == wanted), None)
    taken = selected(found, IPV4) or selected(found, IPV6)
    return (None, None) if taken is None else (taken.index, taken)


def _rail(port: RocePort, index: int, entry: GidEntry | None) -> Rail:
    mtu = port.mtu.value
    carried = 0
    if mtu is not None:
        carried = next((entry for entry in roce.RDMA_MTUS if mtu - roce.HEADERS >= entry), 0)
    own = entry if entry is not None and entry.kind in (IPV4, IPV6) else None
    # RDMA CM goes by IP address, and does without the index.
    own = own or next((gid for gid in port.gids.value or () if gid.usable), None)
    return Rail(
        name=port.name,
        device=port.device,
        port=port.num,
        kind=ROCE,
        gid_index=index,
        gid="" if entry is None else str(entry),
        gid_type="" if entry is None else entry.type,
        gid_usable=entry is not None and entry.usable,
        address="" if own is None else own.address,
        netdev=(entry.netdev if entry is not None else "") or port.netdev.value or "",
        mtu=carried,
        rate=port.rate,
        soft=port.protocol == rdma_drivers.SOFTWARE,
    )


def of_infiniband(facts: IbFacts | None, expect: Expectations) -> Found:
    """The InfiniBand rails, which go by LID."""
    rails: dict[str, Rail] = {}
    missing: dict[str, str] = {}
    for ca, port in ib.rails(facts, expect) if facts is not None else ():
        if facts is None or not is_infiniband(port):
            continue
        name = port_name(ca, port)
        if port.state != "Active":
            missing[name] = f"the port is {port.state or 'in no known state'}"
        elif not port.lid:
            missing[name] = "the port has no LID"
        else:
            mtu = facts.detail(name).mtu.value
            rails[name] = Rail(
                name,
                ca.name,
                port.num,
                kind=INFINIBAND,
                mtu=mtu.active if mtu is not None else 0,
                rate=port.rate,
            )
    return rails, missing
