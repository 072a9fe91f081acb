# SPDX-License-Identifier: GPL-3.0-or-later
"""Which releases of the two operators go with the plan, and with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._plan.matrix.model import Fact, Matrix
from ..._plan.matrix.versions import version
from . import fits, names
from .names import KubernetesError
from .nodes import Node
from .options import Options
from .sources import Sources

_GPU, _NETWORK = "kubernetes.gpu_operators", "kubernetes.network_operators"


@dataclass(frozen=True)
class Operators:
    """``gpu``: None where no node has a GPU. ``stack``: what it brings. ``doubts``: what nobody
    vouches for, and nothing forbids."""

    network: Fact
    gpu: Fact | None = None
    stack: Fact | None = None
    doubts: tuple[str, ...] = ()

    @property
    def versions(self) -> str:
        """Both in a few words."""
        gpu = f"GPU Operator {self.gpu.name}, " if self.gpu else ""
        return f"{gpu}Network Operator {self.network.name}"


def choose(nodes: Sequence[Node], sources: Sources, options: Options, matrix: Matrix) -> Operators:
    """The youngest pair of those with the fewest doubts; KubernetesError says why there is none."""
    gpus: Sequence[Fact | None] = [None]
    if any(node.gpus for node in nodes):
        gpus = _asked(_GPU, options.gpu_operator, matrix)
    best: tuple[int, Operators] | None = None
    refused: list[str] = []
    for network in _asked(_NETWORK, options.network_operator, matrix):
        for gpu in gpus:
            stack = matrix.get("stacks.stacks", str(gpu.get("stack"))) if gpu else None
            against = list(fits.judge(nodes, sources, options, matrix, gpu, stack, network))
            sure = [entry.text for entry in against if entry.sure]
            if sure:
                refused.append(sure[0])
                continue
            doubts = tuple(dict.fromkeys(entry.text for entry in against))
            if best is None or len(doubts) < best[0]:
                best = len(doubts), Operators(network, gpu, stack, doubts)
    if best is None:
        why = names.shown(list(dict.fromkeys(refused)), 4)
        raise KubernetesError(
            f"no operator's release goes with the plan: {why}. "
            "Next: stack_* variables or kubernetes_rdma_gpu_operator and "
            "kubernetes_rdma_network_operator have to change, or a matrix folder of the site has "
            "to know better (stack_matrix)"
        )
    return best[1]


def _asked(section: str, wanted: str, matrix: Matrix) -> list[Fact]:
    """The releases, the youngest first; the one that the site asks for."""
    known = sorted(matrix.all(section).values(), key=lambda entry: version(entry.name), reverse=True)
    if not wanted:
        return known
    found = [fact for fact in known if fact.name == wanted]
    if not found:
        raise KubernetesError(
            f"{fits.TITLES[section]} {wanted} is not in the matrix; known are "
            f"{', '.join(fact.name for fact in known)}. Next: one of these, or an entry in "
            "kubernetes.yml of a matrix folder of the site (stack_matrix)"
        )
    return found
