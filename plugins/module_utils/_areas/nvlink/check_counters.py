# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the NVLinks' error counters against what is known of each: no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.nvlink_errors import NO_ERRORS, SATURATED, THRESHOLDS, UNKNOWN, UNKNOWN_ENDING, Threshold
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed
from ..._ground.tally import Tally
from ..._parse.nvlink_errors import Counter, GpuErrors
from .check_links import in_mig, none_active, without_nvlink
from .check_scope import MIG, MIG_SAID, NO_LINKS, Scope, cannot_tell

MANY, ANY = "nvlink.errors.many", "nvlink.errors.any"
_SHOWN = 4


def judge_counters(scope: Scope) -> Iterator[Check]:
    reported = scope.facts.errors
    if reported.value is None:
        yield from cannot_tell((MANY, ANY), reported.why or "nobody looked")
        return
    tallies = (Tally(MANY, "GPUs"), Tally(ANY, "GPUs"))
    for gpu in reported.value.gpus:
        _one(scope, tallies, gpu)
    on_bus = scope.missing_from
    for tally in tallies:
        if reported.value.error_lines:
            tally.unsure("host", f"nvidia-smi stopped with: {reported.value.error_lines[-1]}")
        if on_bus is not None and on_bus > len(reported.value.gpus):
            tally.unsure("host", f"nvidia-smi lists {len(reported.value.gpus)} of {on_bus} GPUs")
        yield from tally.checks("no error", CAPABILITY, nothing=NO_LINKS)


def threshold(counter: Counter) -> Threshold | None:
    """What is known of the counter; None where it does not count errors."""
    if counter.counter.startswith(NO_ERRORS):
        return None
    known = THRESHOLDS.get(counter.counter)
    if known is None and counter.counter.endswith(UNKNOWN_ENDING):
        return UNKNOWN
    return known


def _one(scope: Scope, tallies: tuple[Tally, Tally], gpu: GpuErrors) -> None:
    many, few = tallies
    subject = gpu.gpu.label
    mig = scope.mig(gpu.gpu.index)
    for tally in tallies:
        if in_mig(gpu.messages) and mig:
            tally.left_out(subject, MIG)
        elif in_mig(gpu.messages):
            tally.unsure(subject, MIG_SAID)
        elif without_nvlink(gpu.messages):
            tally.left_out(subject, "the driver says that it has no NVLink")
        elif none_active(gpu.messages):
            tally.left_out(subject, "no link is up: nvlink.link.state judges that")
        elif not gpu.told:
            tally.unsure(subject, "nvidia-smi shows no error counter of its links")
    if not gpu.told:
        return
    missing = _untold(scope, gpu)
    for tally, found in zip((many, few), _sorted(gpu)):
        if found:
            tally.bad(_fault(tally.id, subject, found))
        elif missing:
            tally.unsure(subject, missing)
        else:
            tally.good(subject)


def _untold(scope: Scope, gpu: GpuErrors) -> str:
    """What was cut out between the lines, "" where each link that is up has all its counters."""
    if gpu.summed_up:
        return ""
    names: dict[int, set[tuple[int | None, str]]] = {}
    for counter in gpu.counters:
        names.setdefault(counter.link, set()).add((counter.lane, counter.counter))
    missing = scope.links_untold(gpu.gpu, set(names))
    if missing:
        return missing
    every = {name for mine in names.values() for name in mine}
    for link, mine in names.items():
        if mine != every:
            return f"link {link} lacks a counter that other links have: the listing is not whole"
    return ""


def _sorted(gpu: GpuErrors) -> tuple[list[Counter], list[Counter]]:
    """Counters that tell of a sick link, and the others that are not zero, worst first."""
    grave: list[Counter] = []
    slight: list[Counter] = []
    for entry in sorted(gpu.nonzero, key=lambda counter: -counter.value):
        limit = threshold(entry)
        if limit is None or entry.value < limit.warn:
            continue
        if limit.fail is not None and (entry.value >= limit.fail or entry.value in SATURATED):
            grave.append(entry)
        else:
            slight.append(entry)
    return grave, slight


def _fault(check_id: str, subject: str, found: list[Counter]) -> Check:
    observed = ", ".join(_shown(counter) for counter in found[:_SHOWN])
    if len(found) > _SHOWN:
        observed += f" and {len(found) - _SHOWN} more counters"
    worst = found[0]
    limit = threshold(worst) or UNKNOWN
    wanted = "0" if check_id == ANY else f"fewer than {limit.fail} {worst.counter}"
    return failed(
        check_id,
        subject,
        observed,
        wanted,
        CAPABILITY,
        cause=f"link {worst.link}: {limit.means}" if limit.means else "",
    )


def _shown(counter: Counter) -> str:
    lane = "" if counter.lane is None else f" lane {counter.lane}"
    more = " (it stopped counting)" if counter.value in SATURATED else ""
    return f"link {counter.link}{lane}: {counter.value} {counter.counter}{more}"
