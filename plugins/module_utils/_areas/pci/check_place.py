# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether every rail hangs where its own GPU is: by the PCIe switches alone, whatever the board; no I/O."""

from __future__ import annotations

from fractions import Fraction
from typing import Dict, List, Tuple

from ..._expect.expectations import Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.equals import MIN_EQUALS, most_have
from ..._ground.text import few
from ..machine.facts import PciFunction
from .check_scope import Scope
from .check_slot import rails

_ID = "pci.gpu.rail"
_EXPECTED = "as many as its equals"
_SHOWN = 4
# The slots of rails, each by the functions of the card in it, and the GPUs that are nearest to each.
_Nearest = Dict[Tuple[str, ...], List[PciFunction]]


def judge_places(scope: Scope, expect: Expectations) -> Check:
    """A GPU without a rail of its own, while another GPU has one more than most, or a rail has no GPU."""
    mine = rails(scope, expect)
    if not scope.gpus or not mine:
        return skipped(_ID, "host", scope.no_hca if scope.gpus else scope.no_gpu)
    blind = next((function for function in (*scope.gpus, *mine) if not function.path), None)
    if blind is not None:
        return unknown(_ID, scope.name(blind.address), "the evidence does not tell what lies above it")
    near = _nearest(scope, mine)
    shares = {
        gpu.address: sum((Fraction(1, len(gpus)) for gpus in near.values() if gpu in gpus), Fraction(0))
        for gpu in scope.gpus
    }
    usual, source = _usual(near, shares)
    wanted = expect.get("hcas") or expect.get("hcas_min")
    if not usual:
        return skipped(_ID, "host", "no rail shares a PCIe switch with a GPU, or the slots are not laid out alike")
    if wanted is not None and len(mine) < wanted.value:
        return skipped(_ID, "host", "rails are missing: see ib.hca.count")
    lacking = [address for address, share in shares.items() if share < usual]
    spare = [address for address, share in shares.items() if share > usual]
    strays = [functions for functions, gpus in near.items() if not gpus]
    # A storage HCA has no GPU either: only where the count is right the stray is surely the one that is missed.
    if lacking and (spare or (strays and len(near) == usual * len(shares))):
        subject = lacking[0] if len(lacking) == 1 else "host"
        return failed(_ID, subject, _observed(scope, near, lacking, spare), _EXPECTED, source, cause=_cause(lacking))
    return passed(_ID, "host", f"{len(shares)} GPUs, {len(near)} rails", _EXPECTED, source)


def _nearest(scope: Scope, mine: tuple[PciFunction, ...]) -> _Nearest:
    """The GPUs that share most of the way with each slot that has a rail; none where no switch joins them."""
    slots: dict[tuple[str, ...], list[PciFunction]] = {}
    for rail in mine:
        slots.setdefault(rail.path[:-1], []).append(rail)
    found: _Nearest = {}
    for above, functions in slots.items():
        shared = {gpu: _shared(above, gpu.path) for gpu in scope.gpus}
        most = max(shared.values())
        key = tuple(scope.name(function.address) for function in functions)
        found[key] = [gpu for gpu, depth in shared.items() if depth == most > 0]
    return found


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))


def _usual(near: _Nearest, shares: dict[str, Fraction]) -> tuple[Fraction, str]:
    """The rails a GPU that most GPUs have, or half of them where all would have as many; 0 for none."""
    values = list(shares.values())
    fair = Fraction(len(near), len(shares))
    usual = (fair, values.count(fair)) if 2 * values.count(fair) >= len(values) >= MIN_EQUALS else most_have(values)
    return (usual[0], f"equals {usual[1]}/{len(values)}") if usual else (Fraction(0), "")


def _observed(scope: Scope, near: _Nearest, lacking: list[str], spare: list[str]) -> str:
    def slots(address: str) -> str:
        names = [name for names, gpus in near.items() if address in {gpu.address for gpu in gpus} for name in names]
        return few(names, _SHOWN) or "no rail"

    said = [f"GPU {address}: {slots(address)}" for address in (*lacking[:_SHOWN], *spare[:_SHOWN])]
    strays = [name for names, gpus in near.items() if not gpus for name in names]
    return "; ".join([*said, *([f"beside no GPU: {few(strays, _SHOWN)}"] if strays else [])])


def _cause(lacking: list[str]) -> str:
    gpus = f"GPU{'' if len(lacking) == 1 else 's'} {few(lacking, _SHOWN)}"
    return f"the rail of {gpus} is in another slot, the cable of its slot (MCIO) in another socket, or it is gone"
