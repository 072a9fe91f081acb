# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse a trace of PyTorch's profiler (Kineto): in each step how long a GPU computed, and what it waited for.

Events are read one after the other and kept as intervals, so that a trace of hundreds of megabytes takes little more
than its text. Kernels belong to the step in whose time they ran; the processor may have been in the next one already.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Iterable, Iterator, Mapping

from .._ground.text import ParseError, clean_lines
from . import _collective_names, _times
from ._times import Collective, Step, Times

_TOOL = "kineto"
NOTHING: dict[str, Any] = {"rank": None, "host": None, "steps": [], "collectives": []}
_EVENTS = re.compile(r'"traceEvents"[ \t\r\n]{0,100}:[ \t\r\n]{0,100}\[')
_JOB = re.compile(r'"distributedInfo"[ \t\r\n]{0,100}:[ \t\r\n]{0,100}(?=\{)')
_HOST_NAME = re.compile(r'"host_name"[ \t\r\n]{0,100}:[ \t\r\n]{0,100}"([\w.-]{1,255})"')
_GAP = re.compile(r"[ \t\r\n,]*")
_STEP = re.compile(r"ProfilerStep#([0-9]{1,12})$")
_LOADER = "enumerate(DataLoader)"
_COMPUTE, _COMMUNICATION, _COPY, _INPUT, _HOST = range(5)
_KERNEL = frozenset(("kernel",))
_COPIES = frozenset(("gpu_memcpy", "memcpy"))
_FILLS = frozenset(("gpu_memset", "memset"))
# What the processor does. Both releases' words: until 1.12 they were in capitals, and an operator was one of these.
_PROCESSOR = frozenset(
    ("cpu_op", "operator", "user_annotation", "cuda_runtime", "cuda_driver", "runtime", "python_function")
)
_WITHIN_GPU = ("DtoD", "Device -> Device")
_MOST_DEVICES = 256
_DIGITS = 40


@dataclass(frozen=True)
class Spent:
    """One step on one GPU, in seconds. ``device``: -1 where no GPU did anything.

    ``communication``: of NCCL's kernels; ``exposed``: of those in which nothing was computed. The rest is of the time
    without any kernel: ``copied``: to or from the processor's memory, ``loaded``: the loader of data was asked,
    ``hosted``: the processor did something else, ``idle``: nobody did anything that the trace shows.
    """

    step: int
    device: int
    seconds: float
    computed: float = 0.0
    communication: float = 0.0
    exposed: float = 0.0
    copied: float = 0.0
    loaded: float = 0.0
    hosted: float = 0.0
    idle: float = 0.0


@dataclass(frozen=True)
class Kind:
    """NCCL's kernels of one kind, with their seconds in order; they wait for other ranks within."""

    name: str
    size: int
    ranks: int
    group: str
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class Kineto:
    """``steps``: of every GPU; the whole trace as step 0 where the job marks none. ``cut``: it ends before its end."""

    rank: str
    steps: tuple[Spent, ...]
    collectives: tuple[Kind, ...]
    host: str = ""
    cut: bool = False


class _Union:
    """Intervals that come nearly in order, together."""

    def __init__(self) -> None:
        self._parts: list[tuple[float, float]] = []
        self._sorted = True

    def add(self, begin: float, end: float) -> None:
        if begin == end:
            return
        if self._parts and self._parts[-1][0] <= begin <= self._parts[-1][1]:
            self._parts[-1] = (self._parts[-1][0], max(end, self._parts[-1][1]))
            return
        self._sorted = self._sorted and (not self._parts or begin > self._parts[-1][1])
        self._parts.append((begin, end))

    def parts(self) -> list[tuple[float, float]]:
        if not self._sorted:
            old, self._parts, self._sorted = sorted(self._parts), [], True
            for begin, end in old:
                self.add(begin, end)
        return self._parts


class _Trace:
    def __init__(self) -> None:
        self.gpus: dict[int, tuple[_Union, _Union, _Union]] = {}
        self.loader = _Union()
        self.processor = _Union()
        self.steps: dict[int, tuple[float, float]] = {}
        self.collectives: dict[tuple[str, int, int, str], list[float]] = {}
        self.known = 0

    def read(self, event: Mapping[str, Any]) -> None:
        begin, took = event.get("ts"), event.get("dur")
        category, name = event.get("cat"), event.get("name")
        if event.get("ph") != "X" or not isinstance(category, str) or not isinstance(name, str):
            return
        if not isinstance(begin, (int, float)) or not isinstance(took, (int, float)) or not _sane(begin, took):
            return
        kind = category.lower()
        end = float(begin) + took
        step = _STEP.match(name)
        if kind in _PROCESSOR:
            self.known += 1
            if step is not None:
                self.steps.setdefault(int(step[1]), (float(begin), end))
            elif name.startswith(_LOADER):
                self.loader.add(float(begin), end)
            else:
                self.processor.add(float(begin), end)
        elif kind in _KERNEL or kind in _COPIES or kind in _FILLS:
            args = event.get("args")
            told: Mapping[str, Any] = args if isinstance(args, dict) else {}
            device = told.get("device", event.get("pid"))
            if isinstance(device, int):
                if device not in self.gpus and len(self.gpus) >= _MOST_DEVICES:
                    raise ParseError(_TOOL, 0, "", f"kernels of more than {_MOST_DEVICES} GPUs, in one process's trace")
                self.known += 1
                what = _of_gpu(kind, name)
                unions = self.gpus.setdefault(device, (_Union(), _Union(), _Union()))
                unions[what].add(float(begin), end)
                if what == _COMMUNICATION:
                    self.collectives.setdefault(_collective(name, told), []).append(took / 1e6)


def _sane(begin: float, took: float) -> bool:
    return 0 <= begin < 1e18 and 0 <= took < 1e15


def _of_gpu(kind: str, name: str) -> int:
    if kind in _COPIES:
        return _COMPUTE if any(word in name for word in _WITHIN_GPU) else _COPY
    return _COMMUNICATION if name.lower().startswith(("nccl", "rccl")) else _COMPUTE


def _collective(name: str, told: Mapping[str, Any]) -> tuple[str, int, int, str]:
    """Kind, bytes, ranks and process group, which traces tell of since PyTorch 2.1."""
    asked, group, dtype = told.get("Collective name"), told.get("Process Group Name"), told.get("dtype")
    elements = max(_count(told.get("In msg nelems")), _count(told.get("Out msg nelems")))
    each = _collective_names.BYTES.get(dtype.lower(), 0) if isinstance(dtype, str) else 0
    kind = _collective_names.plain(asked if isinstance(asked, str) and asked else name.partition("(")[0])
    return kind[:200], elements * each, _count(told.get("Group size")), group[:200] if isinstance(group, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**60 else 0


def parse(text: str) -> Kineto:
    """The steps of one process; ParseError for a text that is no trace, or one without a step or a kernel."""
    if "\x1b" in text or "\0" in text:
        text = "\n".join(clean_lines(text))
    text = text.lstrip("\ufeff")
    decoder = json.JSONDecoder(parse_int=_integer, strict=False)
    begun = _EVENTS.search(text)
    at = begun.end() if begun else len(text) - len(text.lstrip()) + 1 if text.lstrip().startswith("[") else None
    if at is None:
        raise ParseError(_TOOL, 0, "", "no list of events of a trace")
    trace, cut = _Trace(), True
    for event in _each(decoder, text, at):
        if event is None:
            cut = False
        elif isinstance(event, dict):
            trace.read(event)
    if not trace.gpus and not trace.steps:
        raise ParseError(_TOOL, 0, "", "no kernel of a GPU, and no step, among the events")
    kinds = (Kind(*key, tuple(seconds)) for key, seconds in trace.collectives.items())
    host = _HOST_NAME.search(text)
    return Kineto(_rank(decoder, text), tuple(_spent(trace)), tuple(kinds), host[1] if host else "", cut)


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError("a number with too many digits")
    return int(text)


def _each(decoder: json.JSONDecoder, text: str, at: int) -> Iterator[Any]:
    """Every event, and None at the end of the list; without it where the text is cut or damaged."""
    while True:
        gap = _GAP.match(text, at)
        at = gap.end() if gap else at
        if text[at : at + 1] == "]":
            yield None
            return
        if text[at : at + 1] != "{":
            return
        try:
            event, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield event


def _rank(decoder: json.JSONDecoder, text: str) -> str:
    told = _JOB.search(text)
    if told is None:
        return ""
    try:
        job, _end = decoder.raw_decode(text, told.end())
    except (ValueError, RecursionError):
        return ""
    rank = job.get("rank")
    return str(rank) if isinstance(rank, int) and not isinstance(rank, bool) else ""


def _spent(trace: _Trace) -> Iterator[Spent]:
    for device in sorted(trace.gpus) or [-1]:
        unions = trace.gpus.get(device, (_Union(), _Union(), _Union()))
        kinds = [union.parts() for union in (*unions, trace.loader, trace.processor)]
        steps = _windows(trace.steps) or _whole(kinds[:_INPUT])
        yield from _sweep(device, steps, kinds)


def _windows(steps: Mapping[int, tuple[float, float]]) -> list[tuple[int, float, float]]:
    """A step lasts until the next one begins, the last until its own end."""
    ordered = sorted((begin, end, number) for number, (begin, end) in steps.items())
    ends = [*(begin for begin, _end, _number in ordered[1:]), *(end for _begin, end, _number in ordered[-1:])]
    return [(number, begin, end) for (begin, _end, number), end in zip(ordered, ends)]


def _whole(kinds: Iterable[list[tuple[float, float]]]) -> list[tuple[int, float, float]]:
    parts = [part for kind in kinds for part in (kind[:1] + kind[-1:])]
    return [(0, min(begin for begin, _end in parts), max(end for _begin, end in parts))] if parts else []


def _sweep(
    device: int, steps: list[tuple[int, float, float]], kinds: list[list[tuple[float, float]]]
) -> Iterator[Spent]:
    """Go over all borders of intervals in their order, and count each piece for the first of its kinds."""
    borders: list[tuple[float, int, bool]] = []
    for kind, parts in enumerate(kinds):
        for begin, end in parts:
            borders += [(begin, kind, True), (end, kind, False)]
    borders.sort()
    on = [False] * len(kinds)
    at = 0
    for number, begin, end in steps:
        took = [0.0] * (len(kinds) + 1)
        communication, last = 0.0, begin
        while at < len(borders) and borders[at][0] < end:
            time, kind, begins = borders[at]
            if time > last:
                communication += time - last if on[_COMMUNICATION] else 0.0
                took[_first(on)] += time - last
                last = time
            on[kind] = begins
            at += 1
        communication += end - last if on[_COMMUNICATION] else 0.0
        took[_first(on)] += end - last
        computed, exposed, copied, loaded, hosted, idle = (value / 1e6 for value in took)
        whole = (computed, communication / 1e6, exposed, copied, loaded, hosted, idle)
        yield Spent(number, device, (end - begin) / 1e6, *whole)


def _first(on: list[bool]) -> int:
    return next((kind for kind, is_on in enumerate(on) if is_on), len(on))


def facts(parsed: Kineto) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        **({"cut": True} if parsed.cut else {}),
        "rank": parsed.rank or None,
        "host": parsed.host or None,
        "steps": [asdict(spent) for spent in parsed.steps],
        "collectives": [asdict(kind) for kind in parsed.collectives],
    }


def times(parsed: Kineto, host: str = "") -> Times:
    """Every step of every GPU; copies to and from the processor's memory are the host's.

    None of a trace that is cut: its kernels come stream by stream, so that those of all steps may be missing.
    """
    if parsed.cut:
        return Times()
    host = host or parsed.host
    many = len({spent.device for spent in parsed.steps}) > 1
    steps = []
    for spent in parsed.steps:
        rank = f"{parsed.rank or '?'} GPU {spent.device}" if many else parsed.rank
        parts = {
            _times.COMPUTE: spent.computed,
            _times.COMMUNICATION: spent.exposed,
            _times.INPUT: spent.loaded,
            _times.HOST: spent.hosted + spent.copied,
            _times.IDLE: spent.idle,
        }
        steps.append(Step(spent.step, spent.seconds, rank, host, parts))
    kinds = (
        Collective(kind.name, kind.size, kind.seconds, (), parsed.rank, host, kind.ranks, kind.group)
        for kind in parsed.collectives
    )
    return Times(tuple(steps), tuple(kinds))
