# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of GPUDirect RDMA that nodes with the operator's driver can go."""

from __future__ import annotations

from collections.abc import Sequence

from ..._plan.matrix.model import Fact, Matrix
from ..._plan.resolve import rules_rdma
from ..._plan.resolve.candidates import Candidate
from .nodes import Node
from .options import DMABUF, OPERATOR, PEERMEM
from .sources import INBOX, Sources


def modules(nodes: Sequence[Node], stack: Fact, matrix: Matrix) -> str:
    """The flavour of kernel modules that drives all GPUs, the better first; "" where none does."""
    branch = _branch(stack, matrix)
    known = [
        fact.get("modules")
        for node in nodes
        for model in node.platform.gpus
        if (fact := matrix.get("gpus.models", model)) is not None
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
    if all(rules_rdma.dmabuf(node.platform, wanted, driver, matrix) is None for node in nodes):
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
