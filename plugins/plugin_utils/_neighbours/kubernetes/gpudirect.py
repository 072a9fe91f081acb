# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of GPUDirect RDMA that nodes with the operator's driver can go."""

from __future__ import annotations

from collections.abc import Sequence

from ..._plan.matrix.model import Fact, Matrix
from ..._plan.resolve import hardware, rules_rdma
from ..._plan.resolve.candidates import Candidate
from .nodes import Node
from .options import DMABUF, OPERATOR, PEERMEM
from .sources import INBOX, Sources


def modules(nodes: Sequence[Node], stack: Fact, matrix: Matrix) -> str:
    """The flavour of kernel modules that drives all GPUs, the better first; "" where none does."""
    branch = _branch(stack, matrix)
    known = [
        said[0].get("modules")
        for node in nodes
        for gpu in node.platform.gpus
        if (said := hardware.said(gpu, "modules", matrix)) is not None
    ]
    wanted: list[str] = known[0] if known else []
    return next(
        (
            item
            for item in wanted
            if all(item in each for each in known) and (branch is None or item in branch.get("modules"))
        ),
        "",
    )


def way(nodes: Sequence[Node], sources: Sources, stack: Fact, matrix: Matrix) -> str | None:
    """The way of GPUDirect RDMA with the operator's driver: dmabuf, peermem, None for neither."""
    branch = _branch(stack, matrix)
    driver = Candidate("driver", modules=modules(nodes, stack, matrix), cuda=branch.get("cuda", "") if branch else "")
    wanted = Candidate("peer_memory", method=DMABUF)
    hosts = [node.platform for node in nodes]
    against = [
        rules_rdma.dmabuf(host, wanted, driver, matrix) or rules_rdma.reached(host, wanted, matrix) for host in hosts
    ]
    if not any(against):
        return DMABUF
    return PEERMEM if has_symbols(nodes, sources) else None


def _branch(stack: Fact, matrix: Matrix) -> Fact | None:
    return matrix.get("drivers.branches", str(stack.get("driver")).partition(".")[0])


def has_symbols(nodes: Sequence[Node], sources: Sources) -> bool:
    """Whether nvidia-peermem finds what it is built against: an OFED of the host, or the
    operator's."""
    for node in nodes if sources.ofed != OPERATOR else ():
        flavour = str(node.stack.get("rdma", {}).get("flavour") or "")
        there = (node.installed or {}).get("rdma", "").partition(" ")[0]
        if (flavour or there or INBOX) == INBOX:
            return False
    return True
