# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces of PyTorch's profiler: what a step's time went to."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import kineto
from ansible_collections.ibready.cluster.plugins.module_utils._parse.kineto import Spent
from tests.unit.parsers import SAMPLES


def event(name: str, cat: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 2, "ts": ts, "dur": dur, "args": args}


def kernel(name: str, ts: float, dur: float, device: int = 0, **args: Any) -> dict[str, Any]:
    return event(name, "kernel", ts, dur, device=device, stream=7, **args)


def trace(*events: dict[str, Any], **more: Any) -> str:
    return json.dumps({"schemaVersion": 1, **more, "traceEvents": list(events), "traceName": "x"})


ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
# The names are those of PyTorch's and Kineto's sources, and of kineto's own tests.
ARGS = {"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 1024, "Group size": 8}
GROUP = {"Process Group Name": "0", "Process Group Description": "default_pg"}
STEP = [
    event("ProfilerStep#10", "user_annotation", 1000, 900),
    event("ProfilerStep#11", "user_annotation", 2000, 1000),
    event("ProfilerStep#10", "gpu_user_annotation", 1100, 900),
    event("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation", 1000, 200),
    event("aten::mm", "cpu_op", 1200, 100),
    event("aten::copy_", "cpu_op", 1210, 20),
    kernel("ampere_bf16_s16816gemm", 1300, 400),
    kernel(ALL_REDUCE, 1600, 300, **ARGS, **GROUP),
    event("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 1900, 50, device=0, stream=7),
]


def test_what_a_step_went_to() -> None:
    text = trace(*STEP, distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8}, host_name="n7")
    told = kineto.parse(text)
    assert (told.rank, told.host, told.cut) == ("3", "n7", False)
    first, second = told.steps
    assert first.seconds == pytest.approx(0.001)
    found = (first.computed, first.communication, first.exposed, first.copied, first.loaded, first.hosted, first.idle)
    assert found == pytest.approx((400e-6, 300e-6, 200e-6, 50e-6, 200e-6, 100e-6, 50e-6))
    assert (second.step, second.idle) == (11, pytest.approx(1000e-6))
    times = kineto.times(told, "n1")
    assert times.steps[0].parts == pytest.approx(
        {"compute": 400e-6, "communication": 200e-6, "input": 200e-6, "host": 150e-6, "idle": 50e-6}
    )
    only = times.collectives[0]
    assert (only.name, only.size, only.seconds, only.ranks, only.group) == ("all_reduce", 2048, (300e-6,), 8, "0")


def test_the_words_of_old_releases_and_a_bare_list() -> None:
    # The form of tb_plugin's tests: categories in capitals, the device as the process.
    events = [
        event("ProfilerStep#1", "Operator", 50, 400),
        {**event("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "Kernel", 100, 100, stream=7), "pid": 0},
        {**event("Memcpy DtoD (Device -> Device)", "Memcpy", 300, 10, stream=7), "pid": 0},
    ]
    told = kineto.parse(json.dumps(events, indent=1))
    assert [(one.exposed, one.computed) for one in told.steps] == [(pytest.approx(100e-6), pytest.approx(10e-6))]
    assert [(kind.name, kind.size) for kind in told.collectives] == [("all_reduce", 0)]


def test_without_marks_the_whole_trace_is_a_step() -> None:
    told = kineto.parse(trace(kernel("gemm", 100, 50), kernel("gemm", 200, 50), kernel("gemm", 0, 50, device=1)))
    assert [(one.device, one.step, one.idle) for one in told.steps] == [(0, 0, pytest.approx(50e-6)), (1, 0, 0.0)]
    assert [step.rank for step in kineto.times(told).steps] == ["? GPU 0", "? GPU 1"]


def test_processes_without_a_gpu() -> None:
    told = kineto.parse(trace(event("ProfilerStep#1", "user_annotation", 0, 100), event("aten::mm", "cpu_op", 10, 60)))
    assert told.steps == (Spent(1, -1, 100e-6, hosted=pytest.approx(60e-6), idle=pytest.approx(40e-6)),)


def test_a_cut_trace_tells_what_it_has() -> None:
    text = trace(*STEP)
    cut = kineto.parse(text[: text.index("Memcpy")])
    assert (cut.cut, cut.steps[0].exposed) == (True, pytest.approx(200e-6))
    assert kineto.facts(cut)["cut"]


def test_the_sweep_agrees_with_counting_every_microsecond() -> None:
    chance = random.Random(24)
    for _turn in range(50):
        events = []
        owners: dict[int, set[str]] = {}
        for _event in range(30):
            kind = chance.choice(["gemm", "ncclDevKernel_AllGather_RING_LL", "copy", "load", "op"])
            begin, took = chance.randrange(0, 90), chance.randrange(0, 12)
            made = {
                "copy": event("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy", begin, took, device=0),
                "load": event("enumerate(DataLoader)#x", "cpu_op", begin, took),
                "op": event("aten::mm", "cpu_op", begin, took),
            }.get(kind, kernel(kind, begin, took))
            events.append(made)
            for at in range(begin, begin + took):
                owners.setdefault(at, set()).add(kind[:4])
        steps = [event("ProfilerStep#1", "cpu_op", 0, 10), event("ProfilerStep#2", "cpu_op", 50, 50)]
        told = kineto.parse(trace(*events, *steps, kernel("gemm", 1000, 1)))
        for spent, (begin, end) in zip(told.steps, ((0, 50), (50, 100)), strict=True):
            firsts = [
                next((kind for kind in ("gemm", "nccl", "copy", "load", "op") if kind in owners.get(at, ())), "")
                for at in range(begin, end)
            ]
            counted = [firsts.count(kind) / 1e6 for kind in ("gemm", "nccl", "copy", "load", "op", "")]
            found = [spent.computed, spent.exposed, spent.copied, spent.loaded, spent.hosted, spent.idle]
            assert found == pytest.approx(counted)
            assert spent.communication == pytest.approx(
                sum("nccl" in owners.get(at, ()) for at in range(begin, end)) / 1e6
            )


def test_a_long_trace_takes_time_by_its_length() -> None:
    def seconds(many: int) -> float:
        events = [kernel("gemm" if at % 3 else ALL_REDUCE, at * 10, 5) for at in range(many)]
        events += [event(f"ProfilerStep#{at}", "user_annotation", at * 100, 90) for at in range(many // 10)]
        random.Random(1).shuffle(events)
        text = trace(*events)
        begun = time.process_time()
        kineto.parse(text)
        return time.process_time() - begun

    seconds(1000)
    assert seconds(40_000) < 20 * max(seconds(5_000), 0.005)


def test_the_sample() -> None:
    assert kineto.parse((SAMPLES / "kineto.txt").read_text()).rank == "3"


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "[", '{"traceEvents": []}', '{"traceEvents": [3]}', '{"traceEvents": 3}', "[" * 10_000),
        json.dumps({"traceEvents": [kernel("a", 1, 1)]}).replace('"ts": 1', '"ts": 1e999'),
        *('{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a", "ts": "1", "dur": 1}]}', '{"entries": []}'),
    ],
)
def test_texts_of_others(text: str) -> None:
    with pytest.raises(ParseError):
        kineto.parse(text)


def test_kernels_of_more_gpus_than_a_process_has_are_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    two = [kernel("gemm", 1000 * at, 100, device=at) for at in (1, 2)]
    monkeypatch.setattr(kineto, "_MOST_DEVICES", 2)
    assert kineto.parse(trace(*two)).steps
    monkeypatch.setattr(kineto, "_MOST_DEVICES", 1)
    with pytest.raises(ParseError, match="kernels of more than 1 GPUs"):
        kineto.parse(trace(*two))
