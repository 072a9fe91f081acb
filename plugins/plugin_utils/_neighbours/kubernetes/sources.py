# SPDX-License-Identifier: GPL-3.0-or-later
"""Who brings driver, container toolkit and OFED: the host or an operator, and never both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....module_utils._areas.machine.facts import MELLANOX
from ..._plan.plan.lock import shown
from . import names
from .names import KubernetesError
from .nodes import Node
from .options import AUTO, HOST, OPERATOR, Options

NOBODY = ""
INBOX = "inbox"


@dataclass(frozen=True)
class Sources:
    """HOST, OPERATOR, or NOBODY where no node has any use for it."""

    driver: str = NOBODY
    toolkit: str = NOBODY
    ofed: str = NOBODY


@dataclass(frozen=True)
class _Part:
    """A part by the names of: the option, the plan's part, the site's wish for the plan, and the
    wish that leaves it to an operator."""

    option: str
    part: str
    wish: str
    left: str
    title: str


_DRIVER = _Part("driver", "driver", "stack_driver", "none", "NVIDIA driver")
_TOOLKIT = _Part("toolkit", "container_toolkit", "stack_container_toolkit", "none", "container toolkit")
# The distribution's own drivers make way for those of the operator; another OFED would not.
_OFED = _Part("ofed", "rdma", "stack_rdma_flavour", INBOX, "RDMA stack")


def decide(nodes: Sequence[Node], options: Options) -> Sources:
    """The same answer for all nodes, since one Helm release serves them all; KubernetesError."""
    with_gpus = [node for node in nodes if node.gpus]
    driver = _agreed(_DRIVER, with_gpus, options.driver)
    toolkit = _agreed(_TOOLKIT, with_gpus, options.toolkit)
    if (driver, toolkit) == (OPERATOR, HOST):
        raise KubernetesError(
            f"{names.shown([with_gpu.host for with_gpu in with_gpus])}: the operator's driver lies below "
            "/run/nvidia/driver, where the host's container toolkit does not look. Next: "
            "stack_container_toolkit: none, so that the operator brings both, or a driver on the "
            "host"
        )
    return Sources(driver, toolkit, _agreed(_OFED, nodes, options.ofed))


def _agreed(part: _Part, nodes: Sequence[Node], wish: str) -> str:
    found: dict[str, list[str]] = {}
    for node in nodes:
        found.setdefault(_of(part, node, wish), []).append(node.host)
    if len(found) > 1:
        said = " and ".join(f"{names.shown(hosts)} from the {by}" for by, hosts in sorted(found.items()))
        raise KubernetesError(
            f"the {part.title} would come for {said}, but one operator serves the whole cluster. "
            f"Next: give all of them the same {part.wish}, or render them as clusters of their own "
            "(--limit)"
        )
    return next(iter(found), NOBODY)


def _of(part: _Part, node: Node, wish: str) -> str:
    planned = _planned(part, node)
    there = _there(part, node)
    inbox = part is _OFED and node.stack.get(part.part, {}).get("flavour") == INBOX
    if wish in (AUTO, HOST) and (planned or there):
        return HOST
    if wish == OPERATOR and (there or (planned and not inbox)):
        where = f"{there} is installed" if inbox or not planned else f"the plan installs {planned}"
        raise KubernetesError(
            f"{node.host}: kubernetes_rdma_{part.option} is operator, but {where} on the host: "
            f"there would be two. Next: {part.wish}: {part.left} and no such package on the host, "
            f"or kubernetes_rdma_{part.option}: host"
        )
    if part is _OFED and any(rail.vendor != MELLANOX for rail in node.rails):
        return _kernels_own(node, wish)
    if wish == HOST:
        raise KubernetesError(
            f"{node.host}: kubernetes_rdma_{part.option} is host, but neither does the plan "
            f"install the {part.title} nor is it there. Next: take back {part.wish}: {part.left}, "
            f"or kubernetes_rdma_{part.option}: operator"
        )
    return OPERATOR


def _kernels_own(node: Node, wish: str) -> str:
    if wish == OPERATOR:
        vendors = ", ".join(sorted({rail.vendor for rail in node.rails}))
        raise KubernetesError(
            f"{node.host}: kubernetes_rdma_ofed is operator, but its DOCA driver runs NVIDIA's "
            f"HCAs, and the rails are of vendor {vendors}. Next: kubernetes_rdma_ofed: auto"
        )
    return HOST


def _planned(part: _Part, node: Node) -> str:
    fields = node.stack.get(part.part)
    return f"{part.title} {shown(fields)}" if fields else ""


def _there(part: _Part, node: Node) -> str:
    """What is on the host now; the distribution's own RDMA stack stands in no operator's way."""
    if node.installed is None:
        if _planned(part, node):
            return ""
        raise KubernetesError(
            f"{node.host}: nobody could see whether a {part.title} is installed, and two of them "
            "do harm. Next: see what node_facts names in `unreadable`"
        )
    found = str(node.installed.get(part.part) or "")
    if part is _OFED and found.startswith(INBOX):
        return ""
    return f"{part.title} {found}" if found else ""
