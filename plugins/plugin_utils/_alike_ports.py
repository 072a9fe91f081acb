# SPDX-License-Identifier: GPL-3.0-or-later
"""MTU, RoCE addresses and priorities of one host's ports, as texts to be compared; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks import ib
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_equal import Facts
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_same import NONE
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    is_infiniband,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import (
    ROCE_V2,
    UNSET,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.gid import ROUTABLE
from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import (
    as_dict,
    as_list,
    reading,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import Host

_ACTIVE = "Active"
_UNSET = "not set"


def facts(host: Host) -> Facts:
    """By check and port, of Active rails alone: what is wrong with others is told by others."""
    roce = dict(_roce(host))
    return {
        "fleet.port.mtu": {
            **dict(_infiniband_mtu(host)),
            **_told(roce, lambda one: reading(one.get("mtu"))),
        },
        "fleet.roce.gid": _told(roce, _gid),
        "fleet.roce.qos": _told(roce, _qos),
    }


def _infiniband_mtu(host: Host) -> Iterator[tuple[str, str]]:
    if host.ib is None:
        return
    for ca, port in ib.rails(host.ib, host.expect):
        mtu = host.ib.detail(port_name(ca, port)).mtu
        if not is_infiniband(port) or port.state != _ACTIVE or mtu.missing:
            continue
        if host.ib.simulated and not mtu.known:
            continue
        yield port_name(ca, port), str(mtu.value.active) if mtu.value is not None else ""


def _roce(host: Host) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Those that are rails by the definition that the checks judge by."""
    nccl = as_dict(as_dict(host.facts.get("nccl")).get("host"))
    told = map(as_dict, as_list(as_dict(nccl.get("ports")).get("value")))
    rails = {f"{one.get('device')}/{one.get('num')}" for one in told if not one.get("apart")}
    ports = as_dict(as_dict(host.facts.get("roce")).get("ports")).get("value")
    for one in map(as_dict, as_list(ports)):
        name = f"{one.get('device')}/{one.get('num')}"
        if one.get("state") == _ACTIVE and name in rails:
            yield name, one


def _told(
    ports: Mapping[str, Mapping[str, Any]], ask: Callable[[Mapping[str, Any]], str | None]
) -> dict[str, str]:
    found = {name: ask(one) for name, one in ports.items()}
    return {name: value for name, value in found.items() if value is not None}


def _usable(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == ROCE_V2 and entry.get("kind") in ROUTABLE


def _gid(port: Mapping[str, Any]) -> str | None:
    """The first address that RoCE v2 can reach other hosts with: where, and of what family."""
    told = as_dict(port.get("gids"))
    if told.get("value") is None:
        return reading(told)
    usable = (one for one in map(as_dict, as_list(told["value"])) if _usable(one))
    first = next(usable, None)
    return f"{first['type']} {first['kind']} at {first['index']}" if first else NONE


def _qos(port: Mapping[str, Any]) -> str:
    """Every line of what the port does with priorities; "" where one of them was not told."""
    qos = as_dict(port.get("qos"))
    lines = {
        "trust": reading(qos.get("trust")),
        "pfc": reading(qos.get("pfc"), _joined),
        "priority of dscp": reading(qos.get("priority"), _dscp),
        "ecn off": reading(qos.get("ecn"), _off),
        "traffic class": reading(port.get("traffic_class"), _number),
        "tos of the connection manager": reading(port.get("cm_tos"), _number),
    }
    if "" in lines.values():
        return ""
    return "\n".join(f"{name}: {_UNSET if one is None else one}" for name, one in lines.items())


def _joined(value: Any) -> str:
    return ",".join(str(one) for one in as_list(value)) or NONE


def _dscp(value: Any) -> str:
    """Only those that are not where they usually are, eight to a priority."""
    odd = [one for one in map(tuple, as_list(value)) if one[1] != one[0] // 8]
    return " ".join(f"{dscp}={priority}" for dscp, priority in odd) or "as usual"


def _off(value: Any) -> str:
    return ", ".join(str(one[0]) for one in map(tuple, as_list(value)) if not one[1]) or NONE


def _number(value: Any) -> str:
    return _UNSET if value == UNSET else str(value)
