# SPDX-License-Identifier: GPL-3.0-or-later
"""Host devices: a pod gets whole functions of the HCAs, a rail each, and the node has them no longer.

Sources: Mellanox/network-operator, its CRD of HostDeviceNetwork (09cdb17d) and its DevicePluginSpec; the Network
Operator's quick start "Host Device Network with RDMA" (25.7.0), for the device plugin's configuration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ....module_utils._ground.link import INFINIBAND
from . import names, networks, shared
from .names import KubernetesError
from .options import Options
from .pools import Pool
from .values import SRIOV_PREFIX

# PCI address and link layer.
Function = tuple[str, str]


def config(pools: Sequence[Pool]) -> str:
    """The configuration of the SR-IOV network device plugin: a resource for each rail, by PCI addresses and link layer.

    It is one for all nodes, so that no such function may be this rail on a node and something else on another;
    KubernetesError names both.
    """
    found: dict[str, set[str]] = {}
    links = {}
    for pool in pools:
        for at in range(len(pool.rails)):
            links[networks.rail_name(pool, at)] = shared.LINKS[pool.layer]
    for name, address in _addresses(pools):
        found.setdefault(name, set()).add(address)
    listed = [
        {
            "resourcePrefix": SRIOV_PREFIX,
            "resourceName": name.replace("-", "_"),
            "selectors": {"pciAddresses": sorted(found[name]), "linkTypes": [links[name]], "isRdma": True},
        }
        for name in sorted(found, key=networks.counted)
    ]
    return json.dumps({"resourceList": listed}, indent=2) + "\n"


def _addresses(pools: Sequence[Pool]) -> Iterator[tuple[str, str]]:
    """Rail and PCI address, of every node."""
    known: dict[Function, tuple[str, str]] = {}
    for pool in pools:
        for node in pool.nodes:
            used: dict[str, str] = {}
            for at, rail in enumerate(node.rails):
                if not (rail.netdev or pool.is_infiniband):
                    raise KubernetesError(
                        f"{node.host}: {rail.name} has no network interface, and that is what a pod is given. Next: "
                        "`playbooks/verify.yml` says what is wrong, or kubernetes_rdma_plugin: shared"
                    )
                if rail.address in used:
                    raise KubernetesError(
                        f"{node.host}: {used[rail.address]} and {rail.name} are ports of one function, which goes to a "
                        "pod as a whole. Next: kubernetes_rdma_plugin: shared"
                    )
                used[rail.address] = rail.name
                _refuse_other(known, (rail.address, rail.layer), networks.rail_name(pool, at), node.host)
                yield networks.rail_name(pool, at), rail.address
            for other in node.others:
                if other.address in used:
                    raise KubernetesError(
                        f"{node.host}: {other.name}, which is no rail, is a port of the function of "
                        f"{used[other.address]}, which goes to a pod as a whole. Next: kubernetes_rdma_plugin: shared"
                    )
                # Without an interface the plugin knows no link layer, and passes it over; of IPoIB's nobody knows.
                if other.netdev or other.layer == INFINIBAND:
                    _refuse_other(known, (other.address, other.layer), "no rail", node.host)


def _refuse_other(known: dict[Function, tuple[str, str]], function: Function, what: str, host: str) -> None:
    """A function is the same, ``what``, on every host so far."""
    before, first = known.setdefault(function, (what, host))
    if before != what:
        raise KubernetesError(
            f"{function[0]} is {before} on {first} and {what} on {host}, and the device plugin knows functions by "
            "address on all nodes alike. Next: kubernetes_rdma_plugin: shared, or render the nodes "
            "apart (--limit)"
        )


def manifests(pools: Sequence[Pool], options: Options, ipam: Sequence[str]) -> list[dict[str, Any]]:
    """The network of each rail. ``ipam``: its address management by the rail's number, "" for none."""
    found: dict[str, dict[str, Any]] = {}
    for pool in pools:
        for at in range(len(pool.rails)):
            spec = {"networkNamespace": options.namespace, "resourceName": networks.rail_resource(pool, at)}
            if ipam[at]:
                spec["ipam"] = ipam[at]
            name = networks.rail_name(pool, at)
            found[name] = {
                "apiVersion": "mellanox.com/v1alpha1",
                "kind": "HostDeviceNetwork",
                "metadata": {"name": name},
                "spec": spec,
            }
    return [found[name] for name in sorted(found, key=networks.counted)]


def remarks(pools: Sequence[Pool]) -> Iterator[str]:
    """What the site has to know."""
    hosts = names.shown([host for pool in pools for host in pool.hosts])
    yield (
        f"while a pod has them, {hosts} have no network interface of their rails, and what looks at the hosts "
        "(verify.yml, the health agent) finds these missing; one pod of a node has all of them"
    )
    over_ib = [host for pool in pools if pool.is_infiniband for host in pool.hosts]
    if over_ib:
        yield (
            f"{names.shown(over_ib)}: the device plugin gives a rail by its IPoIB interface, which has to be there "
            "(module ib_ipoib); nobody looked at these"
        )
