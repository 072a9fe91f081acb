# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge how the GPUs of one host are joined to each other: ``nvidia-smi topo -m``, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.gpus import Gpu
from ..._expect.expectations import CAPABILITY
from ..._ground.check import PASS, Cause, Check, failed, passed, skipped, unknown
from ..._parse.topo import SYS, Topo, index, nvlinks
from .check_links import in_mig
from .check_mesh import COUNT, JOINED, judge_bridged, judge_direct, short
from .check_scope import DIRECT, MIG, MIG_SAID, PART_OF_A_BOARD, SWITCHED, Scope, cannot_tell

NUMA = "nvlink.pair.numa"
_MANY = 4
# So many GPUs joined alike are a board behind NVSwitches, whatever their model.
_BOARD = 6


def judge_pairs(scope: Scope) -> Iterator[Check]:
    reported = scope.facts.topo
    if reported.value is None:
        yield from cannot_tell((JOINED, COUNT, NUMA), reported.why or "nobody looked")
        return
    topo = reported.value
    on_bus = scope.missing_from or 0
    if len(topo.gpus) < on_bus:
        yield from cannot_tell((JOINED, COUNT, NUMA), f"topo shows {len(topo.gpus)} of {on_bus} GPUs")
        return
    if topo.cut and len(topo.gpus) < 2:
        yield from cannot_tell((JOINED, COUNT, NUMA), topo.cut)
        return
    if len(topo.gpus) < 2:
        for entry in (JOINED, COUNT):
            yield skipped(entry, "host", "one GPU has no other to be joined to")
        yield passed(NUMA, "host", "1 GPU", "not SYS alone", CAPABILITY)
        return
    for check in (*_joined(scope, topo), _numa(scope, topo)):
        yield unknown(check.id, check.subject, topo.cut) if topo.cut and check.result == PASS else check


def _joined(scope: Scope, topo: Topo) -> list[Check]:
    models = scope.models
    kinds = {scope.kind(model) for model in models if model is not None}
    why = _not_asked(scope, kinds)
    if why:
        return [skipped(entry, "host", why) for entry in (JOINED, COUNT)]
    status = scope.facts.status.value
    if status is not None and any(in_mig(gpu.messages) and not scope.mig(gpu.gpu.index) for gpu in status.gpus):
        return cannot_tell((JOINED, COUNT), MIG_SAID)
    if topo.legend and not topo.legend_nvlink:
        return cannot_tell((JOINED, COUNT), "this matrix shows PCI Express alone (topo -mp)")
    if not models or None in models:
        if topo.pairs() and all(nvlinks(pair) for pair in topo.pairs().values()):
            return [
                passed(JOINED, "host", f"{len(topo.gpus)} GPUs, every pair by NVLink"),
                skipped(COUNT, "host", "the GPU models are not known"),
            ]
        lone, wanted = _left_out(scope, topo)
        if lone:
            bad = [_alone(scope, gpu, topo.pairs(), wanted) for gpu in lone]
            return [*bad, skipped(COUNT, "host", "the GPU models are not known")]
        return judge_bridged(scope, topo)
    if len(models) != len(topo.gpus):
        return cannot_tell((JOINED, COUNT), f"topo shows {len(topo.gpus)} of {len(models)} GPUs")
    if kinds == {SWITCHED}:
        return [*_switched(scope, topo, models[0]), _by_state()]
    if kinds == {DIRECT}:
        return judge_direct(scope, topo, models[0])
    return judge_bridged(scope, topo)


def _by_state() -> Check:
    return skipped(COUNT, "host", f"behind NVSwitches {JOINED} judges the count of each pair")


def _not_asked(scope: Scope, kinds: set[str]) -> str:
    """Why nobody can expect NVLinks between the GPUs."""
    if scope.mig(None):
        return MIG
    return PART_OF_A_BOARD if scope.part_of_a_board and kinds == {DIRECT} else ""


def _switched(scope: Scope, topo: Topo, model: Gpu | None) -> list[Check]:
    """Every pair is joined by all links of a GPU."""
    wanted = max(model.links) if model else 0
    pairs = {
        pair: relation for pair, relation in topo.pairs().items() if not any(scope.mig(index(gpu)) for gpu in pair)
    }
    bad = [pair for pair, relation in pairs.items() if relation and nvlinks(relation) < wanted]
    unseen = [pair for pair, relation in pairs.items() if relation is None]
    found: list[Check] = []
    if bad and len(bad) + len(unseen) == len(pairs) and not any(nvlinks(pairs[p]) for p in bad):
        found.append(_none_joined(scope, topo, f"NV{wanted}"))
    else:
        lone = [gpu for gpu in topo.gpus if _all_bad(gpu, pairs, bad)]
        for gpu in lone:
            found.append(_alone(scope, gpu, pairs, wanted))
        for pair in bad:
            if not set(pair) & set(lone):
                found.append(short(scope, pair, pairs[pair], wanted))
    if unseen:
        names = f"{unseen[0][0]}-{unseen[0][1]}"
        why = f"the matrix is cut: {names} and {len(unseen) - 1} more pairs are not shown"
        found.append(unknown(JOINED, "host", why))
    if not found:
        found.append(passed(JOINED, "host", f"{len(pairs)} pairs by NV{wanted}", f"NV{wanted}", scope.source))
    return found


def _all_bad(gpu: str, pairs: dict[tuple[str, str], str | None], bad: list[tuple[str, str]]) -> bool:
    mine = [pair for pair, relation in pairs.items() if gpu in pair and relation is not None]
    return len(mine) > 1 and all(pair in bad for pair in mine)


def _left_out(scope: Scope, topo: Topo) -> tuple[list[str], int]:
    """GPUs without NVLink where all others are joined alike, and by how many links those are."""
    pairs = {
        pair: relation for pair, relation in topo.pairs().items() if not any(scope.mig(index(gpu)) for gpu in pair)
    }
    joined = {gpu for pair, relation in pairs.items() if nvlinks(relation) for gpu in pair}
    counts = {nvlinks(relation) for pair, relation in pairs.items() if joined.issuperset(pair)}
    if len(joined) < _BOARD or len(counts) != 1 or None in pairs.values():
        return [], 0
    apart = {gpu for pair in pairs for gpu in pair} - joined
    return [gpu for gpu in topo.gpus if gpu in apart], counts.pop()


def _none_joined(scope: Scope, topo: Topo, wanted: str) -> Check:
    return failed(
        JOINED,
        "host",
        f"no pair of {len(topo.gpus)} GPUs is joined by NVLink",
        wanted,
        scope.source,
        cause=Cause(
            "no NVLink is up: the fabric manager does not run, or NVLink is switched off",
            "see that the fabric manager runs (nvlink.fabric_manager.active) and that no file of /etc/modprobe.d sets "
            "NVreg_NvLinkDisable=1; then reset the GPUs of the drained host",
        ),
    )


def _alone(scope: Scope, gpu: str, pairs: dict[tuple[str, str], str | None], wanted: int) -> Check:
    seen = sorted({relation or "" for pair, relation in pairs.items() if gpu in pair} - {""})
    return failed(
        JOINED,
        f"GPU {index(gpu)}",
        f"{'/'.join(seen)} to the other GPUs",
        f"NV{wanted}",
        scope.source,
        cause=f"GPU {index(gpu)} is not fully in the NVLink fabric",
    )


def _numa(scope: Scope, topo: Topo) -> Check:
    """The matrix must not contradict itself: within a NUMA node no path crosses sockets."""
    pairs = topo.pairs()
    seen = {relation for relation in pairs.values() if relation is not None}
    if len(topo.gpus) < _MANY or seen != {SYS}:
        if not seen:
            return unknown(NUMA, "host", "the matrix shows no pair of GPUs")
        return passed(NUMA, "host", "/".join(sorted(seen)), "not SYS alone", CAPABILITY)
    same = [pair for pair in pairs if topo.numa(pair[0]) is not None and topo.numa(pair[0]) == topo.numa(pair[1])]
    if not same:
        return passed(NUMA, "host", "SYS between NUMA nodes", "not within one", CAPABILITY)
    names = f"GPU {index(same[0][0])}-{index(same[0][1])}"
    return failed(
        NUMA,
        "host",
        f"SYS between all {len(topo.gpus)} GPUs, also within a NUMA node ({names})",
        "NVLink, or a path within the node",
        CAPABILITY,
    )
