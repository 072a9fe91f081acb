# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the memory of every GPU: ECC, remapped rows, retired pages; no I/O."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Callable, Iterator

from ..._data import drivers
from ..._expect.expectations import CAPABILITY, Expected
from ..._ground.check import Check, failed
from ..._ground.tally import Tally
from ..._parse._nvsmi import Gpu, number
from .check_scope import (
    ALL_LOST,
    ON_OR_OFF,
    UNIT,
    LeftOut,
    Scope,
    Unsure,
    each,
    model,
    must_be_no,
    none_of,
    open_,
    shown_by_equals,
    subject,
)
from .facts import is_orphaned

_MODE = "gpu.ecc.mode"
_PENDING = "gpu.ecc.pending"
_VOLATILE = "gpu.ecc.volatile"
_THRESHOLD = "gpu.ecc.threshold"
_REPAIR = "gpu.ecc.repair"
_UNREPAIRABLE = "gpu.ecc.unrepairable"
_FAILURE = "gpu.rows.failure"
_ROWS_PENDING = "gpu.rows.pending"
_SPARE = "gpu.rows.spare"
_PAGES_PENDING = "gpu.pages.pending"
_PAGES = "gpu.pages.retired"
_HELD = "gpu.memory.held"
_BAR1 = "gpu.memory.bar1"
_LOAD = "gpu.load.program"


def judge(seen: Scope) -> Iterator[Check]:
    """gpu.ecc.*, gpu.rows.*, gpu.pages.*, gpu.memory.*, gpu.load.*."""
    yield from _mode(seen)
    yield from each(seen, _PENDING, "ECC mode", lambda gpu: gpu.ecc, _pending, "as now")
    yield from _errors(seen)
    yield from _no(seen, _THRESHOLD, "SRAM error threshold", "sram_threshold")
    yield from _repair(seen)
    yield from _no(seen, _UNREPAIRABLE, "unrepairable memory", "unrepairable")
    yield from _rows(seen)
    yield from _pages(seen)
    yield from each(
        seen, _HELD, "memory in use", lambda gpu: gpu.memory_used, partial(_held, seen), "none without a program"
    )
    most = f"at most {drivers.BAR1_FULL:.0%}"
    yield from each(seen, _BAR1, "BAR1 in use", attrgetter("bar1_used"), partial(_bar1, most), most, newer=True)
    load = attrgetter("utilization")
    yield from each(seen, _LOAD, "utilization", load, partial(_load, seen), "none without a program", newer=True)


def _mode(seen: Scope) -> Iterator[Check]:
    reported = seen.expect.get("ecc")
    tally = Tally(_MODE, UNIT)
    for gpu in seen.gpus:
        wanted = reported or _as_sold(gpu)
        word = "Enabled" if wanted and wanted.value else "Disabled"
        has_none = gpu.ecc.lower() in drivers.NONE_SUCH
        if gpu.ecc not in ON_OR_OFF and not has_none:
            open_(tally, gpu, f"nvidia-smi showed {gpu.ecc or 'no ECC mode'}")
        elif has_none and reported is None and _must_show(gpu):
            open_(tally, gpu, f"nvidia-smi shows N/A for the ECC of {gpu.name}")
        elif has_none and (reported is None or not reported.value):
            tally.left_out(subject(gpu), "the GPU has no ECC")
        elif wanted is None:
            tally.left_out(subject(gpu), "nobody expects ECC of this GPU")
        elif gpu.ecc == word:
            tally.good(subject(gpu))
        else:
            tally.fail(subject(gpu), gpu.ecc, word, wanted.source)
    expected = "Disabled" if reported and not reported.value else "Enabled"
    yield from tally.checks(expected, reported.source if reported else CAPABILITY, nothing=ALL_LOST)


def _as_sold(gpu: Gpu) -> Expected | None:
    """Data-centre GPUs come with ECC on."""
    known = model(gpu)
    if known is None or known.model in drivers.ECC_OFF_AS_SOLD:
        return None
    return Expected(True, CAPABILITY)


def _must_show(gpu: Gpu) -> bool:
    """Whether the model has ECC, and this is not a part of it that a virtual machine was given."""
    known = model(gpu)
    slice_of_it = gpu.virtualization.lower() == drivers.VGPU
    return known is not None and known.model not in drivers.WITHOUT_ECC and not slice_of_it


def _pending(gpu: Gpu, text: str) -> Check | None:
    if {text, gpu.ecc_pending} - set(ON_OR_OFF):
        raise ValueError(text)
    if gpu.ecc_pending == text:
        return None
    return failed(_PENDING, subject(gpu), f"{text}, pending {gpu.ecc_pending}", text, CAPABILITY)


def _errors(seen: Scope) -> Iterator[Check]:
    """SRAM and DRAM together: one finding for each GPU. Those of its life before are history."""

    def judge(gpu: Gpu, text: str) -> Check | None:
        texts = {
            "SRAM": gpu.volatile_sram,
            "DRAM": gpu.volatile_dram,
        }
        counts = {name: number(text) for name, text in texts.items() if not _none_such(text)}
        if None in counts.values():
            raise ValueError(text)
        bad = {name: count for name, count in counts.items() if count}
        if not bad:
            for name in texts.keys() - counts.keys():
                if shown_by_equals(seen, gpu, attrgetter(f"volatile_{name.lower()}")):
                    raise Unsure(f"N/A for volatile {name} errors, which equal GPUs show")
            return None
        # Where one number is all that is told, it is of both.
        one = "SRAM" not in counts
        reported = ", ".join(f"{count} in {'memory' if one else name}" for name, count in bad.items())
        cause = f"uncorrectable memory errors since the driver was loaded: {reported}"
        return failed(_VOLATILE, subject(gpu), reported, "0", CAPABILITY, cause=cause)

    def text_of(gpu: Gpu) -> str:
        texts: tuple[str, ...] = (gpu.volatile_sram, gpu.volatile_dram)
        # The oddest stands for both: nothing, then what is no number, then a number.
        odd = sorted(texts, key=lambda text: (bool(text), number(text) is not None, text))
        return next((entry for entry in odd if not _none_such(entry)), odd[0])

    yield from each(seen, _VOLATILE, "volatile ECC error count", text_of, judge, "0", history=_once)


def _once(gpu: Gpu) -> str:
    """Uncorrectable errors that were counted before the driver was loaded."""
    counts = {"SRAM": number(gpu.aggregate_sram), "DRAM": number(gpu.aggregate_dram)}
    past = ", ".join(f"{count} in {name}" for name, count in counts.items() if count)
    return f"had {past} in its life" if past else ""


def _remapped(gpu: Gpu) -> str:
    rows = number(gpu.remapped_uncorrectable)
    return f"has {rows} rows remapped after uncorrectable errors" if rows else ""


def _none_such(text: str) -> bool:
    return text.lower() in drivers.NONE_SUCH


def _repair(seen: Scope) -> Iterator[Check]:
    waits = must_be_no(_REPAIR, "a repair of the memory waits for a reset of the GPU")

    def judge(gpu: Gpu, text: str) -> Check | None:
        return waits(gpu, "Yes" if text.lower() == drivers.PENDING else text)

    def text_of(gpu: Gpu) -> str:
        # What waits stands for both, then nothing, then what nobody knows, then N/A.
        order = ("no", *reversed(drivers.NONE_SUCH), "?", "", drivers.PENDING, "yes")

        def weight(text: str) -> int:
            return order.index(text.lower() if text.lower() in order else "?")

        shown = (gpu.channel_repair, gpu.tpc_repair)
        worst = max(shown, key=weight)
        return "No" if _none_such(worst) and "no" in (entry.lower() for entry in shown) else worst

    yield from each(seen, _REPAIR, "pending repair", text_of, judge, "No", newer=True)


def _no(
    seen: Scope,
    check_id: str,
    what: str,
    name: str,
    *,
    newer: bool = True,
    history: Callable[[Gpu], str] = lambda gpu: "",
) -> list[Check]:
    """A property of Gpu that must be "No"."""
    return each(seen, check_id, what, attrgetter(name), must_be_no(check_id), "No", newer=newer, history=history)


def _rows(seen: Scope) -> Iterator[Check]:
    yield from _no(seen, _FAILURE, "row remapping", "remapped_failure")
    yield from _no(seen, _ROWS_PENDING, "row remapping", "remapped_pending", history=_remapped)
    judge = none_of(_SPARE, "{} banks have no spare row left")
    yield from each(seen, _SPARE, "row remapping", attrgetter("banks_without_spare"), judge, "0", newer=True)


def _pages(seen: Scope) -> Iterator[Check]:
    yield from _no(seen, _PAGES_PENDING, "page retirement", "retired_pending", newer=False)

    def total(gpu: Gpu) -> str:
        single, double = number(gpu.retired_single), number(gpu.retired_double)
        if single is None or double is None:
            return gpu.retired_double
        return str(single + double)

    most = drivers.RETIRED_PAGES_MOST - 1
    cause = "{} memory pages were taken out of use: NVIDIA replaces such a GPU"
    judge = none_of(_PAGES, cause, most)
    yield from each(seen, _PAGES, "page retirement", total, judge, f"at most {most}")


def _bar1(most: str, gpu: Gpu, text: str) -> Check | None:
    used, total = number(text), gpu.bar1_total_mib
    if used is None or not total:
        raise ValueError(text)
    if used <= drivers.BAR1_FULL * total:
        return None
    return failed(_BAR1, subject(gpu), f"{used} of {total} MiB of BAR1", most, CAPABILITY)


def _load(seen: Scope, gpu: Gpu, text: str) -> Check | None:
    """Busy at two looks, and no program is listed whose work it is."""
    load, programs, events = number(text), number(gpu.programs), gpu.clocks_events
    if load is None:
        raise ValueError(text)
    if load < drivers.BUSY or programs or (events or {}).get(drivers.IDLE) == drivers.ACTIVE:
        return None
    if seen.machine.holds_part:
        raise LeftOut(f"programs outside of this container are not seen ({seen.machine.holds_part})")
    if gpu.virtualization.lower() == drivers.VGPU:
        raise LeftOut("a virtual GPU does not tell of programs")
    if gpu.persistence == ON_OR_OFF[1]:
        raise LeftOut("without persistence mode nvidia-smi itself starts the GPU, and counts that")
    if events is None:
        raise Unsure(f"it is busy ({text}), and nvidia-smi does not tell whether the GPU is idle")
    if programs is None:
        raise Unsure(f"it is busy ({text}), and nvidia-smi tells of no programs ({gpu.programs or 'not shown'})")
    if seen.facts.later.value is None:
        raise Unsure(f"{text}, and nobody could look again: {seen.facts.later.why}")
    again = [other for other in seen.facts.later.value.gpus if other.address == gpu.address]
    if not again:
        raise Unsure(f"{text}, and the second look does not show it")
    if not is_orphaned(again[0]):
        return None
    return failed(_LOAD, subject(gpu), f"busy ({text}), with no program", "idle", CAPABILITY)


def _held(seen: Scope, gpu: Gpu, text: str) -> Check | None:
    """Memory that is in use on an idle GPU for which nvidia-smi lists no program."""
    used, total = number(text), gpu.memory_total_mib
    if seen.machine.holds_part:
        raise LeftOut(f"programs outside of this container are not seen ({seen.machine.holds_part})")
    if gpu.virtualization.lower() == drivers.VGPU:
        raise LeftOut("a virtual GPU does not tell of programs")
    if gpu.addressing_mode in drivers.SHARED_WITH_KERNEL:
        raise LeftOut("its memory is the kernel's, too, which keeps files in it")
    if used is None or not total:
        raise ValueError(text)
    if used <= max(drivers.MEMORY_OWN_MIB, drivers.MEMORY_OWN * total):
        return None
    programs, events = number(gpu.programs), gpu.clocks_events
    if programs:
        return None
    if events is None:
        raise Unsure(f"{used} MiB are in use, and nvidia-smi does not tell whether the GPU is idle")
    # What runs may be of a user whose programs are not shown.
    if events.get(drivers.IDLE) != drivers.ACTIVE:
        return None
    if programs is None:
        raise Unsure(f"{used} MiB are in use, and nvidia-smi tells of no programs ({gpu.programs or 'not shown'})")
    return failed(_HELD, subject(gpu), f"{used} of {total} MiB, by no program", "free", CAPABILITY)
