# SPDX-License-Identifier: GPL-3.0-or-later
"""How pods reach the rails: the host's network, the pod's own, or one network per rail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....module_utils._ground.link import ETHERNET, INFINIBAND
from . import shared
from .names import KubernetesError
from .options import AUTO, HOST, HOSTDEV, POD, SRIOV, Options
from .pools import Pool
from .shared import Shared
from .values import SRIOV_PREFIX

# Plugins that give a pod functions of its own, each by a network of its rail.
OWN = (SRIOV, HOSTDEV)
_SHORT = {INFINIBAND: "ib", ETHERNET: "roce"}


@dataclass(frozen=True)
class Network:
    """What a pod of a pool asks for. ``host``: it lives in the node's network. ``attached``: the
    networks that it joins beside its own. ``resources``: by name, how many."""

    host: bool
    attached: tuple[str, ...]
    resources: Mapping[str, int]


def network(pool: Pool, resource: Shared | None, options: Options) -> Network:
    """The way of this pool's pods; KubernetesError where the site's wish cannot be."""
    if options.plugin in OWN:
        if options.network == HOST:
            raise KubernetesError(
                "kubernetes_rdma_network is host, but a function of its own belongs to a pod's own "
                "network. Next: kubernetes_rdma_network: auto, or kubernetes_rdma_plugin: shared"
            )
        count = range(len(pool.rails))
        wanted = {f"{SRIOV_PREFIX}/{rail_resource(pool, at)}": 1 for at in count}
        return Network(False, tuple(rail_name(pool, at) for at in count), wanted)
    if resource is None:
        raise AssertionError("a pool without SR-IOV has a shared resource")
    entry = {resource.resource: 1}
    if pool.is_infiniband:
        return Network(options.network == HOST, (), entry)
    # The addresses of RoCE are those of a network interface, which the pod has to see.
    if options.network in (AUTO, HOST):
        return Network(True, (), entry)
    return Network(False, tuple(rail_name(pool, at) for at in range(len(pool.rails))), entry)


def rail_name(pool: Pool, at: int) -> str:
    """The network of a rail, which pools of one link layer share."""
    return f"{_SHORT[pool.layer]}-rail{at}"


def rail_resource(pool: Pool, at: int) -> str:
    return rail_name(pool, at).replace("-", "_")


def counted(name: str) -> tuple[str, int]:
    """To sort the names of rails by their numbers."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :])


def needed(pools: Sequence[Pool], options: Options) -> bool:
    """Whether pods join networks beside their own."""
    return options.plugin in OWN or (options.network == POD and any(not pool.is_infiniband for pool in pools))


def resources_of(pools: Sequence[Pool], options: Options) -> dict[str, Shared]:
    """The shared plugin's resource of each pool; {} with functions of their own."""
    return {} if options.plugin in OWN else shared.resources(pools, options.interfaces)
