# SPDX-License-Identifier: GPL-3.0-or-later
"""Megatron-LM's iterations and timers, in the forms that its releases print."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import _times, megatron_log
from tests.unit.parsers import SAMPLES

# The lines of NVIDIA/nccl#743, of 2022.
OLD = """\
[before the start of training step] datetime: 2022-10-31 08:35:51
 iteration       10/ 1000000 | consumed samples:           40 | elapsed time per iteration (ms): 356.2 | learning \
rate: 0.000E+00 | global batch size:     4 | loss scale: 8388608.0 | number of skipped iterations:  10 | number of nan \
iterations:   0 |
time (ms) | forward-compute: 193.77 | backward-compute: 73.02 | backward-params-all-reduce: 20.10 | \
backward-layernorm-all-reduce: 0.02 | backward-embedding-all-reduce: 0.04 | backward-reduce-model-grads: 20.22 | \
optimizer-copy-to-main-grad: 12.19 | optimizer-unscale-and-check-inf: 50.71 | optimizer: 63.01 | batch-generator: 25.27
"""
# NVIDIA/Megatron-LM#756.
NEW = """\
 [2024-04-06 03:02:12] iteration       71/     100 | consumed samples:         9088 | elapsed time per iteration (ms): \
5361.6 | throughput per GPU (TFLOP/s/GPU): 243.6 | learning rate: 1.420000E-05 | global batch size:   128 | lm loss: \
1.818812E+00 | load_balancing_loss: 1.013377E+00 | loss scale: 1.0 | grad norm: 1.300 | num zeros: 0.0 | number of \
skipped iterations:   0 | number of nan iterations:   0 |
 [2024-04-06 03:02:18] iteration       72/     100 | consumed samples:         9216 | elapsed time per iteration (ms): \
5470.7 | throughput per GPU (TFLOP/s/GPU): 238.7 | learning rate: 1.440000E-05 | global batch size:   128 | lm loss: \
1.820313E+00 | load_balancing_loss: 1.019612E+00 | loss scale: 1.0 | grad norm: 1.305 | num zeros: 0.0 | number of \
skipped iterations:   0 | number of nan iterations:   0 |
"""
# Notes of argonne-lcf/Megatron-DeepSpeed, September 2024.
ARGONNE = """\
[2024-09-16 22:59:19.287338][INFO][training_log:661] -  iteration=       1/  635782 | consumed_samples=         768 | \
consumed_tokens=     3145728 | elapsed_time_per_iteration_ms=29570.0 | learning_rate=9.4372e-09 | \
global_batch_size=768 | lm loss=11.167250 | loss_scale=1.0 | grad_norm=6.363 | samples_per_second=25.972 | \
[LM]TFLOPs=20.30 |
[2024-09-16 22:59:19.289582][INFO][utils:207] - [Rank 0] (after 1 iterations) memory (MB) | allocated: 1894.576
(min, max) time across ranks (ms):
  forward-backward ...............................: (26094.39, 26095.09)
  optimizer ......................................: (3407.56, 3409.92)
"""

# Public logs of NeMo 2.0 on 8 B200, and of one in its second epoch.
NEMO = """\
Training epoch 0, iteration 45/99 | lr: 6.897e-06 | global_batch_size: 128 | global_step: 45 | max_memory_reserved: \
127785762816 | reduced_train_loss: 11.96 | train_step_timing in s: 6.08 | TFLOPS_per_GPU: 1.249e+03 | \
consumed_samples: 5888
Training epoch 1, iteration 10/999 | lr: 4.498e-06 | global_batch_size: 512 | global_step: 1010 | reduced_train_loss: \
11.03 | train_step_timing in s: 46.84 | consumed_samples: 15360
"""


def test_old_timers() -> None:
    told = megatron_log.parse(OLD)
    assert (told.until, told.iterations[0].elapsed, len(told.iterations[0].timers)) == (1000000, 356.2, 10)
    step = megatron_log.times(told).steps[0]
    assert (step.step, step.seconds) == (10, pytest.approx(0.3562))
    assert step.parts == pytest.approx(
        {"compute": 0.24152, "communication": 0.02016, "input": 0.02527, "optimizer": 0.06301}
    )


def test_iterations_without_timers() -> None:
    told = megatron_log.parse(NEW)
    assert [one.told["tflops"] for one in told.iterations] == [243.6, 238.7]
    times = megatron_log.times(told)
    assert [(step.step, step.seconds, step.parts) for step in times.steps] == [
        (71, pytest.approx(5.3616), {}),
        (72, pytest.approx(5.4707), {}),
    ]
    assert times.settings == {"global_batch_size": "128", "tflops": "238.7", "iterations": "100"}


def test_iterations_of_nemo() -> None:
    times = megatron_log.times(megatron_log.parse(NEMO))
    assert [(step.step, step.seconds) for step in times.steps] == [(45, 6.08), (1010, 46.84)]
    assert megatron_log.parse(NEMO).iterations[0].told["tflops"] == 1249


def test_least_and_most_over_ranks() -> None:
    step = megatron_log.times(megatron_log.parse(ARGONNE)).steps[0]
    assert (step.step, step.seconds) == (1, 29.57)
    assert step.parts == pytest.approx({"compute": 26.09509, "optimizer": 3.40992})
    assert step.least == pytest.approx({"compute": 26.09439, "optimizer": 3.40756})


def test_every_form_of_the_sample() -> None:
    first, second, *ranks = megatron_log.times(megatron_log.parse((SAMPLES / "megatron_log.txt").read_text())).steps
    assert first.parts["communication"] == pytest.approx(0.70225)
    assert first.least["communication"] == pytest.approx(0.30175)
    assert first.parts["compute"] == pytest.approx(4.89509 - 0.0405 - 0.70225)
    assert second.slowest == {"compute": 1.0, "communication": 0.0}
    assert [(step.rank, step.parts["communication"]) for step in ranks] == [("0", 0.81235), ("1", 0.70715)]


_ONE = " iteration       {0}/     100 | elapsed time per iteration (ms): 1500.0 | global batch size:   128 |\n"


def _ranks(count: int, *names: str) -> str:
    lines = [f"  {name}:\n" + "".join(f"     rank {rank:2}: 100.00\n" for rank in range(count)) for name in names]
    return "times across ranks (ms):\n" + "".join(lines)


def test_what_the_timer_of_both_passes_hides() -> None:
    text = _ONE.format(1) + "(min, max) time across ranks (ms):\n    forward-backward ....: (1352.00, 1353.00)\n"
    hides = (_times.LOADING, _times.STAGES, _times.TENSORS, _times.CONTEXT, _times.EXPERTS)
    assert megatron_log.times(megatron_log.parse(text)).steps[0].hides == hides
    sizes = "using world size: 8, data-parallel size: 8, context-parallel size: 1, tensor-model-parallel size: 1, "
    sizes += "pipeline-model-parallel size: 1\n  expert_model_parallel_size ...................... 1\n"
    assert megatron_log.times(megatron_log.parse(sizes + text)).steps[0].hides == (_times.LOADING,)
    level2 = _ONE.format(1) + _ranks(2, "forward-compute", "backward-compute", "batch-generator")
    hides = (_times.TENSORS, _times.CONTEXT, _times.EXPERTS)
    assert megatron_log.times(megatron_log.parse(level2)).steps[0].hides == hides


def test_stages_of_a_pipeline() -> None:
    text = _ONE.format(1) + _ranks(4, "forward-compute", "backward-compute", "forward-recv")
    told = megatron_log.times(megatron_log.parse(text))
    assert (told.settings[_times.PIPELINE_SEEN], [step.stage for step in told.steps]) == ("True", [""] * 5)
    sizes = (
        "  world_size ...................................... 4\n  pipeline_model_parallel_size .................... 2\n"
    )
    told = megatron_log.times(megatron_log.parse(sizes + text))
    assert told.settings["pipeline_model_parallel_size"] == "2"
    assert [step.stage for step in told.steps] == ["", "0", "0", "1", "1"]
    mapped = "  use_tp_pp_dp_mapping ............................ True\n"
    assert {step.stage for step in megatron_log.times(megatron_log.parse(mapped + sizes + text)).steps} == {""}
    # Values of no use are no errors.
    wrong = sizes.replace("4\n", "True\n")
    assert {step.stage for step in megatron_log.times(megatron_log.parse(wrong + text)).steps} == {""}
    zero = sizes.replace("4\n", "0\n")
    assert {step.stage for step in megatron_log.times(megatron_log.parse(zero + text)).steps} == {""}


def test_timers_of_the_beginning_and_of_saving() -> None:
    text = (
        "(min, max) time across ranks (ms):\n    forward-backward ....: (1.00, 2.00)\n"
        + NEW
        + "(min, max) time across ranks (ms):\n"
        "    save-checkpoint ................................: (24895.07, 24895.13)\n"
    )
    steps = megatron_log.times(megatron_log.parse(text)).steps
    assert [step.parts for step in steps] == [{}, {"checkpoint": pytest.approx(24.89513)}]


def test_what_is_cut_and_what_is_of_others() -> None:
    assert len(megatron_log.parse(NEW[:-60]).iterations) == 1
    for text in ("", "time (ms) | fwd: 1.0 | bwd: 2.0\n", "iteration 10/ 100 | loss: 3 |\n", NEW[:90]):
        with pytest.raises(ParseError):
            megatron_log.parse(text)
