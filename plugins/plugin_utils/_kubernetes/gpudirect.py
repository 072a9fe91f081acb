# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of GPUDirect RDMA that nodes with the operator's driver can go."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.nodes import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.options import OPERATOR
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.sources import (
    INBOX,
    Sources,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import Fact, Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.versions import within


def modules(nodes: Sequence[Node], stack: Fact, matrix: Matrix) -> str:
    """The flavour of kernel modules that drives all GPUs, the better first; "" where none does."""
    branch = matrix.get("drivers.branches", str(stack.get("driver")).partition(".")[0])
    known = [
        fact.get("modules")
        for one in nodes
        for model in one.platform.gpus
        if (fact := matrix.get("gpus.models", model)) is not None
    ]
    wanted: list[str] = known[0] if known else []
    return next(
        (
            one
            for one in wanted
            if all(one in each for each in known)
            and (branch is None or one in branch.get("modules"))
        ),
        "",
    )


def way(nodes: Sequence[Node], sources: Sources, stack: Fact, matrix: Matrix) -> str | None:
    """The way of GPUDirect RDMA with the operator's driver: dmabuf, peermem, None for neither."""
    way = matrix.get("cuda.gpudirect", "dmabuf")
    kind = modules(nodes, stack, matrix)
    if (
        way is not None
        and kind in way.get("modules")
        and all(within(one.platform.kernel, way.get("kernel")) for one in nodes)
    ):
        return "dmabuf"
    return "peermem" if has_symbols(nodes, sources) else None


def has_symbols(nodes: Sequence[Node], sources: Sources) -> bool:
    """Whether nvidia-peermem finds what it is built against: an OFED of the host, or the
    operator's."""
    for one in nodes if sources.ofed != OPERATOR else ():
        flavour = str(one.stack.get("rdma", {}).get("flavour") or "")
        there = (one.installed or {}).get("rdma", "").partition(" ")[0]
        if (flavour or there or INBOX) == INBOX:
            return False
    return True
