# SPDX-License-Identifier: GPL-3.0-or-later
"""Which network a host's rails are where nobody says it: the ports that sit on a rail's place."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass
from typing import Sequence

from ..._data import rdma_drivers
from ..._data.boards import Board
from ..._data.hcas import RAIL_GBPS
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.link import ETHERNET
from ..._ground.reading import Reading
from ..._ground.text import to_rate
from ..._rails.hcas import most_gbps
from .facts import PciFunction

_BASE = "/sys/class/infiniband"
_ACTIVE = "4: ACTIVE"


@dataclass(frozen=True)
class _Hca:
    """A physical RDMA device, or a virtual one in a guest; ``beside``: a GPU is behind its root port.

    ``layers`` of its ports; ``gbps``: of its fastest port that is Active, 0.0 without one.
    """

    function: PciFunction
    model: str
    layers: frozenset[str]
    gbps: float
    beside: bool


def observe(
    evidence: Evidence,
    functions: Sequence[PciFunction],
    board: Board | None,
    apart: Sequence[str],
    ignore: Sequence[str] = (),
) -> Reading[str]:
    """ETHERNET where the rails are RoCE, "" where they are not, or nothing sits on their place.

    ``apart``: addresses of what is no HCA. ``ignore``: devices and ports that the inventory leaves
    out. Unknown where the ports of one cannot be read.
    """
    cards = [function for function in functions if function.is_gpu and not function.virtual]
    if not cards:
        return Reading("")
    names = ask.names(evidence, _BASE)
    if names.value is None:
        return Reading("" if names.missing else None, names.why, names.missing)
    known = {function.address: function for function in functions if function.address not in apart}
    hcas = []
    for name in names.value:
        target = ask.link(evidence, f"{_BASE}/{name}/device")
        if target.value is None and not target.missing:
            return Reading(None, target.why)
        function = known.get(posixpath.basename((target.value or "").rstrip("/")))
        if function is None or rdma_drivers.PROTOCOLS.get(function.driver or "") != rdma_drivers.ROCE:
            continue  # software, no driver of RoCE, or the way to the NVLink switches
        hca = _hca(evidence, name, function, beside(function, cards), ignore)
        if hca.value is None:
            return Reading(None, hca.why)
        if hca.value.layers and name not in ignore:
            hcas.append(hca.value)
    return Reading(_usual(_rails([hca for hca in hcas if not hca.function.virtual] or hcas, board), board))


def beside(function: PciFunction, cards: Sequence[PciFunction]) -> bool:
    """Whether this function and a GPU are behind one root port, which takes a PCIe switch."""
    return any(function.path and card.path and function.path[0] == card.path[0] for card in cards)


def _hca(evidence: Evidence, name: str, function: PciFunction, near: bool, ignore: Sequence[str]) -> Reading[_Hca]:
    base = f"{_BASE}/{name}"
    ports = ask.names(evidence, f"{base}/ports")
    if ports.value is None:
        return Reading(None, ports.why)
    layers, rates = set(), [0.0]
    for port in ports.value:
        if f"{name}/{port}" in ignore:
            continue
        layer = ask.text(evidence, f"{base}/ports/{port}/link_layer")
        if layer.value is None:
            return Reading(None, layer.why)
        layers.add(layer.value)
        state, rate = (ask.text(evidence, f"{base}/ports/{port}/{name}") for name in ("state", "rate"))
        for reading in (state, rate):
            if reading.value is None and not reading.missing:
                return Reading(None, reading.why)
        if state.value == _ACTIVE:
            rates.append(rate.map(to_rate).value or 0.0)
    model = ask.text(evidence, f"{base}/hca_type").value or ""
    return Reading(_Hca(function, model, frozenset(layers), max(rates), near))


def _rails(hcas: list[_Hca], board: Board | None) -> list[_Hca]:
    """What sits on a rail's place: of a model that can be one, beside a GPU where any of them is.

    In a virtual machine, and where GPUs hang at the processor, nothing is beside a GPU: there only
    the board tells how many rails there are.
    """
    wanted = board.rail_gbps if board is not None and board.rail_gbps else RAIL_GBPS
    able = [hca for hca in hcas if (most_gbps(hca.model) or wanted) >= wanted]
    near = [hca for hca in able if hca.beside]
    if near:
        return near
    return able if board is not None and 2 * len(able) >= board.rails > 0 else []


def _usual(rails: list[_Hca], board: Board | None) -> str:
    """The link layer of most of them. Without a board that has rails, one of them has to run like a rail."""
    counted = Counter(ETHERNET if ETHERNET in hca.layers else "" for hca in rails)
    if counted[ETHERNET] <= counted[""]:
        return ""
    told = board is not None and board.rails > 0
    return ETHERNET if told or any(hca.gbps >= RAIL_GBPS for hca in rails) else ""
