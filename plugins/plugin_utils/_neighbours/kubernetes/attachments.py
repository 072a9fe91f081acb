# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of the rails that pods join: policies and networks of SR-IOV, host devices, or macvlan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._rails import hcas
from . import hostdev, names, networks
from .labels import CLASS
from .names import KubernetesError
from .nodes import Hca
from .options import HOSTDEV, SRIOV, Options
from .pools import Pool

_RAIL = "{rail}"
_SRIOV_API = "sriovnetwork.openshift.io/v1"
_PRIORITY = 90


def ipam(options: Options, at: int) -> str:
    """The address management of a rail as JSON: {rail} stands for its number."""
    return json.dumps(_filled(options.ipam, str(at)), sort_keys=True)


def _filled(value: Any, number: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _filled(entry, number) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, number) for entry in value]
    return str(value).replace(_RAIL, number) if isinstance(value, str) else value


def _refuse_no_addresses(pools: Sequence[Pool], options: Options) -> None:
    roce = [pool for pool in pools if not pool.is_infiniband]
    if roce and not options.ipam:
        raise KubernetesError(
            f"{names.shown(roce[0].hosts)}: over RoCE a pod's interfaces need addresses, and "
            "nobody said whose. Next: kubernetes_rdma_ipam, such as "
            '{type: nv-ipam, poolName: "rail{rail}"}'
            + ("" if options.plugin in networks.OWN else ", or kubernetes_rdma_network: host")
        )


def manifests(pools: Sequence[Pool], options: Options) -> list[dict[str, Any]]:
    """What makes the networks: policies of SR-IOV and its networks, host devices, or macvlan."""
    if not networks.needed(pools, options):
        return []
    _refuse_no_addresses(pools, options)
    if options.plugin == HOSTDEV:
        rails = range(max(len(pool.rails) for pool in pools))
        return hostdev.manifests(pools, options, [ipam(options, at) if options.ipam else "" for at in rails])
    if options.plugin != SRIOV:
        return _macvlan([pool for pool in pools if not pool.is_infiniband], options)
    _refuse_virtual(pools)
    policies = [_policy(pool, at, options) for pool in pools for at in range(len(pool.rails))]
    found: dict[str, dict[str, Any]] = {}
    for pool in pools:
        for at in range(len(pool.rails)):
            found.setdefault(networks.rail_name(pool, at), _sriov(pool, at, options))
    return [*policies, *(found[name] for name in sorted(found, key=networks.counted))]


def _refuse_virtual(pools: Sequence[Pool]) -> None:
    for pool in pools:
        models = [hcas.hca_by_id(rail.device) for rail in pool.rails]
        if any(model is not None and model.virtual for model in models):
            raise KubernetesError(
                f"{names.shown(pool.hosts)}: the rails are virtual functions themselves, which "
                "have none of their own. Next: kubernetes_rdma_plugin: shared"
            )


def _policy(pool: Pool, at: int, options: Options) -> dict[str, Any]:
    rail = pool.rails[at]
    return {
        "apiVersion": _SRIOV_API,
        "kind": "SriovNetworkNodePolicy",
        "metadata": {
            "name": names.slug(f"{pool.slug}-{networks.rail_name(pool, at)}", 60),
            "namespace": options.operator_namespace,
        },
        "spec": {
            "deviceType": "netdevice",
            "isRdma": True,
            "linkType": "ib" if pool.is_infiniband else "eth",
            "nicSelector": {
                "deviceID": rail.device,
                "rootDevices": [_address(pool, at)],
                "vendor": rail.vendor,
            },
            "nodeSelector": {CLASS: pool.label},
            "numVfs": options.vfs,
            "priority": _PRIORITY,
            "resourceName": networks.rail_resource(pool, at),
        },
    }


def _address(pool: Pool, at: int) -> str:
    """The PCI address of a rail, which has to be the same on every node of the pool."""
    there: dict[str, list[str]] = {}
    for node in pool.nodes:
        there.setdefault(node.rails[at].address, []).append(node.host)
    if len(there) > 1:
        said = " and ".join(f"{each} on {names.shown(hosts)}" for each, hosts in there.items())
        raise KubernetesError(
            f"class {pool.group}: rail {at} is {said}, and an SR-IOV policy names its functions by "
            "address. Next: kubernetes_rdma_plugin: shared, or render the nodes apart (--limit)"
        )
    twice = [rail for rail in pool.rails if rail.address == pool.rails[at].address]
    if len(twice) > 1:
        raise KubernetesError(
            f"{names.shown(pool.hosts)}: {' and '.join(hca.name for hca in twice)} are ports of "
            "one function, whose virtual functions cannot be told apart. Next: "
            "kubernetes_rdma_plugin: shared"
        )
    return pool.rails[at].address


def _sriov(pool: Pool, at: int, options: Options) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "linkState": "enable",
        "networkNamespace": options.namespace,
        "resourceName": networks.rail_resource(pool, at),
    }
    if options.ipam:
        spec["ipam"] = ipam(options, at)
    return {
        "apiVersion": _SRIOV_API,
        "kind": "SriovIBNetwork" if pool.is_infiniband else "SriovNetwork",
        "metadata": {"name": networks.rail_name(pool, at), "namespace": options.operator_namespace},
        "spec": spec,
    }


def _macvlan(pools: Sequence[Pool], options: Options) -> list[dict[str, Any]]:
    masters: dict[str, tuple[str, Hca, int]] = {}
    for pool in pools:
        for node in pool.nodes:
            for at, rail in enumerate(node.rails):
                name = networks.rail_name(pool, at)
                host, known, _at = masters.setdefault(name, (node.host, rail, at))
                if known.netdev != rail.netdev or not rail.netdev:
                    raise KubernetesError(
                        f"rail {at} is {known.netdev or 'no known interface'} on {host} and "
                        f"{rail.netdev or 'no known interface'} on {node.host}, and a "
                        "MacvlanNetwork has one name for all. Next: kubernetes_rdma_network: host"
                    )
    return [
        {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "MacvlanNetwork",
            "metadata": {"name": name},
            "spec": {
                "ipam": ipam(options, at),
                "master": rail.netdev,
                "mode": "bridge",
                "mtu": 0,
                "networkNamespace": options.namespace,
            },
        }
        for name, (_host, rail, at) in sorted(masters.items(), key=lambda master: networks.counted(master[0]))
    ]
