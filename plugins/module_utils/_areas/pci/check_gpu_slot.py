# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether slots and switches promise GPUs what these can do, or what their equals have: no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.gpus import SXM
from ..._expect import profiles
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed
from ..._ground.equals import compare
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..machine.facts import PciFunction
from . import gpu_links
from .check_scope import CANNOT_TELL_VM, IN_VM, Scope
from .facts import End, links

_CHECK = "pci.gpu.slot"
_NO_PORT = "the evidence does not tell which port lies above it"
_CARD = "only SXM modules are wired by their board, cards lie in slots of any kind"
_ALIKE = "the slots of all its equals end there, too: the board, or one BIOS setting for all"


def judge_gpu_slots(scope: Scope) -> Iterator[Check]:
    tally = Tally(_CHECK, "links")
    modules = [gpu for gpu in scope.gpus if _is_sxm(gpu)]
    for gpu in scope.gpus:
        if gpu not in modules:
            tally.left_out(gpu.address, _CARD)
        elif scope.machine.virtual.value:
            tally.left_out(gpu.address, IN_VM)
        elif len(gpu.path) < 2:
            tally.unsure(gpu.address, _NO_PORT)
    if not scope.machine.virtual.value:
        wired = [module for module in modules if len(module.path) > 1]
        for function in wired:
            _slot(tally, function, [other for other in wired if other.device == function.device], scope)
        _uplinks(tally, wired, scope)
        _cards(tally, [gpu for gpu in scope.gpus if gpu not in modules and len(gpu.path) > 1], scope)
    gpu_links.judge(tally, scope, "at most generation", lambda pcie: pcie.gen_max, gpu_links.kind)
    gpu_links.judge(tally, scope, "at most lanes", lambda pcie: pcie.width_max, gpu_links.kind)
    yield from tally.checks("what the GPU can do", CAPABILITY, nothing=scope.no_gpu)


def _is_sxm(function: PciFunction) -> bool:
    model = profiles.gpu_by_id(function.device)
    return model is not None and model.form == SXM


def _slot(tally: Tally, gpu: PciFunction, equals: list[PciFunction], scope: Scope) -> None:
    """What all slots have in common is how the board is made; an odd one is not."""
    due, port = _most(scope, gpu.address), _most(scope, gpu.path[-2])
    others = [_most(scope, equal.path[-2]).value for equal in equals if equal is not gpu]
    if due.value is None or port.value is None:
        tally.unsure(gpu.address, due.why or port.why or "nobody looked")
    elif _at_least(port.value, due.value):
        tally.good(gpu.address)
    elif others and all(other is not None and _at_least(port.value, other) for other in others):
        tally.left_out(gpu.address, _ALIKE)
    else:
        cause = f"the port {gpu.path[-2]} above GPU {gpu.address} can do {_show(port.value)} only"
        _bad(tally, gpu.address, port.value, due.value, cause, scope)


def _cards(tally: Tally, cards: list[PciFunction], scope: Scope) -> None:
    """The slots of equal cards, held against each other."""
    ports = {card.address: _most(scope, card.path[-2]).value for card in cards}
    found = compare(
        {address: _show(most) if most else "" for address, most in ports.items()},
        {card.address: card.device for card in cards},
    )
    for card in cards:
        odd, port = found.odd.get(card.address), ports[card.address]
        usual = next((most for most in ports.values() if odd and most and _show(most) == odd.usual), None)
        if odd is None or port is None or usual is None or _at_least(port, usual):
            continue
        cause = (
            f"the slot {card.path[-2]} of GPU {card.address} can do {odd.value} only, those of its equals {odd.usual}"
        )
        if scope.machine.virtual.value is None:
            tally.unsure(card.address, CANNOT_TELL_VM)
        else:
            tally.bad(failed(_CHECK, card.address, odd.value, odd.usual, odd.source, cause=cause))


def _uplinks(tally: Tally, gpus: list[PciFunction], scope: Scope) -> None:
    """The links above the switches, compared with those of the same level."""
    levels: dict[tuple[int, int], dict[str, str]] = {}
    for gpu in gpus:
        for level, (upper, lower) in enumerate(links(gpu.path)[1:]):
            levels.setdefault((len(gpu.path), level), {})[lower] = upper
    for uplinks in levels.values():
        can = {lower: _both(scope, upper, lower) for lower, upper in uplinks.items()}
        known = [entry.value for entry in can.values() if entry.value is not None]
        best = max((entry[0] for entry in known), default=0), max((entry[1] for entry in known), default=0)
        for lower, most in can.items():
            if most.value is None:
                tally.unsure(lower, most.why or "nobody looked")
            elif _at_least(most.value, best):
                tally.good(lower)
            else:
                cause = f"the uplink {uplinks[lower]} - {lower} can do less than its equals"
                _bad(tally, lower, most.value, best, cause, scope)


def _bad(tally: Tally, subject: str, seen: tuple[float, int], due: tuple[float, int], cause: str, scope: Scope) -> None:
    if scope.machine.virtual.value is None:
        tally.unsure(subject, CANNOT_TELL_VM)
    else:
        tally.bad(failed(_CHECK, subject, _show(seen), _show(due), CAPABILITY, cause=cause))


def _both(scope: Scope, upper: str, lower: str) -> Reading[tuple[float, int]]:
    entry, other = _most(scope, upper), _most(scope, lower)
    if entry.value is None or other.value is None:
        return Reading(None, entry.why or other.why)
    return Reading((min(entry.value[0], other.value[0]), min(entry.value[1], other.value[1])))


def _most(scope: Scope, address: str) -> Reading[tuple[float, int]]:
    """GT/s and lanes that this end of a link can do."""
    end = scope.facts.ends.get(address, End())
    if end.max_speed.value is None or end.max_width.value is None:
        return Reading(None, end.max_speed.why or end.max_width.why)
    return Reading((end.max_speed.value, end.max_width.value))


def _at_least(entry: tuple[float, int], other: tuple[float, int]) -> bool:
    return entry[0] >= other[0] and entry[1] >= other[1]


def _show(most: tuple[float, int]) -> str:
    return f"{most[0]:g} GT/s x{most[1]}"
