# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the NVLinks' error counters by what they rose between two looks: no I/O.

What stands still is history: a pass shows it. Without a second look the counts themselves are judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterator

from ..._data.nvlink_errors import SATURATED, UNKNOWN, threshold
from ..._expect.expectations import CAPABILITY
from ..._ground.check import PASS, Check, failed
from ..._ground.tally import Tally
from ..._parse.nvlink_errors import Counter, GpuErrors
from .check_links import in_mig, none_active, without_nvlink
from .check_scope import MIG, MIG_SAID, NO_LINKS, Scope, cannot_tell

MANY, ANY = "nvlink.errors.many", "nvlink.errors.any"
_SHOWN = 4


@dataclass(frozen=True)
class Risen:
    """A counter that is not zero. ``more``: what it rose by in ``seconds``; None: nobody looked."""

    counter: Counter
    more: int | None = None
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return (self.more or 0) / self.seconds if self.seconds else float(self.more or 0)


@dataclass
class _Sorted:
    """Counters that tell of a sick link now, others that rise, and those that stand still."""

    grave: list[Risen] = field(default_factory=list)
    slight: list[Risen] = field(default_factory=list)
    still: list[Risen] = field(default_factory=list)


def judge_counters(scope: Scope) -> Iterator[Check]:
    reported = scope.facts.errors
    if reported.value is None:
        yield from cannot_tell((MANY, ANY), reported.why or "nobody looked")
        return
    tallies = (Tally(MANY, "GPUs"), Tally(ANY, "GPUs"))
    still: list[str] = []
    for gpu in (*reported.value.gpus, *reported.value.headless):
        still += _one(scope, tallies, gpu)
    on_bus = scope.missing_from
    for tally in tallies:
        if reported.value.cut:
            tally.unsure("host", reported.value.cut)
        if reported.value.error_lines:
            tally.unsure("host", f"nvidia-smi stopped with: {reported.value.error_lines[-1]}")
        if on_bus is not None and on_bus > len(reported.value.gpus):
            tally.unsure("host", f"nvidia-smi lists {len(reported.value.gpus)} of {on_bus} GPUs")
        for check in tally.checks("no rising error", CAPABILITY, nothing=NO_LINKS):
            yield _with_history(check, still) if check.result == PASS else check


def _with_history(check: Check, still: list[str]) -> Check:
    if not still:
        return check
    more = f" and {len(still) - _SHOWN} more" if len(still) > _SHOWN else ""
    return replace(check, observed=f"{check.observed}; old and standing still: {', '.join(still[:_SHOWN])}{more}")


def _one(scope: Scope, tallies: tuple[Tally, Tally], gpu: GpuErrors) -> list[str]:
    """Judge one GPU; gives the counters that stand still, in words."""
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
        return []
    missing = _untold(scope, gpu)
    told = _sorted(_risen(scope, gpu))
    for tally, found in zip(tallies, (told.grave, told.slight)):
        if found:
            tally.bad(_fault(tally.id, subject, found))
        elif missing:
            tally.unsure(subject, missing)
        else:
            tally.good(subject)
    return [f"{subject} {_shown(entry)}" for entry in told.still]


def _risen(scope: Scope, gpu: GpuErrors) -> list[Risen]:
    """The counters that are not zero at either look."""
    again = scope.facts.errors_later.value
    named = gpu.gpu.index is not None
    later = next((entry for entry in again.errors.gpus if entry.gpu == gpu.gpu), None) if again and named else None
    if again is None or later is None:
        return [Risen(counter) for counter in gpu.nonzero]
    before = {(counter.link, counter.lane, counter.counter): counter.value for counter in gpu.counters}
    found = []
    for counter in later.nonzero:
        was = before.pop((counter.link, counter.lane, counter.counter), None)
        # Less than before: the driver was loaded anew, and all of it came since.
        more = None if was is None else counter.value - was if counter.value >= was else counter.value
        found.append(Risen(counter, more, again.seconds))
    gone = [counter for counter in gpu.nonzero if (counter.link, counter.lane, counter.counter) in before]
    told = {(counter.link, counter.lane, counter.counter) for counter in later.counters}
    # One that the second look does not tell of counts as it is; one that is zero now began anew.
    return found + [Risen(one) for one in gone if (one.link, one.lane, one.counter) not in told]


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


def _sorted(counters: list[Risen]) -> _Sorted:
    """By what they do to jobs, the worst first."""
    found = _Sorted()
    for entry in sorted(counters, key=lambda item: (-(item.more or 0), -item.counter.value)):
        limit = threshold(entry.counter.counter)
        value = entry.counter.value
        if limit is None or value < limit.warn:
            continue
        full = value in SATURATED
        if entry.more is None or limit.lasts:
            grave = limit.fail is not None and (value >= limit.fail or full)
        elif not entry.more:
            # Of what any one more would be a fault, a counter that can count no more is no good news.
            (found.slight if full and limit.rate == 0 else found.still).append(entry)
            continue
        else:
            grave = limit.rate is not None and entry.rate >= limit.rate
        (found.grave if grave else found.slight).append(entry)
    return found


def _fault(check_id: str, subject: str, found: list[Risen]) -> Check:
    observed = ", ".join(_shown(entry) for entry in found[:_SHOWN])
    if len(found) > _SHOWN:
        observed += f" and {len(found) - _SHOWN} more counters"
    worst = found[0]
    limit = threshold(worst.counter.counter) or UNKNOWN
    return failed(
        check_id,
        subject,
        observed,
        _wanted(check_id, worst),
        CAPABILITY,
        cause=f"link {worst.counter.link}: {limit.means}" if limit.means else "",
    )


def _wanted(check_id: str, worst: Risen) -> str:
    limit, name = threshold(worst.counter.counter) or UNKNOWN, worst.counter.counter
    if check_id == ANY:
        if worst.counter.value in SATURATED and not worst.more:
            return "a counter that can still rise"
        return "0" if worst.more is None else "none more"
    if worst.more is None or limit.lasts:
        return f"fewer than {limit.fail} {name}"
    return f"fewer than {limit.rate:g} {name} in a second" if limit.rate else f"no more {name}"


def _shown(entry: Risen) -> str:
    counter = entry.counter
    lane = "" if counter.lane is None else f" lane {counter.lane}"
    more = " (it stopped counting)" if counter.value in SATURATED else ""
    if entry.more:
        more = f", {entry.more} of them in {entry.seconds:g} s{more}"
    return f"link {counter.link}{lane}: {counter.value} {counter.counter}{more}"
