# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the log of a training with Megatron-LM, or of what is built upon it: its iterations and its timers.

An iteration's line comes first and the timers after it, each as often as ``--log-interval`` says and with the mean of
that many iterations. Timers take three forms (``--timing-log-option``): the most, the least and the most, or every
rank's; until 2022 they were one line, ``time (ms) | ...``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from .._ground.text import ends_early, flat_lines, no_facts
from . import _times
from ._times import Step, Times

_TOOL = "megatron_log"
NOTHING: dict[str, Any] = {"until": None, "iterations": []}
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,6})?"
# Megatron-DeepSpeed of Argonne writes = for the colon and _ for the blank.
_ITERATION = re.compile(r"\biteration[ =]{1,2}([0-9]{1,12}) ?/ ?([0-9]{1,12}|infinity) ?\|(.{1,4000})")
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9 _()/\[\]-]{0,60}?) ?[:=] ?([0-9.eE+-]{1,24})")
# The time, and what makes milliseconds of it: Megatron-LM's name, that of Argonne, and NeMo's.
_ELAPSED = {
    "elapsed time per iteration (ms)": 1.0,
    "elapsed time per iteration ms": 1.0,
    "train step timing in s": 1e3,
}
# NeMo counts an epoch's iterations, and all of them here.
_GLOBAL = "global step"
# What else a line tells, by the names that differing releases have.
_TOLD = {
    "consumed samples": "consumed_samples",
    "global batch size": "global_batch_size",
    "throughput per GPU (TFLOP/s/GPU)": "tflops",
    "TFLOPs": "tflops",
    "TFLOPS per GPU": "tflops",
    "number of skipped iterations": "skipped",
}
_HEAD = re.compile(r"\(min, max\) time across ranks \(ms\):$|\bmax time across ranks \(ms\):$")
_HEAD_ALL = re.compile(r"(?:^|[: ])times across ranks \(ms\):$")
_NAME = r"([a-z][A-Za-z0-9/_-]{1,80})"
_SPREAD = re.compile(rf"{_NAME} ?\.{{0,60}}: \(({_NUMBER}), ({_NUMBER})\)$")
_MOST = re.compile(rf"{_NAME} \.{{2,60}}: ({_NUMBER})$")
_OF = re.compile(rf"(?:^| ){_NAME}:$")
_RANK = re.compile(rf"(?:^| )rank ?([0-9]{{1,9}}): ({_NUMBER})$")
_OLD = re.compile(r"\btime \(ms\) \|(.{1,4000})")
_OLD_ENTRY = re.compile(rf"{_NAME}: ({_NUMBER})")

# What the job says of its parallelism: the line of sizes and the arguments, both before the first iteration.
_SIZE = re.compile(
    r"\b(world|data-parallel|context-parallel|tensor-model-parallel|pipeline-model-parallel)[ -]size: ?([0-9]{1,7})"
)
_ARGUMENT = re.compile(
    r"(?:^|[\]: ])((?:world|(?:data|context|tensor_model|pipeline_model|expert_model)_parallel)_size)"
    r" \.{2,60} ?([0-9]{1,7})$|\b(use_tp_pp_dp_mapping) \.{2,60} ?(True|False)$"
)
_PIPELINE, _TENSOR = "pipeline_model_parallel_size", "tensor_model_parallel_size"
_CONTEXT, _EXPERT = "context_parallel_size", "expert_model_parallel_size"
# Ranks are then not counted stage by stage.
_MAPPING = "use_tp_pp_dp_mapping"

_PHASE = "forward-backward"
_HALVES = ("forward-compute", "backward-compute")
_INPUT = ("batch-generator",)
# Between the stages of a pipeline; all of it is within the timer of the phase.
_P2P = frozenset(
    (
        *("forward-recv", "forward-send", "backward-recv", "backward-send"),
        *("forward-send-forward-recv", "forward-send-backward-recv"),
        *("backward-send-forward-recv", "backward-send-backward-recv"),
        "forward-backward-send-forward-backward-recv",
    )
)
# Within the timer of the phase since gradients are finished there.
_SYNC = frozenset(("all-grads-sync", "embedding-grads-all-reduce", "conditional-embedder-grads-all-reduce"))
# After it, in older releases; the last two are within the optimizer's timer, or after it.
_REDUCE = frozenset(
    (
        *("grads-all-reduce", "grads-reduce-scatter", "layernorm-grads-all-reduce"),
        *("backward-params-all-reduce", "backward-embedding-all-reduce", "backward-layernorm-all-reduce"),
    )
)
_GATHER = frozenset(("params-all-gather", "backward-gather-model-params"))
# The sum of what _REDUCE tells of, where that is not told.
_REDUCE_WHOLE = "backward-reduce-model-grads"
_SAVE = frozenset(("save-checkpoint", "save-checkpoint-non-persistent"))
_KNOWN = frozenset(
    (*(_PHASE, *_HALVES, *_INPUT, "optimizer", _REDUCE_WHOLE), *_P2P, *_SYNC, *_REDUCE, *_GATHER, *_SAVE)
)


@dataclass(frozen=True)
class Timer:
    """Milliseconds. ``least``: None where only the most is told. ``ranks``: every rank's, where told."""

    name: str
    most: float
    least: float | None = None
    ranks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Iteration:
    """``elapsed``: milliseconds of one iteration, the mean since the last line. ``told``: the rest of the line."""

    number: int
    elapsed: float
    told: Mapping[str, float] = field(default_factory=dict)
    timers: tuple[Timer, ...] = ()


@dataclass(frozen=True)
class MegatronLog:
    """``until``: how many iterations the job is to do, 0 where it has no end. ``sizes``: of its parallelism."""

    iterations: tuple[Iteration, ...]
    until: int = 0
    sizes: Mapping[str, str] = field(default_factory=dict)


def parse(text: str) -> MegatronLog:
    """Every iteration with its timers; ParseError for a text without one."""
    lines = flat_lines(text)
    found: list[tuple[int, float, dict[str, float], _Timers]] = []
    until, reader = 0, _Timers()
    sizes: dict[str, str] = {}
    lines = lines[:-1] if ends_early(text) else lines
    # Of a long log the lines are as much as the text: each goes when it is read.
    lines.reverse()
    while lines:
        line = lines.pop()
        match = _ITERATION.search(line)
        told = _fields(match[3]) if match else {}
        elapsed = next((told[name] * scale for name, scale in _ELAPSED.items() if name in told), None)
        if match is not None and elapsed is not None:
            reader = _Timers()
            rest = {short: told[name] for name, short in _TOLD.items() if name in told}
            found.append((int(told.get(_GLOBAL, float(match[1]))), elapsed, rest, reader))
            until = int(match[2]) if match[2].isdigit() else 0
        else:
            # What comes before the first iteration is of the job's beginning.
            reader.read(line)
            if not found:
                sizes.update(_sizes(line))
    if not found:
        raise no_facts(_TOOL, flat_lines(text), "no line of an iteration")
    done = [Iteration(number, elapsed, told, timers.done()) for number, elapsed, told, timers in found]
    return MegatronLog(tuple(done), until, sizes)


def _sizes(line: str) -> dict[str, str]:
    argument = _ARGUMENT.search(line)
    if argument is not None:
        return {argument[1] or argument[3]: argument[2] or argument[4]}
    return {f"{size[1].replace('-', '_')}_size": size[2] for size in _SIZE.finditer(line)}


def _fields(line: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in line.split("|"):
        match = _FIELD.fullmatch(part.strip())
        if match is not None:
            value = _number(match[2])
            if value is not None:
                found.setdefault(match[1].replace("_", " "), value)
    return found


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


class _Timers:
    """The timers since the last iteration. Of a name that is told twice the first counts."""

    def __init__(self) -> None:
        self._told: dict[str, Timer] = {}
        self._ranks: dict[str, dict[str, float]] = {}
        self._begun = False
        self._of = ""
        self._last = -1

    def read(self, line: str) -> None:
        if _HEAD.search(line) or _HEAD_ALL.search(line):
            self._begun, self._of = True, ""
            return
        old = _OLD.search(line)
        if old is not None:
            entries = _OLD_ENTRY.findall(old[1])
            if any(name in _KNOWN and "-" in name for name, _value in entries):
                self._add(Timer(name, float(value)) for name, value in entries)
        elif self._begun:
            self._new(line)

    def _new(self, line: str) -> None:
        if spread := _SPREAD.search(line):
            self._add([Timer(spread[1], float(spread[3]), float(spread[2]))])
        elif most := _MOST.search(line):
            self._add([Timer(most[1], float(most[2]))])
        elif of := _OF.search(line):
            self._of, self._last = ("" if of[1] in self._ranks else of[1]), -1
        elif self._of and (told := _RANK.search(line)):
            if int(told[1]) <= self._last:
                # Ranks begin anew: the name that they belong to is missing.
                self._of = ""
                return
            self._last = int(told[1])
            self._ranks.setdefault(self._of, {})[told[1]] = float(told[2])

    def _add(self, timers: Iterable[Timer]) -> None:
        for timer in timers:
            self._told.setdefault(timer.name, timer)

    def done(self) -> tuple[Timer, ...]:
        each = [Timer(name, max(ms.values()), min(ms.values()), ms) for name, ms in self._ranks.items()]
        return (*self._told.values(), *(timer for timer in each if timer.name not in self._told))


def facts(parsed: MegatronLog) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "until": parsed.until or None,
        "iterations": [
            {
                "iteration": one.number,
                "elapsed_ms": one.elapsed,
                **one.told,
                "timers": [
                    {"name": timer.name, "most_ms": timer.most, "least_ms": timer.least, "ranks_ms": dict(timer.ranks)}
                    for timer in one.timers
                ],
            }
            for one in parsed.iterations
        ],
    }


def times(parsed: MegatronLog) -> Times:
    """An iteration as a step of the job; where the log tells every rank's timers, as a step of each rank besides."""
    steps: list[Step] = []
    for one in parsed.iterations:
        most = _parts({timer.name: timer.most for timer in one.timers})
        least = _parts({timer.name: timer.least for timer in one.timers if timer.least is not None})
        ranks = sorted({rank for timer in one.timers for rank in timer.ranks}, key=int)
        each = {rank: _parts(_of_rank(one, rank)) for rank in ranks}
        slowest = {
            part: float(max((rank for rank in ranks if part in each[rank]), key=lambda rank: each[rank][part]))
            for part in most
            if any(part in each[rank] for rank in ranks)
        }
        seconds = one.elapsed / 1e3
        hides = _hides({timer.name for timer in one.timers}, parsed.sizes) if _times.COMPUTE in most else ()
        steps.append(Step(one.number, seconds, parts=most, slowest=slowest, least=least, hides=hides))
        steps += [
            Step(one.number, seconds, rank, parts=each[rank], hides=hides, stage=_stage(rank, parsed.sizes))
            for rank in ranks
        ]
    return Times(tuple(steps), settings=_settings(parsed))


def _hides(names: set[str], sizes: Mapping[str, str]) -> tuple[str, ...]:
    """What the timers of computation hold besides: the loader and the pipeline have timers of their own at level 2."""
    found = [] if names.intersection(_INPUT) else [_times.LOADING]
    alone = sizes.get("world_size") == "1"
    if _PHASE in names and not names.issuperset(_HALVES) and not names.intersection(_P2P):
        found += [] if alone or sizes.get(_PIPELINE) == "1" else [_times.STAGES]
    for size, what in ((_TENSOR, _times.TENSORS), (_CONTEXT, _times.CONTEXT), (_EXPERT, _times.EXPERTS)):
        found += [] if alone or sizes.get(size) == "1" else [what]
    return tuple(found)


def _stage(rank: str, sizes: Mapping[str, str]) -> str:
    """Ranks are counted stage by stage, each of them of as many ranks."""
    world, stages = int(sizes.get("world_size", "0")), int(sizes.get(_PIPELINE, "0"))
    if stages < 2 or world % stages or int(rank) >= world or sizes.get(_MAPPING) == "True":
        return ""
    return str(int(rank) // (world // stages))


def _of_rank(one: Iteration, rank: str) -> dict[str, float]:
    return {timer.name: timer.ranks[rank] for timer in one.timers if rank in timer.ranks}


def _parts(ms: Mapping[str, float]) -> dict[str, float]:
    """Seconds by part, none counted twice: computation is the phase without what is known to be within it."""
    if not ms:
        return {}
    waited = sum(value for name, value in ms.items() if name in _P2P)
    synced = sum(value for name, value in ms.items() if name in _SYNC)
    reduced = sum(value for name, value in ms.items() if name in _REDUCE) or ms.get(_REDUCE_WHOLE, 0.0)
    gathered = sum(value for name, value in ms.items() if name in _GATHER)
    loaded = sum(ms.get(name, 0.0) for name in _INPUT)
    parts: dict[str, float] = {}
    phase = ms.get(_PHASE)
    halves = [ms[name] for name in _HALVES if name in ms]
    if halves and (len(halves) == len(_HALVES) or phase is None):
        # The loader runs within the forward half.
        parts[_times.COMPUTE] = max(0.0, sum(halves) - loaded)
    elif phase is not None:
        parts[_times.COMPUTE] = max(0.0, phase - loaded - waited - synced)
    if _P2P.intersection(ms) or _SYNC.intersection(ms) or _REDUCE.intersection(ms) or _REDUCE_WHOLE in ms:
        parts[_times.COMMUNICATION] = waited + synced + reduced
    if gathered:
        parts[_times.COMMUNICATION] = parts.get(_times.COMMUNICATION, 0.0) + gathered
    if loaded:
        parts[_times.INPUT] = loaded
    if "optimizer" in ms:
        parts[_times.OPTIMIZER] = max(0.0, ms["optimizer"] - ms.get("params-all-gather", 0.0))
    saved = [ms[name] for name in _SAVE if name in ms]
    if saved:
        parts[_times.CHECKPOINT] = max(saved)
    return {part: value / 1e3 for part, value in parts.items()}


def _settings(parsed: MegatronLog) -> dict[str, str]:
    last = parsed.iterations[-1].told
    known = {name: f"{last[name]:g}" for name in ("global_batch_size", "tflops") if name in last}
    seen = any(timer.name in _P2P for one in parsed.iterations for timer in one.timers)
    return {
        **known,
        **({"iterations": str(parsed.until)} if parsed.until else {}),
        **parsed.sizes,
        **({_times.PIPELINE_SEEN: "True"} if seen else {}),
    }
