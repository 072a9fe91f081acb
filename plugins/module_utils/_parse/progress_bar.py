# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what trainers show of their speed: tqdm's bars (Hugging Face, Accelerate, Lightning), the sums at their end,
Lightning's profilers, and the lines of Composer and LLM Foundry.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Mapping

from .._ground.text import ends_early, flat_lines, no_facts
from . import _times
from ._times import Step, Times

_TOOL = "progress_bar"
NOTHING: dict[str, Any] = {"bars": [], "sums": {}, "actions": [], "batches": []}
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,9})?(?:e[+-][0-9]{1,3})?"
_CLOCK = r"(?:[0-9]{1,4} days?, )?[0-9]{1,4}(?::[0-9]{2}){1,2}"
_BAR = re.compile(
    r"(?:([A-Za-z][^|%:]{0,80}): {1,2})?([0-9]{1,3})%\|[^|]{0,300}\| ?([0-9]{1,12})/([0-9]{1,12}) "
    rf"\[({_CLOCK})<(?:{_CLOCK}|\?), {{1,2}}([0-9]{{1,9}}(?:\.[0-9]{{1,3}})?)(it/s|s/it)"
)
# Bars of what is no training.
_OTHER = re.compile(
    r"load|shard|download|fetch|map|filter|generat|tokeniz|valid|sanity|eval|predict|test|sav|group|process|upload|"
    r"convert|quantiz|merg|pack|infer",
    re.IGNORECASE,
)
_SUMS = ("train_runtime", "train_samples_per_second", "train_steps_per_second")
# Hugging Face prints the sums as a dictionary, and as a list of its own with the running time as a clock.
_SUM = re.compile(
    rf"['\"]?\b({'|'.join(_SUMS)})['\"]? ?[:=] ?['\"]?({_NUMBER}(?:(?::[0-9]{{2}}){{2}}(?:\.[0-9]{{1,6}})?)?)"
)
_ACTION = "Action"
_MEAN, _CALLS, _TOTAL = "Mean duration (s)", "Num calls", "Total time (s)"
_ADVANCED = re.compile(r"Profile stats for: (.{1,200})$")
_CALLED = re.compile(rf"\d{{1,15}} function calls .{{0,60}}in ({_NUMBER}) seconds")
_INPUT = ("get_train_batch", "train_dataloader_next", "[_TrainingEpochLoop].train_next")
_BATCH_ACTION = "run_training_batch"
_BATCH = re.compile(r"\[batch=([0-9]{1,12})/([0-9]{1,12})\]:")
_RATE = re.compile(rf"\bthroughput/batches_per_sec: ({_NUMBER})")


@dataclass(frozen=True)
class Bar:
    """One look at a bar. ``seconds``: of one step, as tqdm has it: a moving mean, and over all at the end."""

    about: str
    step: int
    steps: int
    elapsed: float
    seconds: float


@dataclass(frozen=True)
class Action:
    """What a profiler measured, in seconds. ``calls``: 0 where they are not counted."""

    name: str
    mean: float
    calls: int
    total: float


@dataclass(frozen=True)
class ProgressBar:
    """``sums``: what a trainer says of all of its run. ``batches``: number of a batch, and batches a second then."""

    bars: tuple[Bar, ...] = ()
    sums: Mapping[str, float] | None = None
    actions: tuple[Action, ...] = ()
    batches: tuple[tuple[int, float], ...] = ()


def parse(text: str) -> ProgressBar:
    """All bars and sums; ParseError for a text without any."""
    lines = flat_lines(text)
    bars: list[Bar] = []
    sums: dict[str, float] = {}
    reader = _Profiles()
    batches: list[tuple[int, float]] = []
    batch = 0
    end = len(lines) - 1 if ends_early(text) and not lines[-1].endswith(("]", "}")) else len(lines)
    for line in lines[:end]:
        if "%|" in line:
            bars += [_bar(match) for match in _BAR.finditer(line)]
        if "train_" in line:
            sums.update((match[1], _seconds(match[2])) for match in _SUM.finditer(line))
        reader.read(line)
        begun, rate = _BATCH.search(line), _RATE.search(line)
        if begun is not None:
            batch = int(begun[1])
        if rate is not None and batch and float(rate[1]) > 0:
            batches.append((batch, float(rate[1])))
            batch = 0
    told = [entry for entry in bars if entry.seconds > 0]
    if not (told or sums or reader.actions or batches):
        raise no_facts(_TOOL, lines, "no bar, and no sums of a training")
    return ProgressBar(tuple(told), sums, tuple(reader.actions), tuple(batches))


def _bar(match: re.Match[str]) -> Bar:
    rate = float(match[6])
    seconds = rate if match[7] == "s/it" else 1 / rate if rate else 0.0
    return Bar(match[1] or "", int(match[3]), int(match[4]), _seconds(match[5]), seconds)


def _seconds(clock: str) -> float:
    """``225.8``, ``25:30``, ``1:02:09`` or ``2 days, 1:02:09``."""
    days, _word, rest = clock.rpartition(" day")
    total = 0.0
    for part in rest.lstrip("s, ").split(":"):
        total = total * 60 + float(part)
    return total + int(days or 0) * 86400


class _Profiles:
    """Lightning's tables, with the columns that their head names, and its lists of functions."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self._columns: list[str] = []
        self._about = ""

    def read(self, line: str) -> None:
        cells = [cell.strip() for cell in line.strip("| ").split("|")] if "|" in line else []
        about, called = _ADVANCED.search(line), _CALLED.search(line)
        if _ACTION in cells and _MEAN in cells:
            self._columns = cells
        elif self._columns and len(cells) == len(self._columns):
            self._row(dict(zip(self._columns, cells)))
        elif about is not None:
            self._about = about[1]
        elif called is not None and self._about:
            total = float(called[1])
            self.actions.append(Action(self._about, total, 0, total))
            self._about = ""

    def _row(self, row: Mapping[str, str]) -> None:
        mean, total, calls = row[_MEAN], row.get(_TOTAL, ""), row.get(_CALLS, "")
        if re.fullmatch(_NUMBER, mean) and re.fullmatch(_NUMBER, total):
            count = int(calls) if re.fullmatch("[0-9]{1,12}", calls) else 0
            self.actions.append(Action(row[_ACTION][:200], float(mean), count, float(total)))


def facts(parsed: ProgressBar) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "bars": [asdict(entry) for entry in parsed.bars],
        "sums": dict(parsed.sums or {}),
        "actions": [asdict(action) for action in parsed.actions],
        "batches": [{"batch": batch, "batches_per_s": rate} for batch, rate in parsed.batches],
    }


def times(parsed: ProgressBar) -> Times:
    """Steps of the bar that took longest; without bars of the lines or sums. A profiler tells what the input took."""
    sums = parsed.sums or {}
    steps = _of_bars(parsed.bars)
    if not steps:
        steps = [Step(batch, 1 / rate) for batch, rate in parsed.batches]
    profiled = _of_profiles(parsed.actions, steps[-1].step if steps else 0)
    rate = sums.get("train_steps_per_second", 0.0)
    if not steps and not profiled and rate > 0:
        steps = [Step(round(sums.get("train_runtime", 0.0) * rate), 1 / rate)]
    settings = {name: f"{sums[name]:g}" for name in _SUMS if name in sums}
    return Times((*steps, *profiled), settings=settings)


def _of_bars(bars: tuple[Bar, ...]) -> list[Step]:
    """Of one bar, by its number of steps; a look that tells the same step again is left out."""
    training: dict[int, list[Bar]] = {}
    for look in bars:
        if not _OTHER.search(look.about) and look.step:
            training.setdefault(look.steps, []).append(look)
    if not training:
        return []
    longest = max(training.values(), key=lambda looks: (looks[-1].elapsed, len(looks)))
    steps: list[Step] = []
    before, last = 0, 0
    for look in longest:
        if last - look.step > look.steps // 2:
            # The next epoch has a bar of its own. A little less is another process's bar.
            before += look.steps
        if look.step != last:
            steps.append(Step(before + look.step, look.seconds))
        last = look.step
    return steps


def _of_profiles(actions: tuple[Action, ...], last: int) -> list[Step]:
    """One step that stands for all: Lightning's batch, and what it waited for it before.

    Lists of functions have only the sums of all calls: of as many as the bar counts, and else of one step 0.
    """
    batch = next((one for one in actions if one.name == _BATCH_ACTION and one.total > 0), None)
    loaded = next((one for one in actions if one.name.endswith(_INPUT)), None)
    if batch is None or loaded is None:
        return []
    if batch.calls or batch.total > batch.mean:
        return [Step(batch.calls, batch.mean + loaded.mean, parts={_times.INPUT: loaded.mean})]
    each = loaded.total / (last or 1)
    return [Step(last, batch.total / (last or 1) + each, parts={_times.INPUT: each})]
