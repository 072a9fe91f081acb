# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether a GPU is unlike its equals in this host: no I/O."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..._data import drivers
from ..._data.gpu_equals import ALIKE, FIRMWARE, SETTING, Alike
from ..._expect.expectations import CAPABILITY
from ..._ground.check import FAIL, UNKNOWN, Check, failed
from ..._ground.equals import Compared, Odd, compare
from ..._ground.tally import Tally
from ..._parse._nvsmi import Gpu, no_answer, number
from .check_scope import ALL_LOST, UNIT, Scope, open_, subject

_MIG = "mig"
_ALONE = "it is the only GPU of its kind"


def judge(seen: Scope, told: Sequence[Check]) -> Iterator[Check]:
    """gpu.equals.setting and gpu.equals.firmware. ``told``: what was found of these GPUs."""
    for check_id in (SETTING, FIRMWARE):
        yield from _judge(seen, check_id, told)


def odd(seen: Scope, name: str) -> dict[str, Odd]:
    """By address, the GPUs that are worse than most of their equals in a property of the table."""
    alike = next(entry for entry in ALIKE if entry.name == name)
    return _worse(alike, _compared(seen, alike))


def _judge(seen: Scope, check_id: str, told: Sequence[Check]) -> Iterator[Check]:
    tally = Tally(check_id, UNIT)
    found: dict[str, list[tuple[Alike, Odd]]] = {}
    compared = 0
    for alike in (entry for entry in ALIKE if entry.check_id == check_id):
        if alike.wish and seen.expect.get(alike.wish) is not None:
            continue
        own = [check for check in told if check.id == alike.told_by]
        known = {check.subject for check in own if check.result == FAIL}
        result = _compared(seen, alike)
        compared += result.alike
        for address, what in _worse(alike, result).items():
            if address not in known:
                found.setdefault(address, []).append((alike, what))
        for address in result.silent:
            if any(check.result == UNKNOWN for check in own):
                tally.left_out(address, f"see {alike.told_by}")
            else:
                _open(tally, seen, address, f"nvidia-smi does not show its {alike.what}, which it shows of equal GPUs")
        for address, why in {**result.split, **result.pairs}.items():
            if alike.fault:
                tally.left_out(address, f"{alike.what} at this moment, as not all equal GPUs are")
            elif known:
                tally.left_out(address, f"see {alike.told_by}")
            elif address in result.pairs and check_id == FIRMWARE:
                # A lone pair of cards may be of two batches; a setting was somebody's doing.
                tally.left_out(address, f"two equal GPUs differ in their {alike.what}, and there is {why}")
            else:
                _open(tally, seen, address, f"equal GPUs differ in their {alike.what}, and there is {why}")
    for address, what_all in found.items():
        tally.bad(_unlike(check_id, address, what_all))
    for gpu in seen.gpus:
        if compared and any(entry is not gpu and _of_a_kind(gpu, entry) for entry in seen.gpus):
            tally.good(subject(gpu))
        else:
            tally.left_out(subject(gpu), _ALONE)
    yield from tally.checks("as its equals", CAPABILITY, nothing=ALL_LOST)


def _open(tally: Tally, seen: Scope, address: str, why: str) -> None:
    """Of a GPU that is sick gpu.device.answers tells, of output that was cut all that was cut off."""
    gpu = next(entry for entry in seen.gpus if subject(entry) == address)
    if gpu.whole:
        open_(tally, gpu, why)
    else:
        tally.left_out(address, "nvidia-smi's output of it is not whole")


def _compared(seen: Scope, alike: Alike) -> Compared[str]:
    values = {subject(gpu): _value(gpu, alike.name) for gpu in seen.gpus}
    return compare(values, {subject(gpu): _kind(gpu, alike) for gpu in seen.gpus})


def _kind(gpu: Gpu, alike: Alike) -> tuple[str, ...]:
    """What GPUs have to have alike to be held against each other."""
    whole = () if alike.name == _MIG else (gpu.mig,)
    return (gpu.name, gpu.virtualization, *whole, *(_value(gpu, name) for name in alike.beside))


def _of_a_kind(gpu: Gpu, other: Gpu) -> bool:
    return (gpu.name, gpu.virtualization) == (other.name, other.virtualization)


def _value(gpu: Gpu, name: str) -> str:
    """The text; "" where the GPU does not show it."""
    if name.startswith("event "):
        found: object = (gpu.clocks_events or {}).get(name[len("event ") :], "")
    else:
        found = getattr(gpu, name)
    text = "" if found is None else str(found)
    return "" if text.lower() in drivers.NONE_SUCH or no_answer(text) else text


def _worse(alike: Alike, result: Compared[str]) -> dict[str, Odd]:
    return {
        address: what
        for address, what in result.odd.items()
        if not (alike.more_is_fine and _more(what)) and alike.fault in ("", what.value)
    }


def _more(what: Odd) -> bool:
    mine, usual = number(what.value), number(what.usual)
    return mine is not None and usual is not None and mine > usual


def _unlike(check_id: str, address: str, found: list[tuple[Alike, Odd]]) -> Check:
    """One finding of a GPU, whatever it differs in."""
    return failed(
        check_id,
        address,
        ", ".join(f"{alike.what} {what.value}" for alike, what in found),
        ", ".join(what.usual for _unused, what in found),
        found[0][1].source,
        cause=f"{', '.join(alike.what for alike, _unused in found)}: unlike the equal GPUs of this host",
        remedy="; ".join(dict.fromkeys(alike.remedy.replace("BUS-ID", address) for alike, _unused in found)),
    )
