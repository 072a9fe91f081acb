# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the memory of every GPU: ECC, remapped rows, retired pages; no I/O."""

from __future__ import annotations

from operator import attrgetter
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, failed
from ansible_collections.ibready.cluster.plugins.module_utils._checks._tally import Tally
from ansible_collections.ibready.cluster.plugins.module_utils._checks.gpu_scope import (
    ALL_LOST,
    ON_OR_OFF,
    UNIT,
    Scope,
    Unsure,
    each,
    model,
    must_be_no,
    none_of,
    shown_by_equals,
    subject,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import drivers
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    Expected,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Gpu, number

_MODE = "gpu.ecc.mode"
_PENDING = "gpu.ecc.pending"
_VOLATILE = "gpu.ecc.volatile"
_AGGREGATE = "gpu.ecc.aggregate"
_THRESHOLD = "gpu.ecc.threshold"
_REPAIR = "gpu.ecc.repair"
_UNREPAIRABLE = "gpu.ecc.unrepairable"
_FAILURE = "gpu.rows.failure"
_ROWS_PENDING = "gpu.rows.pending"
_REMAPPED = "gpu.rows.remapped"
_SPARE = "gpu.rows.spare"
_PAGES_PENDING = "gpu.pages.pending"
_PAGES = "gpu.pages.retired"


def judge(seen: Scope) -> Iterator[Check]:
    """gpu.ecc.*, gpu.rows.*, gpu.pages.*."""
    yield from _mode(seen)
    yield from each(seen, _PENDING, "ECC mode", lambda gpu: gpu.ecc, _pending, "as now")
    for kind, check_id, when in (
        ("volatile", _VOLATILE, "since the driver was loaded"),
        ("aggregate", _AGGREGATE, "in the GPU's life"),
    ):
        yield from _errors(seen, kind, check_id, when)
    yield from each(
        seen,
        _THRESHOLD,
        "SRAM error threshold",
        lambda gpu: gpu.sram_threshold,
        must_be_no(_THRESHOLD),
        "No",
        newer=True,
    )
    yield from _repair(seen)
    yield from each(
        seen,
        _UNREPAIRABLE,
        "unrepairable memory",
        lambda gpu: gpu.unrepairable,
        must_be_no(_UNREPAIRABLE),
        "No",
        newer=True,
    )
    yield from _rows(seen)
    yield from _pages(seen)


def _mode(seen: Scope) -> Iterator[Check]:
    told = seen.expect.get("ecc")
    tally = Tally(_MODE, UNIT)
    for gpu in seen.gpus:
        wanted = told or _as_sold(gpu)
        word = "Enabled" if wanted and wanted.value else "Disabled"
        has_none = gpu.ecc.lower() in drivers.NONE_SUCH
        if gpu.ecc not in ON_OR_OFF and not has_none:
            tally.unsure(subject(gpu), f"nvidia-smi showed {gpu.ecc or 'no ECC mode'}")
        elif has_none and told is None and _must_show(gpu):
            tally.unsure(subject(gpu), f"nvidia-smi shows N/A for the ECC of {gpu.name}")
        elif has_none and (told is None or not told.value):
            tally.left_out(subject(gpu), "the GPU has no ECC")
        elif wanted is None:
            tally.left_out(subject(gpu), "nobody expects ECC of this GPU")
        elif gpu.ecc == word:
            tally.good(subject(gpu))
        else:
            tally.bad(failed(_MODE, subject(gpu), gpu.ecc, word, wanted.source))
    expected = "Disabled" if told and not told.value else "Enabled"
    yield from tally.checks(expected, told.source if told else CAPABILITY, nothing=ALL_LOST)


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


def _errors(seen: Scope, kind: str, check_id: str, when: str) -> Iterator[Check]:
    """SRAM and DRAM together: one finding for each GPU."""

    def judge(gpu: Gpu, text: str) -> Check | None:
        texts = {
            "SRAM": getattr(gpu, kind + "_sram"),
            "DRAM": getattr(gpu, kind + "_dram"),
        }
        counts = {name: number(one) for name, one in texts.items() if not _none_such(one)}
        if None in counts.values():
            raise ValueError(text)
        bad = {name: count for name, count in counts.items() if count}
        if not bad:
            for name in texts.keys() - counts.keys():
                if shown_by_equals(seen, gpu, attrgetter(f"{kind}_{name.lower()}")):
                    raise Unsure(f"N/A for {kind} {name} errors, which equal GPUs show")
            return None
        told = ", ".join(f"{count} in {name}" for name, count in bad.items())
        cause = f"uncorrectable memory errors {when}: {told}"
        return failed(check_id, subject(gpu), told, "0", CAPABILITY, cause=cause)

    def text_of(gpu: Gpu) -> str:
        texts: tuple[str, ...] = (getattr(gpu, kind + "_sram"), getattr(gpu, kind + "_dram"))
        # The oddest stands for both: nothing, then what is no number, then a number.
        odd = sorted(texts, key=lambda one: (bool(one), number(one) is not None, one))
        return next((one for one in odd if not _none_such(one)), odd[0])

    yield from each(seen, check_id, f"{kind} ECC error count", text_of, judge, "0")


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
        return "No" if _none_such(worst) and "no" in (one.lower() for one in shown) else worst

    yield from each(seen, _REPAIR, "pending repair", text_of, judge, "No", newer=True)


def _rows(seen: Scope) -> Iterator[Check]:
    yield from each(
        seen,
        _FAILURE,
        "row remapping",
        lambda gpu: gpu.remapped_failure,
        must_be_no(_FAILURE),
        "No",
        newer=True,
    )
    yield from each(
        seen,
        _ROWS_PENDING,
        "row remapping",
        lambda gpu: gpu.remapped_pending,
        must_be_no(_ROWS_PENDING),
        "No",
        newer=True,
    )
    yield from each(
        seen,
        _REMAPPED,
        "row remapping",
        lambda gpu: gpu.remapped_uncorrectable,
        none_of(_REMAPPED, lambda count: f"{count} rows were remapped after uncorrectable errors"),
        "0",
        newer=True,
    )
    yield from each(
        seen,
        _SPARE,
        "row remapping",
        lambda gpu: gpu.banks_without_spare,
        none_of(_SPARE, lambda count: f"{count} banks have no spare row left"),
        "0",
        newer=True,
    )


def _pages(seen: Scope) -> Iterator[Check]:
    yield from each(
        seen,
        _PAGES_PENDING,
        "page retirement",
        lambda gpu: gpu.retired_pending,
        must_be_no(_PAGES_PENDING),
        "No",
    )

    def total(gpu: Gpu) -> str:
        single, double = number(gpu.retired_single), number(gpu.retired_double)
        if single is None or double is None:
            return gpu.retired_double
        return str(single + double)

    most = drivers.RETIRED_PAGES_MOST - 1
    cause = "{} memory pages were taken out of use: NVIDIA replaces such a GPU"
    judge = none_of(_PAGES, lambda count: cause.format(count), most)
    yield from each(seen, _PAGES, "page retirement", total, judge, f"at most {most}")
