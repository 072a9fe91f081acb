# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what DeepSpeed says of a training's times: its step lines, wall clocks, communication and profiler.

``wall_clock_breakdown`` gives a line of timers for each micro step, and at the end of a step one for all of it, which
has the same names without ``_microstep``. Before release 0.14 the names were long: forward, backward. The clocks leave
out what lies between them, such as the loader of data: a step is as long as the stamps of its lines say.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Mapping, Sequence

from .._ground.text import ends_early, flat_lines, no_facts
from . import _collective_names, _times
from ._times import Collective, Step, Times

_TOOL = "deepspeed_log"
NOTHING: dict[str, Any] = {
    "steps": [],
    "speeds": [],
    "timers": [],
    "pipeline": [],
    "operations": [],
    "profiles": [],
    "settings": {},
}
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,17})?"
_STEP = re.compile(r"\bstep=([0-9]{1,12}), skipped=([0-9]{1,12}), lr=")
_SPEED = re.compile(
    r"(?:epoch=[0-9]{1,9}/micro_step=[0-9]{1,12}/global_step=|\b[0-9]{1,9}/)([0-9]{1,12}), "
    rf"(?:RunningAvgSamplesPerSec=({_NUMBER}), )?(?:Curr)?SamplesPerSec=({_NUMBER})"
)
# Of a step, and not of a micro step as releases before 0.5 have it.
_WHOLE = "global_step="
_TIMERS = re.compile(r"(?:\brank=([0-9]{1,9}) )?\btime \(ms\) \|(.{1,2000})")
# Who wrote the line, by DeepSpeed's logger.
_LOGGER = re.compile(r"\[Rank ([0-9]{1,7})\]")
_HEAD = re.compile(r"^(?:\[[^\]]{1,80}\] ){0,4}")
_ENTRY = re.compile(rf"([a-z][a-z0-9_]{{1,60}}): ({_NUMBER})")
_PIPELINE = re.compile(
    rf"\bsteps: ([0-9]{{1,12}}) loss: \S{{1,30}} iter time \(s\): ({_NUMBER}) samples/sec: ({_NUMBER})"
)
_BATCH = re.compile(
    r"\b(train_batch_size|gradient_accumulation_steps|train_micro_batch_size_per_gpu) \.{2,60} (\d{1,9})$"
)
# Its stage of ZeRO, by the line of the optimizer and by the configuration in its two forms and as JSON.
_STAGE = re.compile(
    r"ZeRO stage ([0-3]) optimizer|\bzero_optimization_stage \.{2,60} ([0-3])$"
    r'|\bzero_config \.{2,60} .{0,20}\bstage=([0-3])\b|"stage": ([0-3])\b'
)
_STAMP = re.compile(r"\[([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}),([0-9]{3})\] \[")
_SIZE = rf"({_NUMBER}) ?(B|KB|MB|GB|TB)"
_VERBOSE = re.compile(
    rf"comm op: ([a-z0-9_]{{2,60}})(?: \| \[Caller Func: [^|]{{1,200}}\])? \| time \(ms\): ({_NUMBER}) "
    rf"\| msg size: {_SIZE} \| algbw \(Gbps\): ({_NUMBER}) \| busbw \(Gbps\): ({_NUMBER})"
)
_TABLE = "Comm. Op Message Size Count Total Latency(ms) Avg Latency(ms)"
_STRAGGLERS = "Comm. Op Message Size Count Total comm lat(ms) Total straggler(ms)"
_OPERATION = re.compile(r"([a-z][a-z0-9_]{2,60})(?: \| \[Caller Func: [^|]{1,200}\])?")
_ROW = re.compile(rf"{_SIZE} ([0-9]{{1,12}}) ({_NUMBER}) ({_NUMBER}) ({_NUMBER}) ({_NUMBER})")
_PROFILE = re.compile(r"Profile Summary at step ([0-9]{1,12})\b")
_LATENCY = re.compile(rf"(fwd|bwd|step|iter) latency: ({_NUMBER}) (s|ms|us)")
_SCALE = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_BYTES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
# The names of a step's clocks, new and old.
_FORWARD, _BACKWARD = ("fwd", "forward"), ("bwd", "backward")
_INNER, _REDUCE = ("bwd_inner", "backward_inner"), ("bwd_allreduce", "backward_allreduce")
_MICRO = "_microstep"
# Of the optimizer's own line, before the step's: gathering the parameters, with ZeRO 1 and 2.
_GATHER = "optimizer_allgather"
_PIPE = ("pipe_send_output", "pipe_recv_input", "pipe_send_grad", "pipe_recv_grad")


@dataclass(frozen=True)
class Speed:
    """Samples a second at the end of a step. ``micro``: whether the number counts micro steps."""

    step: int
    mean: float | None
    current: float
    micro: bool


@dataclass(frozen=True)
class Timers:
    """One line of clocks. ``after``: the step whose line was the last before it, None without one.
    ``at``: when the line was written, in seconds since some day; None where it does not say."""

    ms: Mapping[str, float]
    after: int | None = None
    at: float | None = None


@dataclass(frozen=True)
class Operation:
    """A row of the table of communication, or a line of one call (``count`` 1 and ``whole``).

    ``size``: bytes, as far as the rounded number tells. Milliseconds; Gbit/s. Of the table of stragglers
    ``straggler_ms``, all calls together; None of the other one.
    """

    name: str
    size: int
    count: int
    total_ms: float
    mean_ms: float
    busbw: float | None = None
    straggler_ms: float | None = None


@dataclass(frozen=True)
class Profile:
    """Seconds of one step, as the flops profiler measured them, by fwd, bwd, step and iter."""

    step: int | None
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class DeepspeedLog:
    """``steps``: the number of each step line, and how many steps were skipped until then. ``pipeline``: of each line
    the step, its seconds and samples a second. ``settings``: sizes of batches, as the configuration tells them.
    ``rank``: whose clocks they are, "" where no line or several ranks tell it."""

    steps: tuple[tuple[int, int], ...] = ()
    speeds: tuple[Speed, ...] = ()
    timers: tuple[Timers, ...] = ()
    pipeline: tuple[tuple[int, float, float], ...] = ()
    operations: tuple[Operation, ...] = ()
    profiles: tuple[Profile, ...] = ()
    settings: Mapping[str, str] | None = None
    rank: str = ""


def parse(text: str) -> DeepspeedLog:
    """All that the lines tell; ParseError for a text without one such line."""
    lines = flat_lines(text)
    reader = _Reader()
    end = len(lines) - 1 if ends_early(text) else len(lines)
    for line in lines[:end]:
        reader.read(line)
    if not (reader.steps or reader.speeds or reader.timers or reader.pipeline or reader.operations or reader.profiles):
        raise no_facts(_TOOL, lines, "no line in which DeepSpeed tells of steps or times")
    return DeepspeedLog(
        tuple(reader.steps),
        tuple(reader.speeds),
        tuple(reader.timers),
        tuple(reader.pipeline),
        tuple(reader.operations),
        tuple(Profile(step, seconds) for step, seconds in reader.profiles if seconds),
        reader.settings,
        reader.ranks.pop() if len(reader.ranks) == 1 else "",
    )


class _Reader:
    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []
        self.speeds: list[Speed] = []
        self.timers: list[Timers] = []
        self.pipeline: list[tuple[int, float, float]] = []
        self.operations: list[Operation] = []
        self.profiles: list[tuple[int | None, dict[str, float]]] = []
        self.settings: dict[str, str] = {}
        self.ranks: set[str] = set()
        self._step: int | None = None
        self._table = ""
        self._operation = ""

    def read(self, line: str) -> None:
        if "Comm. Op" in line and (head := _HEAD.sub("", line, count=1)).startswith((_TABLE, _STRAGGLERS)):
            self._table, self._operation = (_TABLE if head.startswith(_TABLE) else _STRAGGLERS), ""
        elif step := _STEP.search(line):
            self.steps.append((int(step[1]), int(step[2])))
            self._step = int(step[1])
        elif speed := _SPEED.search(line):
            mean = float(speed[2]) if speed[2] else None
            self.speeds.append(Speed(int(speed[1]), mean, float(speed[3]), _WHOLE not in line))
        elif verbose := _VERBOSE.search(line):
            ms = float(verbose[2])
            self.operations.append(Operation(verbose[1], _size(verbose[3], verbose[4]), 1, ms, ms, float(verbose[6])))
        elif clocks := _TIMERS.search(line):
            entries = {name: float(value) for name, value in _ENTRY.findall(clocks[2])}
            if any(name.partition(_MICRO)[0] in (*_FORWARD, *_BACKWARD, "step", _GATHER, *_PIPE) for name in entries):
                self.timers.append(Timers(entries, self._step, _stamp(line)))
                self.ranks.update(told[1] for told in (_LOGGER.search(line),) if told)
        elif pipeline := _PIPELINE.search(line):
            self.pipeline.append((int(pipeline[1]), float(pipeline[2]), float(pipeline[3])))
        elif batch := _BATCH.search(line):
            self.settings.setdefault(batch[1], batch[2])
        elif zero := _STAGE.search(line):
            self.settings.setdefault("zero_stage", next(stage for stage in zero.groups() if stage))
        elif self._table:
            self._of_table(line)
        else:
            self._of_profile(line)

    def _of_table(self, line: str) -> None:
        row = _ROW.fullmatch(line)
        name = _OPERATION.fullmatch(line)
        if row is not None and self._operation:
            size, count, one, two = _size(row[1], row[2]), int(row[3]), float(row[4]), float(row[5])
            if self._table == _TABLE:
                told = Operation(self._operation, size, count, one, two, float(row[7]))
            else:
                told = Operation(self._operation, size, count, one, float(row[6]), None, two)
            self.operations.append(told)
        elif name is not None:
            self._operation = name[1]
        elif line:
            self._table = ""

    def _of_profile(self, line: str) -> None:
        begun = _PROFILE.search(line)
        latency = _LATENCY.fullmatch(line)
        if begun is not None:
            self.profiles.append((int(begun[1]), {}))
        elif latency is not None:
            if not self.profiles or latency[1] in self.profiles[-1][1]:
                self.profiles.append((None, {}))
            self.profiles[-1][1][latency[1]] = float(latency[2]) * _SCALE[latency[3]]


def _stamp(line: str) -> float | None:
    told = _STAMP.search(line)
    if told is None:
        return None
    try:
        since = datetime.strptime(told[1], "%Y-%m-%d %H:%M:%S") - datetime(2000, 1, 1)
    except ValueError:
        return None
    return (since + timedelta(milliseconds=int(told[2]))).total_seconds()


def _size(number: str, unit: str) -> int:
    return round(float(number) * _BYTES[unit])


def facts(parsed: DeepspeedLog) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "steps": [{"step": step, "skipped": skipped} for step, skipped in parsed.steps],
        "speeds": [asdict(speed) for speed in parsed.speeds],
        "timers": [{"ms": dict(clocks.ms), "after_step": clocks.after} for clocks in parsed.timers],
        "pipeline": [{"step": step, "seconds": took, "samples_per_s": fast} for step, took, fast in parsed.pipeline],
        "operations": [asdict(operation) for operation in parsed.operations],
        "profiles": [{"step": profile.step, "seconds": dict(profile.seconds)} for profile in parsed.profiles],
        "settings": dict(parsed.settings or {}),
    }


def times(parsed: DeepspeedLog) -> Times:
    """Steps by the best source there is: wall clocks, the pipeline's lines, samples a second, the profiler."""
    steps = _by_clock(parsed) or _by_pipeline(parsed) or _by_speed(parsed) or _by_profile(parsed)
    steps = [replace(step, rank=parsed.rank) for step in steps]
    settings = dict(parsed.settings or {})
    if parsed.speeds:
        settings["samples_per_second"] = f"{parsed.speeds[-1].mean or parsed.speeds[-1].current:g}"
    # The table of stragglers tells of the same calls again.
    once = [operation for operation in parsed.operations if operation.straggler_ms is None]
    return Times(tuple(steps), tuple(map(_collective, once)), settings=settings)


def _by_clock(parsed: DeepspeedLog) -> list[Step]:
    whole = any(_first(clocks.ms, _FORWARD) is not None for clocks in parsed.timers)
    suffix = "" if whole else _MICRO
    lines: list[tuple[Timers, float | None]] = []
    gathered: float | None = None
    for clocks in parsed.timers:
        gathered = clocks.ms.get(_GATHER, gathered)
        if _first(clocks.ms, _FORWARD, suffix) is not None:
            lines.append((clocks, gathered))
            gathered = None
    numbers = _numbers([clocks.after for clocks, _gathered in lines])
    steps = [_step(number, clocks.ms, gathered, suffix) for number, (clocks, gathered) in zip(numbers, lines)]
    lengths = _by_stamp([clocks.at for clocks, _gathered in lines], numbers)
    if whole and not any(lengths):
        lengths = _by_samples(parsed, numbers)
    hides = _hides(parsed)
    return [
        replace(step, seconds=max(length, step.seconds) if length else step.seconds, summed=length is None, hides=hides)
        for step, length in zip(steps, lengths)
    ]


def _by_stamp(stamps: Sequence[float | None], numbers: Sequence[int]) -> list[float | None]:
    """Seconds from the line before to each line; of a line that has none before it, what is usual."""
    own: list[float | None] = [None]
    for at in range(1, len(stamps)):
        begun, ended, count = stamps[at - 1], stamps[at], numbers[at] - numbers[at - 1]
        told = begun is not None and ended is not None and ended > begun and count == 1
        own.append(ended - begun if told and begun is not None and ended is not None else None)
    known = [length for length in own if length is not None]
    usual = median(known) if known else None
    return [usual if length is None else length for length in own][: len(stamps)]


def _by_samples(parsed: DeepspeedLog, numbers: Sequence[int]) -> list[float | None]:
    """The same by samples a second, where the size of a batch is told."""
    told = {step.step: step.seconds for step in _by_speed(parsed)}
    usual = median(told.values()) if told else None
    return [told.get(number, usual) for number in numbers]


def _hides(parsed: DeepspeedLog) -> tuple[str, ...]:
    """What else the clocks of the passes hold; of ZeRO 1 and 2 the optimizer gathers, on a line of its own."""
    stage = (parsed.settings or {}).get("zero_stage")
    early = any(_GATHER in clocks.ms for clocks in parsed.timers) if stage is None else stage != "3"
    return (*(() if early else (_times.GATHERING,)), _times.TENSORS, _times.EXPERTS)


def _numbers(told: list[int | None]) -> list[int]:
    """Number the steps: one by one, and anew where a step line told the number just before."""
    known = next(((at, step) for at, step in enumerate(told) if step is not None), None)
    number = known[1] - known[0] - 1 if known else 0
    numbers, last = [], None
    for step in told:
        number = step if step is not None and step != last else number + 1
        last = step
        numbers.append(max(0, number))
    return numbers


def _step(number: int, ms: Mapping[str, float], gathered: float | None, suffix: str) -> Step:
    """``gathered``: what gathering the parameters took of the time that ``step`` tells."""
    forward, backward = _first(ms, _FORWARD, suffix) or 0.0, _first(ms, _BACKWARD, suffix) or 0.0
    inner, reduced = _first(ms, _INNER, suffix), _first(ms, _REDUCE, suffix)
    loaded, ended = ms.get("batch_input"), ms.get("step" + suffix)
    within = inner if inner is not None else max(0.0, backward - (reduced or 0.0))
    told = {
        _times.COMPUTE: forward + within,
        _times.COMMUNICATION: None if reduced is None and gathered is None else (reduced or 0.0) + (gathered or 0.0),
        _times.OPTIMIZER: None if ended is None else max(0.0, ended - (gathered or 0.0)),
        _times.INPUT: loaded,
    }
    parts = {part: value / 1e3 for part, value in told.items() if value is not None}
    return Step(number, (forward + backward + (ended or 0.0) + (loaded or 0.0)) / 1e3, parts=parts)


def _first(ms: Mapping[str, float], names: tuple[str, ...], suffix: str = "") -> float | None:
    return next((ms[name + suffix] for name in names if name + suffix in ms), None)


def _by_pipeline(parsed: DeepspeedLog) -> list[Step]:
    return [Step(step, seconds) for step, seconds, _speed in parsed.pipeline]


def _by_speed(parsed: DeepspeedLog) -> list[Step]:
    batch = int((parsed.settings or {}).get("train_batch_size", "0"))
    usable = [speed for speed in parsed.speeds if batch and speed.current > 0 and not speed.micro]
    return [Step(speed.step, batch / speed.current) for speed in usable]


def _by_profile(parsed: DeepspeedLog) -> list[Step]:
    found = []
    for profile in parsed.profiles:
        seconds = profile.seconds
        if "iter" in seconds:
            parts = {_times.COMPUTE: seconds.get("fwd", 0.0) + seconds.get("bwd", 0.0)}
            if "step" in seconds:
                parts[_times.OPTIMIZER] = seconds["step"]
            # Its iteration is the sum of the three.
            found.append(Step(profile.step or 0, seconds["iter"], parts=parts, hides=_hides(parsed), summed=True))
    return found


def _collective(told: Operation) -> Collective:
    """Of a table's row the mean, as one call."""
    busbw = () if told.busbw is None else (told.busbw / 8,)
    return Collective(_collective_names.plain(told.name), told.size, (told.mean_ms / 1e3,), busbw)
