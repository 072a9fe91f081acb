# SPDX-License-Identifier: GPL-3.0-or-later
"""DeepSpeed's own lines of times, in the forms of its releases."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import deepspeed_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import GATHERING, Times
from tests.unit.parsers import SAMPLES

# deepspeedai/DeepSpeed#1436, of 2021.
OLD = """\
[2021-10-08 20:03:15,649] [INFO] [logging.py:68:log_dist] [Rank 0] rank=0 time (ms) | forward_microstep: 435.69 | \
backward_microstep: 744.13 | backward_inner_microstep: 513.94 | backward_allreduce_microstep: 230.14 | \
step_microstep: 1.00
[2021-10-08 20:03:15,649] [INFO] [logging.py:68:log_dist] [Rank 0] rank=0 time (ms) | forward: 435.67 | backward: \
744.11 | backward_inner: 513.92 | backward_allreduce: 230.11 | step: 0.98
"""
# The README of ZenFlow's benchmark: two micro steps and the whole of the step.
NEW = """\
time (ms) | selective_optimizer_update: 19.20 | selective_optimizer_process: 28.80 | selective_optimizer_sync: 0.05
time (ms) | fwd_microstep: 54.76 | bwd_microstep: 122.95 | bwd_inner_microstep: 12.22 | bwd_allreduce_microstep: \
103.64 | step_microstep: 0.34
Step 0 time: 178.66ms
time (ms) | optimizer_allgather: 26.19 | optimizer_gradients: 26.06 | optimizer_step: 128.20
time (ms) | fwd_microstep: 0.38 | bwd_microstep: 57.88 | bwd_inner_microstep: 1.06 | bwd_allreduce_microstep: 56.50 | \
step_microstep: 183.27
time (ms) | fwd: 55.15 | bwd: 180.82 | bwd_inner: 13.28 | bwd_allreduce: 160.15 | step: 183.61
"""
# deepspeedai/DeepSpeed#2264.
PIPELINE = """\
steps: 20 loss: 4.6178 iter time (s): 0.994 samples/sec: 257.601
[2022-08-25 02:58:04,341] [INFO] [logging.py:68:log_dist] [Rank 0] rank=0 time (ms) | pipe_send_output: 41.71 | \
pipe_recv_grad: 1725.64
[2022-08-25 02:58:13,587] [INFO] [logging.py:68:log_dist] [Rank 0] step=30, skipped=0, lr=[0.001], mom=[[0.9, 0.999]]
"""
# Public logs of August 2022 and of November 2023.
SPEEDS = """\
[2022-08-29 06:58:56,121] [INFO] [logging.py:68:log_dist] [Rank 0] step=20, skipped=17, lr=[5e-05], mom=[(0.9, 0.999)]
[2022-08-29 06:58:56,176] [INFO] [timer.py:198:stop] 0/20, RunningAvgSamplesPerSec=232.7340551694273, \
CurrSamplesPerSec=227.48090316379353, MemAllocated=0.36GB, MaxMemAllocated=15.06GB
[2023-11-07 01:55:23,714] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step=10, \
RunningAvgSamplesPerSec=25.025771473496132, CurrSamplesPerSec=25.704280480541442, MemAllocated=4.32GB, \
MaxMemAllocated=38.49GB
"""
# Blanks at the front of rows are fewer. deepspeedai/DeepSpeed#7019, and the tutorial on communication logging.
TABLE = """\
Comm. Op            Message Size        Count               Total Latency(ms)   Avg Latency(ms)     tput_avg (Gbps) \
busbw_avg (Gbps)
broadcast
            0B                  1                   0.32                0.32                0.00                0.00
            1.45 GB             2                   271.11              135.56              91.67               91.67
barrier
            0B                  3                   5.41                1.80                0.00                0.00
training is over
            0B                  3                   5.41                1.80                0.00                0.00
"""
VERBOSE = """\
[2022-06-26 01:39:55,722] [INFO] [logging.py:69:log_dist] [Rank 0] rank=0 | comm op: reduce_scatter_base | time (ms): \
9.46 | msg size: 678.86 MB | algbw (Gbps): 1204.52  | busbw (Gbps): 1129.23
"""
# The form of deepspeed/utils/comms_logging.py.
STRAGGLERS = """\
Comm. Op            Message Size        Count               Total comm lat(ms)  Total straggler(ms) Avg comm lat(ms) \
Avg straggler(ms)
all_reduce
            4.0 MB              100                 50.50               20.25               0.51                0.20
"""

# Written by DeepSpeed 0.19.8 itself, two processes with gloo, ZeRO 1; some lines left out.
TODAY = """\
[Rank 0] time (ms) | fwd_microstep: 0.13 | bwd_microstep: 0.30 | bwd_inner_microstep: 0.26 | bwd_allreduce_microstep: \
0.02 | step_microstep: 0.01
[Rank 0] time (ms) | optimizer_allgather: 11.35 | optimizer_gradients: 0.13 | optimizer_step: 0.42
[Rank 0] time (ms) | fwd_microstep: 0.06 | bwd_microstep: 6.88 | bwd_inner_microstep: 0.17 | bwd_allreduce_microstep: \
6.70 | step_microstep: 19.82
[Rank 0] time (ms) | fwd: 0.18 | bwd: 7.18 | bwd_inner: 0.43 | bwd_allreduce: 6.72 | step: 19.83
Comm. Op            Message Size        Count               Total Latency(ms)   Avg Latency(ms)     tput_avg (Gbps) \
busbw_avg (Gbps)
all_gather_into_tensor
            129.01 KB           6                   152.75              26.43               0.09                0.04
log_summary_barrier
            0B                  1                   10.40               10.40               0.00                0.00
_______________________________
Breakdown with straggler effect
-------------------------------
Comm. Op            Message Size        Count               Total comm lat(ms)  Total straggler(ms) Avg comm lat(ms) \
Avg straggler(ms)
all_gather_into_tensor
            129.01 KB           6                   113.44              39.31               18.48               6.26
"""


def times(text: str) -> Times:
    return deepspeed_log.times(deepspeed_log.parse(text))


def test_wall_clocks_of_old_and_new_releases() -> None:
    step = times(OLD).steps[0]
    assert (step.step, len(times(OLD).steps)) == (1, 1)
    assert step.seconds == pytest.approx(1.18076)
    assert step.parts == pytest.approx({"compute": 0.94959, "communication": 0.23011, "optimizer": 0.00098})
    step = times(NEW).steps[0]
    assert step.seconds == pytest.approx(0.41958)
    assert step.parts == pytest.approx({"compute": 0.06843, "communication": 0.18634, "optimizer": 0.15742})


def test_what_deepspeed_writes_today() -> None:
    told = times(TODAY)
    assert [step.seconds for step in told.steps] == [pytest.approx(0.02719)]
    assert told.steps[0].parts == pytest.approx({"compute": 0.00061, "communication": 0.01807, "optimizer": 0.00848})
    assert [one.name for one in told.collectives] == ["all_gather", "barrier"]
    operations = deepspeed_log.parse(TODAY).operations
    assert [(one.name, one.size, one.straggler_ms) for one in operations] == [
        ("all_gather_into_tensor", 132106, None),
        ("log_summary_barrier", 0, None),
        ("all_gather_into_tensor", 132106, 39.31),
    ]


def test_micro_steps_where_nothing_tells_the_whole() -> None:
    assert [step.seconds for step in times("\n".join(NEW.split("\n")[:4]) + "\n").steps] == [pytest.approx(0.17805)]


def _clocks(stamp: str) -> str:
    return (
        f"{stamp}[INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | fwd: 110.00 | bwd: 220.00 | bwd_inner: 215.00 | "
        "bwd_allreduce: 4.00 | step: 30.00\n"
    )


def test_a_step_is_as_long_as_its_stamps_say() -> None:
    stamps = [f"[2024-05-01 10:00:{second:02},500] " for second in (2, 4, 6, 9)]
    steps = times("".join(map(_clocks, stamps))).steps
    assert [step.seconds for step in steps] == [2.0, 2.0, 2.0, 3.0]
    assert not any(step.summed for step in steps)
    assert steps[0].parts["compute"] == pytest.approx(0.325)
    unstamped = times(_clocks("") * 4).steps
    assert [(step.seconds, step.summed) for step in unstamped] == [(pytest.approx(0.36), True)] * 4
    assert times(_clocks("[2024-13-41 10:00:02,500] ") * 2).steps[1].summed


def test_without_stamps_samples_a_second_tell_the_length() -> None:
    speed = (
        "epoch=0/micro_step=1/global_step=1, RunningAvgSamplesPerSec=16.0, CurrSamplesPerSec=16.0, MemAllocated=1GB\n"
    )
    told = times("  train_batch_size ............. 32\n" + (speed + _clocks("")) * 3).steps
    assert [(step.seconds, step.summed) for step in told] == [(2.0, False)] * 3


@pytest.mark.parametrize(
    ("line", "stage"),
    [
        ("[INFO] Creating torch.bfloat16 ZeRO stage 3 optimizer\n", "3"),
        ("  zero_optimization_stage ...... 2\n", "2"),
        ("  zero_config .................. stage=1 contiguous_gradients=True\n", "1"),
        ('    "zero_optimization": {"stage": 0}\n', "0"),
    ],
)
def test_gathering_is_within_the_passes_of_zero_3_alone(line: str, stage: str) -> None:
    told = times(line + _clocks(""))
    assert told.settings["zero_stage"] == stage
    assert (GATHERING in told.steps[0].hides) == (stage == "3")
    assert GATHERING in times(_clocks("")).steps[0].hides
    assert GATHERING not in times(NEW).steps[0].hides


def test_steps_are_numbered_by_their_lines() -> None:
    line = "time (ms) | fwd: 1.0 | bwd: 2.0 | bwd_inner: 1.5 | bwd_allreduce: 0.5 | step: 1.0\n"
    told = "[Rank 0] step={0}, skipped=0, lr=[0.1], mom=[0.9]\n" + line
    text = line * 2 + told.format(503) + line * 2 + told.format(506)
    assert [step.step for step in times(text).steps] == [501, 502, 503, 504, 505, 506]


def test_the_lines_of_a_pipeline() -> None:
    told = deepspeed_log.parse(PIPELINE)
    assert (told.steps, told.pipeline) == (((30, 0),), ((20, 0.994, 257.601),))
    assert [(step.step, step.seconds) for step in times(PIPELINE).steps] == [(20, 0.994)]


def test_samples_a_second_need_the_size_of_a_batch() -> None:
    assert times(SPEEDS).steps == ()
    assert times(SPEEDS).settings["samples_per_second"] == "25.0258"
    with_batch = times("  train_batch_size ............. 256\n" + SPEEDS)
    assert [(step.step, step.seconds) for step in with_batch.steps] == [(10, pytest.approx(256 / 25.704280480541442))]
    assert deepspeed_log.parse(">[INFO 2020-06-08 06:02:19] 0/450, SamplesPerSec=7.458824487454903\n").speeds[0].micro


def test_tables_of_communication() -> None:
    told = deepspeed_log.parse(TABLE)
    assert [(one.name, one.size, one.count) for one in told.operations] == [
        ("broadcast", 0, 1),
        ("broadcast", 1556925645, 2),
        ("barrier", 0, 3),
    ]
    big = times(TABLE).collectives[1]
    assert (big.name, big.seconds, big.busbw) == ("broadcast", (0.13556,), (11.45875,))
    one = times(VERBOSE).collectives[0]
    assert (one.name, one.size, one.seconds) == ("reduce_scatter", 711836303, (pytest.approx(0.00946),))
    late = deepspeed_log.parse(STRAGGLERS).operations[0]
    assert (late.name, late.count, late.straggler_ms, late.mean_ms) == ("all_reduce", 100, 20.25, 0.51)


def test_the_profiler() -> None:
    # The tutorial of the flops profiler.
    text = "fwd latency:          76.67 ms\nbwd latency: 108.02 ms\nstep latency: 34.09 us\niter latency: 184.73 ms\n"
    step = times(text).steps[0]
    assert step.seconds == pytest.approx(0.18473)
    assert step.parts == pytest.approx({"compute": 0.18469, "optimizer": 34.09e-6})


def test_cut_texts_and_texts_of_others() -> None:
    assert len(deepspeed_log.parse(OLD[:-20]).timers) == 1
    assert deepspeed_log.parse((SAMPLES / "deepspeed_log.txt").read_text()).settings == {"train_batch_size": "256"}
    for text in ("", "time (ms) | forward-compute: 193.77 | optimizer: 63.01\n", "step=3\n", OLD[:120], "broadcast\n"):
        with pytest.raises(ParseError):
            deepspeed_log.parse(text)
