# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job says of its parallelism and its messages, read from a DeepSpeed JSON or Megatron's arguments.

Names and defaults are those of DeepSpeed's runtime/zero/config.py and of Megatron-LM's training/arguments.py.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any, Iterator, Mapping

DEEPSPEED, MEGATRON = "DeepSpeed", "Megatron-LM"

# No file of settings and no command line is longer.
_LONGEST = 20_000
# Elements of a bucket where the file does not say (DeepSpeedZeroConfig).
_BUCKET = 500_000_000


@dataclass(frozen=True)
class Settings:
    """None is "not told". ``zero``: stage of ZeRO, or of Megatron's distributed optimizer 1. ``bucket``: gradients
    that are reduced at a time, in elements. ``overlap``: gradients are reduced while the backward pass goes on;
    ``overlap_gather``: parameters are gathered beside computation. ``workers``: processes that load data for each
    rank. ``world``: ranks. Sizes of batches are in samples."""

    framework: str = ""
    zero: int | None = None
    accumulation: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    bucket: int | None = None
    gather_bucket: int | None = None
    overlap: bool | None = None
    overlap_gather: bool | None = None
    tensor: int | None = None
    pipeline: int | None = None
    data: int | None = None
    context: int | None = None
    expert: int | None = None
    sequence: bool | None = None
    workers: int | None = None
    world: int | None = None
    offload: bool | None = None

    def words(self) -> tuple[str, ...]:
        """What is told, in plain words."""
        return tuple(text for name, form in _WORDS if (text := form(getattr(self, name))))


def _number(before: str, after: str = "") -> Any:
    return lambda value: "" if value is None else f"{before}{value:,}{after}".replace(",", " ")


def _switch(on: str, off: str) -> Any:
    return lambda value: "" if value is None else on if value else off


_WORDS: tuple[tuple[str, Any], ...] = (
    ("framework", lambda value: value),
    ("zero", _number("ZeRO stage ")),
    ("world", _number("", " ranks")),
    ("tensor", _number("tensor parallel over ")),
    ("pipeline", _number("pipeline over ")),
    ("data", _number("data parallel over ")),
    ("context", _number("context parallel over ")),
    ("expert", _number("experts over ")),
    ("sequence", _switch("sequence parallel", "no sequence parallel")),
    ("micro_batch", _number("", " samples a rank at a time")),
    ("accumulation", _number("gradients accumulated over ", " of these")),
    ("global_batch", _number("", " samples a step")),
    ("bucket", _number("gradients reduced in buckets of ", " elements")),
    ("gather_bucket", _number("parameters gathered in buckets of ", " elements")),
    ("overlap", _switch("reduction beside the backward pass", "no reduction beside the backward pass")),
    ("overlap_gather", _switch("gathering beside computation", "no gathering beside computation")),
    ("workers", _number("", " loader processes a rank")),
    ("offload", _switch("optimizer or parameters offloaded to the host", "nothing offloaded")),
)


def settings(text: str) -> Settings:
    """Of a DeepSpeed JSON file, a command line, a launch script, or a log that prints either."""
    if len(text) > _LONGEST:
        return Settings()
    found: dict[str, Any] = {}
    for values in _objects(text):
        found.update(_deepspeed(values))
    found.update(_printed(text))
    found.update(_arguments(text))
    found.update(_sizes(text))
    return _whole(found)


def of(told: Mapping[str, str]) -> Settings:
    """Of what was read as Times.settings: the same names, each with its value."""
    found: dict[str, Any] = {}
    zero: dict[str, Any] = {}
    for name, value in told.items():
        key = name.strip().lstrip("-").split(".")[-1]
        zero[key] = value
        found.update(_named(key, value))
    found.update(_deepspeed({**zero, "zero_optimization": zero}, False))
    return _whole(found)


def merged(first: Settings, second: Settings) -> Settings:
    """What the first tells, and what only the second does."""
    return Settings(**{f.name: _first(getattr(first, f.name), getattr(second, f.name)) for f in fields(Settings)})


def _first(mine: Any, other: Any) -> Any:
    return other if mine is None or mine == "" else mine


def _whole(found: dict[str, Any]) -> Settings:
    """With what follows from it."""
    tensor, pipeline, context = (found.get(name) or 1 for name in ("tensor", "pipeline", "context"))
    world, data = found.get("world"), found.get("data")
    if data is None and world and found.get("framework") == MEGATRON and world % (tensor * pipeline * context) == 0:
        data = found["data"] = world // (tensor * pipeline * context)
    micro, batch = found.get("micro_batch"), found.get("global_batch")
    if found.get("accumulation") is None and micro and batch and data and batch % (micro * data) == 0:
        found["accumulation"] = batch // (micro * data)
    return Settings(**found)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects in the text that look like DeepSpeed's: the whole text, or the one that a log prints."""
    decoder, end = json.JSONDecoder(), 0
    for opened in _OPENED.finditer(text):
        if opened.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, opened.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and _DEEPSPEED_KEYS & set(value):
            yield value


# A log that prints a configuration prints its objects with keys, on one line or many.
_OPENED = re.compile(r"\{\s{0,20}\"")
_DEEPSPEED_KEYS = {
    "zero_optimization",
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
    "wall_clock_breakdown",
}


def _deepspeed(values: Mapping[str, Any], whole: bool = True) -> dict[str, Any]:
    """Of a DeepSpeed configuration; "auto" is what the launcher fills in, and so not told."""
    zero = values.get("zero_optimization", {})
    zero = {"stage": 1} if zero is True else zero if isinstance(zero, dict) else {}
    stage = _int(zero.get("stage", 0 if whole else None))
    found: dict[str, Any] = {
        "framework": DEEPSPEED if whole or "stage" in zero or "zero_stage" in values else None,
        "zero": stage,
        "accumulation": _int(values.get("gradient_accumulation_steps")),
        "micro_batch": _int(values.get("train_micro_batch_size_per_gpu")),
        "global_batch": _int(values.get("train_batch_size")),
        "bucket": _int(zero.get("reduce_bucket_size", _BUCKET if whole and stage else None)),
        "gather_bucket": _int(zero.get("allgather_bucket_size", _BUCKET if whole and stage else None)),
        "overlap": _bool(zero.get("overlap_comm")),
        "offload": _offload(zero) if whole else None,
    }
    if found["overlap"] is None and "overlap_comm" not in zero and whole and stage is not None:
        found["overlap"] = stage == 3  # the default goes by the stage
    parallel = values.get("tensor_parallel")
    if isinstance(parallel, dict):
        found["tensor"] = _int(parallel.get("autotp_size"))
    return {name: value for name, value in found.items() if value is not None}


def _offload(zero: Mapping[str, Any]) -> bool:
    devices = [zero.get(name) for name in ("offload_optimizer", "offload_param")]
    return any(isinstance(each, dict) and each.get("device") not in (None, "none") for each in devices)


# [2024-07-10 14:14:51,803] [INFO] [config.py:1000:print]   gradient_accumulation_steps .. 1
#   tensor_model_parallel_size ...................... 2
_PRINTED = re.compile(r"(?:^|[\]\s])([a-z][a-z0-9_]{2,60}) \.{2,80} ?(\S{1,40})[ \t]*$", re.MULTILINE)
# using world size: 16, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 2, ...
_SIZE = re.compile(
    r"\b(world|data-parallel|context-parallel|tensor-model-parallel|pipeline-model-parallel)[ -]size: ?(\d{1,7})"
)
# --tensor-model-parallel-size 2, --micro-batch-size=4, --overlap-grad-reduce
_ARGUMENT = re.compile(
    r"(?:^|[\s\"'=\\(\[,])--([a-z][a-z0-9-]{2,60})(?:[= \t]{1,4}([^\s\"'\\)\],-][^\s\"'\\)\],]{0,40}))?", re.MULTILINE
)


def _printed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in _PRINTED.finditer(text):
        found.update(_named(line[1], line[2]))
        if line[1] in ("zero_enabled", "zero_config", "wall_clock_breakdown"):
            found["framework"] = DEEPSPEED
    return found


def _arguments(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for argument in _ARGUMENT.finditer(text):
        found.update(_named(argument[1].replace("-", "_"), argument[2] if argument[2] is not None else "True"))
    return found


def _sizes(text: str) -> dict[str, Any]:
    names = {
        "world": "world",
        "data-parallel": "data",
        "context-parallel": "context",
        "tensor-model-parallel": "tensor",
        "pipeline-model-parallel": "pipeline",
    }
    found: dict[str, Any] = {names[each[1]]: int(each[2]) for each in _SIZE.finditer(text)}
    return {**found, "framework": MEGATRON} if len(found) >= 3 else {}


_MEGATRON_NUMBERS = {
    "tensor_model_parallel_size": "tensor",
    "pipeline_model_parallel_size": "pipeline",
    "context_parallel_size": "context",
    "expert_model_parallel_size": "expert",
    "data_parallel_size": "data",
    "world_size": "world",
    "micro_batch_size": "micro_batch",
    "global_batch_size": "global_batch",
    "ddp_bucket_size": "bucket",
}
_MEGATRON_SWITCHES = {
    "overlap_grad_reduce": "overlap",
    "overlap_param_gather": "overlap_gather",
    "sequence_parallel": "sequence",
}
_COMMON = {
    "num_workers": "workers",
    "dataloader_num_workers": "workers",
    "gradient_accumulation_steps": "accumulation",
    "per_device_train_batch_size": "micro_batch",
    "train_micro_batch_size_per_gpu": "micro_batch",
    "train_batch_size": "global_batch",
    "zero_stage": "zero",
}


def _named(name: str, value: str) -> dict[str, Any]:
    """What an argument says by its own name; one that is switched on without a value says "True"."""
    key = name.replace("-", "_")
    for table, megatron in ((_MEGATRON_NUMBERS, True), (_COMMON, False)):
        if key in table and (number := _int(value)) is not None:
            shown = {"framework": MEGATRON} if megatron and table[key] not in ("world", "data") else {}
            return {**shown, table[key]: number}
    if key in _MEGATRON_SWITCHES and (switch := _bool(value)) is not None:
        return {"framework": MEGATRON, _MEGATRON_SWITCHES[key]: switch}
    if key == "use_distributed_optimizer" and _bool(value) is True:
        return {"framework": MEGATRON, "zero": 1}
    return {}


def _int(value: Any) -> int | None:
    """2, 2.0, "5e8"; None of anything else, "auto" too."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if 0 <= number < 1e15 and number == int(number) else None


def _bool(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False, "1": True, "0": False}.get(str(value).lower())
