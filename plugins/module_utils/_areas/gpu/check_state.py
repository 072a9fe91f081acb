# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the state that every GPU is in: reset, clocks, power, MIG, compute mode; no I/O."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Iterator

from ..._data import drivers, xids
from ..._equals.compare import Part, outliers
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, skipped
from ..._ground.tally import Tally
from ..._parse import nvsmi_error
from ..._parse._nvsmi import NEEDS_RESET, Gpu, degrees, number
from .check_scope import ALL_LOST, ON_OR_OFF, UNIT, LeftOut, Scope, Unsure, each, open_, shown_by_equals, subject

_RESET = "gpu.device.reset"
_DRAIN = "gpu.device.drain"
_COMPUTE = "gpu.device.compute_mode"
_MIG = "gpu.mig.mode"
_MIG_PENDING = "gpu.mig.pending"
_CLOCKS = "gpu.clocks.throttle"
_APPLICATIONS = "gpu.clocks.applications"
_HEAT = "gpu.temperature.limit"
_POWER = "gpu.power.limit"

_COMPUTE_MODES = ("default", "exclusive_process", "exclusive process", "exclusive_thread")


def judge(seen: Scope) -> Iterator[Check]:
    """gpu.device.reset, drain and compute_mode; gpu.mig.*, gpu.clocks.*, gpu.temperature.*, gpu.power.*."""
    yield from each(seen, _RESET, "recovery action", _recovery, _reset, "None", newer=True)
    yield from each(seen, _DRAIN, "recovery action", _draining, _drain, "None", newer=True)
    yield from each(seen, _COMPUTE, "compute mode", lambda gpu: gpu.compute_mode, _compute, "not Prohibited")
    yield from _mig(seen)
    yield from each(seen, _MIG_PENDING, "MIG mode", lambda gpu: gpu.mig, _mig_pending, "as now", newer=True)
    yield from _throttle(seen)
    yield from each(
        seen, _HEAT, "temperature", lambda gpu: gpu.temp, partial(_heat, seen), "below the limit", newer=True
    )
    yield from _not_lowered(seen, _APPLICATIONS, "application clock", "app_graphics", "default_app_graphics", "MHz")
    yield from _not_lowered(seen, _POWER, "power limit", "power_limit", "power_default", "W")


def without_facts(seen: Scope) -> Iterator[Check]:
    """gpu.device.reset where nvidia-smi says that alone."""
    error = seen.facts.error
    if error is not None and error.error == nvsmi_error.NEEDS_RESET:
        yield failed(_RESET, "host", error.line, "None", CAPABILITY)


def _recovery(gpu: Gpu) -> str:
    """New drivers name an action, older ones say whether a reset is required."""
    if any(sign in gpu.trouble.lower() for sign in NEEDS_RESET):
        return "Reset"
    shown = gpu.recovery and gpu.recovery.lower() not in drivers.NONE_SUCH
    return gpu.recovery if shown else gpu.reset_required or gpu.recovery


def _reset(gpu: Gpu, text: str) -> Check | None:
    word = text.lower()
    if word in ("no", *xids.NEEDS_NOTHING, *xids.NEEDS_DRAIN):
        return None
    if word in xids.NEEDS_REBOOT:
        cause, remedy = "the driver asks for a reboot of the node", "drain and reboot the node"
    elif word in ("yes", *xids.NEEDS_RESET):
        cause, remedy = "the driver asks for a reset of the GPU", ""
    else:
        raise ValueError(text)
    return failed(_RESET, subject(gpu), text, "None", CAPABILITY, cause=cause, remedy=remedy)


def _draining(gpu: Gpu) -> str:
    shown = gpu.recovery and gpu.recovery.lower() not in drivers.NONE_SUCH
    return gpu.recovery if shown else gpu.drain_recommended or gpu.recovery


def _drain(gpu: Gpu, text: str) -> Check | None:
    word = text.lower()
    if word in ("no", *xids.NEEDS_NOTHING, *xids.NEEDS_RESET, *xids.NEEDS_REBOOT):
        return None
    if word not in ("yes", *xids.NEEDS_DRAIN):
        raise ValueError(text)
    return failed(_DRAIN, subject(gpu), text, "None", CAPABILITY)


def _compute(gpu: Gpu, text: str) -> Check | None:
    if text.lower() in _COMPUTE_MODES:
        return None
    if text.lower() != "prohibited":
        raise ValueError(text)
    return failed(_COMPUTE, subject(gpu), text, "Default", CAPABILITY)


def _mig(seen: Scope) -> Iterator[Check]:
    wanted = seen.expect.get("mig")
    if wanted is None:
        on = sum(gpu.mig == "Enabled" for gpu in seen.gpus)
        yield skipped(_MIG, "host", f"nobody expects MIG on or off; it is on for {on} GPUs")
        return
    word = "Enabled" if wanted.value else "Disabled"
    tally = Tally(_MIG, UNIT)
    for gpu in seen.gpus:
        if gpu.mig not in ON_OR_OFF and gpu.mig.lower() not in drivers.NONE_SUCH:
            open_(tally, gpu, f"nvidia-smi showed {gpu.mig or 'no MIG mode'}")
        elif gpu.mig == word or (not wanted.value and gpu.mig.lower() in drivers.NONE_SUCH):
            tally.good(subject(gpu))
        else:
            tally.fail(subject(gpu), gpu.mig, word, wanted.source)
    yield from tally.checks(word, wanted.source, nothing=ALL_LOST)


def _mig_pending(gpu: Gpu, text: str) -> Check | None:
    if {text, gpu.mig_pending} - set(ON_OR_OFF):
        raise ValueError(text)
    if gpu.mig_pending == text:
        return None
    return failed(_MIG_PENDING, subject(gpu), f"{text}, pending {gpu.mig_pending}", text, CAPABILITY)


def _throttle(seen: Scope) -> Iterator[Check]:
    tally = Tally(_CLOCKS, UNIT)
    for gpu in seen.gpus:
        events = {name: (gpu.clocks_events or {}).get(name, "") for name in drivers.SLOWED_BY}
        by = [why for name, why in drivers.SLOWED_BY.items() if events[name] == "Active"]
        known = [text for text in events.values() if text.lower() not in drivers.NONE_SUCH]
        if by:
            reported = ", ".join(by)
            tally.fail(subject(gpu), reported, "full clocks", CAPABILITY, cause=f"its clocks are held back: {by[0]}")
        elif gpu.clocks_events is None or any(text != "Not Active" for text in known):
            open_(tally, gpu, "nvidia-smi showed not all that holds the clocks back")
        elif not known:
            tally.left_out(subject(gpu), "the GPU does not tell what holds its clocks back")
        else:
            tally.good(subject(gpu))
    yield from tally.checks("full clocks", CAPABILITY, nothing=ALL_LOST)


def _heat(seen: Scope, gpu: Gpu, text: str) -> Check | None:
    """New GPUs tell how far they are from the limit, older ones temperature and limit."""
    events = gpu.clocks_events or {}
    if any(events.get(name) == "Active" for name in drivers.SLOWED_BY):
        raise LeftOut("something holds its clocks back already: see gpu.clocks.throttle")
    if degrees(text) is None:
        raise ValueError(text)
    margin = degrees(gpu.temp_margin)
    least = _first(gpu.temp_margin_most, gpu.temp_margin_slowdown)
    if margin is not None and least is not None:
        if margin <= least:
            return _hot(gpu, f"{text}, {margin} C from its limit", f"more than {least} C from it", "GPU")
    else:
        most = _first(gpu.temp_most, gpu.temp_slowdown)
        if most is None and margin is None and shown_by_equals(seen, gpu, attrgetter("temp_margin")):
            raise Unsure("nvidia-smi does not show how far it is from its limit, which it shows of equal GPUs")
        if most is None:
            raise LeftOut("nvidia-smi shows no limit of its temperature")
        if (degrees(text) or 0) >= most:
            return _hot(gpu, text, f"below {most} C", "GPU")
    memory, limit = degrees(gpu.memory_temp), degrees(gpu.memory_temp_most)
    if memory is not None and limit is not None and memory >= limit:
        return _hot(gpu, f"memory {memory} C", f"below {limit} C", "memory")
    return None


def _hot(gpu: Gpu, seen: str, due: str, what: str) -> Check:
    cause = f"its {what} is as hot as it may be: {seen}"
    return failed(_HEAT, subject(gpu), seen, due, CAPABILITY, cause=cause)


def _first(*texts: str) -> int | None:
    """The first of them that is a temperature."""
    return next((found for found in map(degrees, texts) if found is not None), None)


def _not_lowered(seen: Scope, check_id: str, what: str, name: str, default: str, unit: str) -> list[Check]:
    """A limit that is below what the GPU comes with; of one below its equals' gpu.equals.setting tells."""
    texts = {subject(gpu): {f"{name} limit": str(getattr(gpu, name))} for gpu in seen.gpus}
    parts = [
        Part(
            (gpu.name, gpu.mig, gpu.virtualization, gpu.subsystem),
            subject(gpu),
            (),
            {"nvidia-smi": texts[subject(gpu)]},
        )
        for gpu in seen.gpus
    ]
    # Of another source than this one nobody compares the GPUs.
    odd = {one.part.subject for one in outliers(parts)} if seen.facts.source == "nvsmi_xml" else set()

    def judge(gpu: Gpu, text: str) -> Check | None:
        if subject(gpu) in odd:
            raise LeftOut("its equals have another: see gpu.equals.setting")
        limit, due = number(text), number(getattr(gpu, default))
        if limit is None or due is None:
            raise ValueError(text)
        if limit >= due:
            return None
        return failed(check_id, subject(gpu), f"{limit} {unit}", f"{due} {unit}", CAPABILITY)

    def text_of(gpu: Gpu) -> str:
        return getattr(gpu, default) and str(getattr(gpu, name))

    return each(seen, check_id, what, text_of, judge, f"the default {what}", newer=name != "power_limit")
