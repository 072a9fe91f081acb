# SPDX-License-Identifier: GPL-3.0-or-later
"""What the length of steps tells by itself: whether it grows, and how unsteady it is."""

from __future__ import annotations

from . import numbers, words
from .compare import grown
from .series import Series

# Ours: a tenth is no noise of a well-kept job, and a clock that heat lowers costs 5 % and more.
GROWS, UNSTEADY = 0.05, 0.1
_LEAST, _QUARTERS = 20, 4
_LEFT = 5
_DEVIATIONS = 4.0


def changed(found: Series) -> list[str]:
    """Sentences on a jump in the length of steps, and on times in which the job stood."""
    said = _silent(found)
    if found.before is not None:
        since = next(iter(found.seconds))
        before, after = found.before.typical, found.typical
        slower = after > before
        parts = [f"{each.part} {words.span(each.seconds)} more" for each in grown(found.before, found)[:2]]
        of_it = f" ({', '.join(parts)})" if slower and parts else ""
        look = " Look at what happened then: a link, clocks, another job on these hosts." if slower else ""
        said.append(
            f"From step {since} on a step takes {words.span(after)} in place of {words.span(before)}{of_it}, to the "
            f"end.{look} What follows is of the steps since."
        )
    if found.stops:
        steps = words.listed(map(str, found.stops))
        total = sum(found.stops.values())
        said.append(
            f"The job stood for {words.hours(total)} at step{'s' if len(found.stops) > 1 else ''} {steps} (stopped, "
            "queued again or suspended): that is counted in no share."
        )
    return said


def _silent(found: Series) -> list[str]:
    """A sentence on few ranks that tell of no more steps while the others go on."""
    last: dict[str, int] = {}
    for number in found.rows:
        last.update(dict.fromkeys(found.rows[number], number))
    end = max(last.values(), default=0)
    early = {rank: number for rank, number in last.items() if end - number >= max(_LEFT, len(found.rows) / 10)}
    if not early or len(early) > len(last) / 4:
        return []
    first = min(early.values())
    tell = "tells" if len(early) == 1 else "tell"
    who = words.capital(words.ranks(list(early), [found.hosts[rank] for rank in early]))
    return [f"{who} {tell} of no step after {first}, the others go on to {end}: it stopped, or its text is cut."]


def trend(found: Series) -> list[str]:
    """Sentences on growth and jitter of the usual steps; none where neither is seen."""
    values = [found.seconds[number] for number in found.usual]
    if len(values) < _LEAST:
        return []
    middle, size = numbers.median(values), len(values) // _QUARTERS
    quarters = [values[at * size : (at + 1) * size] for at in range(_QUARTERS)]
    middles = [numbers.median(quarter) for quarter in quarters]
    noise = numbers.low([numbers.spread(quarter) for quarter in quarters])
    rise = middles[-1] - middles[0]
    rising = all(before <= after for before, after in zip(middles, middles[1:]))
    notes = []
    if rising and rise >= GROWS * middle and rise >= _DEVIATIONS * numbers.error(noise, size):
        notes.append(
            f"Steps grow longer: from {words.span(middles[0])} in the first quarter to {words.span(middles[-1])} "
            "in the last. Heat that lowers clocks does that, growing memory, longer sequences."
        )
    if noise >= UNSTEADY * middle:
        notes.append(f"Steps are unsteady: they differ by {words.percent(noise / middle)} from one to the next.")
    return notes
