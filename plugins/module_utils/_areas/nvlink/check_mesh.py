# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge GPUs that are joined without NVSwitches: by links of the board, or by bridges; no I/O."""

from __future__ import annotations

from ..._data.gpus import Gpu
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, skipped
from ..._ground.tally import Tally
from ..._parse.topo import Topo, index, nvlinks
from .check_scope import NO_BRIDGE, NO_LINKS, NONE, Scope, cannot_tell

JOINED, COUNT = "nvlink.pair.joined", "nvlink.pair.links"


def short(scope: Scope, pair: tuple[str, str], relation: str | None, wanted: int) -> Check:
    """A pair that has fewer NVLinks than it must."""
    return failed(
        JOINED,
        f"GPU {index(pair[0])}-{index(pair[1])}",
        str(relation),
        f"NV{wanted}" if wanted else "NVLink",
        scope.source,
        cause="links of one of the two GPUs are down",
    )


def judge_direct(scope: Scope, topo: Topo, model: Gpu | None) -> list[Check]:
    """Boards without switches: a full mesh where the links suffice for one, else every link used.

    Without a board that is known, a GPU must reach some other one: in POWER9 hosts only the GPUs of
    one processor are joined.
    """
    links = max(model.links) if model else 0
    pairs = topo.pairs()
    mesh = scope.board is not None and len(topo.gpus) - 1 <= links
    joined = Tally(JOINED, "GPUs")
    counted = Tally(COUNT, "GPUs")
    if mesh:
        for pair, relation in pairs.items():
            if relation is not None and not nvlinks(relation):
                joined.bad(short(scope, pair, relation, 0))
    for gpu in topo.gpus:
        subject = f"GPU {index(gpu)}"
        mine = [relation for pair, relation in pairs.items() if gpu in pair]
        total = sum(nvlinks(entry) for entry in mine)
        if None in mine:
            joined.unsure(subject, "the matrix is cut")
            counted.unsure(subject, "the matrix is cut")
            continue
        if total:
            joined.good(subject)
        elif not mesh:
            joined.fail(
                subject,
                "no NVLink to any other GPU",
                "NVLink to at least one",
                scope.source,
                cause="the links of this GPU are down",
            )
        if scope.board is None:
            counted.left_out(subject, "the board is not known, so nobody expects a count")
        elif total >= links:
            counted.good(subject)
        else:
            counted.bad(_some_down(scope, subject, total, links))
    return [
        *joined.checks("NVLink", scope.source, nothing=NO_LINKS),
        *counted.checks(f"{links} links", scope.source, nothing=NO_LINKS),
    ]


def _some_down(scope: Scope, subject: str, total: int, links: int) -> Check:
    return failed(
        COUNT,
        subject,
        f"{total} links to other GPUs",
        links,
        scope.source,
        cause=f"{links - total} of its links are down or lead to a GPU that is not there",
    )


def judge_bridged(scope: Scope, topo: Topo) -> list[Check]:
    """Cards: whose links are up must be joined to some other card."""
    status = scope.facts.status
    if status.value is None:
        return cannot_tell((JOINED, COUNT), status.why or "nobody looked")
    pairs = topo.pairs()
    counted = Tally(COUNT, "GPUs with NVLink bridges")
    for entry in status.value.gpus:
        gpu = f"GPU{entry.gpu.index}"
        model = scope.model(entry.gpu)
        if model is not None and scope.kind(model) == NONE:
            counted.left_out(entry.gpu.label, f"{model.model} has no NVLink")
        elif not entry.active and not entry.links and not entry.messages:
            counted.unsure(entry.gpu.label, "nvidia-smi says nothing of its links")
        elif not entry.active:
            counted.left_out(entry.gpu.label, NO_BRIDGE)
        elif scope.machine.virtual.value is True:
            counted.left_out(entry.gpu.label, "a bridge may lead to a GPU of another machine")
        elif any(nvlinks(relation) for pair, relation in pairs.items() if gpu in pair):
            counted.good(entry.gpu.label)
        elif any(relation is None for pair, relation in pairs.items() if gpu in pair):
            counted.unsure(entry.gpu.label, "the matrix is cut")
        else:
            counted.fail(
                entry.gpu.label,
                f"{len(entry.active)} links up, but no GPU at their other end",
                "NVLink to the card at the bridge's other end",
                CAPABILITY,
                cause="the card at the other end of the bridge is not visible",
            )
    if status.value.cut:
        counted.unsure("host", status.value.cut)
    return [
        skipped(JOINED, "host", "cards are joined where NVLink bridges were fitted, in pairs"),
        *counted.checks("NVLink to another card", CAPABILITY, nothing=NO_BRIDGE),
    ]
