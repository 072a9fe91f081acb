# SPDX-License-Identifier: GPL-3.0-or-later
"""What to change and what it buys; settings of frameworks; two runs side by side."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings as examples, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import (
    COMMUNICATION,
    COMPUTE,
    HOST,
    INPUT,
    Step,
    Times,
)
from ansible_collections.ibready.cluster.plugins.module_utils._slow import compare
from ansible_collections.ibready.cluster.plugins.module_utils._slow.advice import Advice, advised
from ansible_collections.ibready.cluster.plugins.module_utils._slow.bound import judged
from ansible_collections.ibready.cluster.plugins.module_utils._slow.compare import compared
from ansible_collections.ibready.cluster.plugins.module_utils._slow.settings import (
    DEEPSPEED,
    MEGATRON,
    Settings,
    merged,
    of,
    settings,
)
from tests.unit.slow_jobs import Plan, steps

# DeepSpeed's start prints this of every setting (deepspeed/runtime/config.py; posted logs have these lines).
DEEPSPEED_LOG = """\
[2024-07-10 14:14:51,803] [INFO] [config.py:1000:print]   global_rank .................. 0
[2024-07-10 14:14:51,803] [INFO] [config.py:1000:print]   gradient_accumulation_steps .. 4
[2024-07-10 14:14:51,803] [INFO] [config.py:1000:print]   gradient_clipping ............ 10.0
"""
# Megatron-LM's start (megatron/training/arguments.py).
MEGATRON_LOG = """\
using world size: 16, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 2, \
pipeline-model-parallel size: 2
------------------------ arguments ------------------------
  global_batch_size ............................... 128
  micro_batch_size ................................ 4
  overlap_grad_reduce ............................. False
  encoder_tensor_model_parallel_size .............. 0
  tensor_model_parallel_size ...................... 2
  use_distributed_optimizer ....................... True
"""


def job(plan: Plan, **told: str) -> Times:
    return Times(tuple(steps(plan, random.Random(1))), settings=told)


def advice(times: Times, told: Settings | None = None) -> dict[str, Advice]:
    return {each.name: each for each in advised(times, judged(times), told)}


NETWORK = Plan(ranks=16, per_host=8, parts={COMPUTE: 0.55, HOST: 0.05}, transfer=0.4, noise=0.01)


def test_accumulation_halves_what_the_network_takes() -> None:
    found = advice(job(NETWORK, gradient_accumulation_steps="4", zero_stage="1"))
    assert found["accumulation"].gain == pytest.approx(0.2, abs=0.01)
    assert "from 4 to 8" in found["accumulation"].change
    assert "at most 20 % of the time, 25 % more samples a second" in found["accumulation"].words()


def test_accumulation_is_no_advice_where_every_pass_communicates() -> None:
    assert "accumulation" not in advice(job(NETWORK), settings('{"zero_optimization": {"stage": 2}}'))
    assert "batch" in advice(job(NETWORK), settings('{"zero_optimization": {"stage": 3}}'))


def test_overlap_hides_no_more_than_the_backward_pass() -> None:
    plan = Plan(ranks=8, parts={COMPUTE: 0.3}, transfer=0.7, noise=0.01)
    found = advice(job(plan), settings('{"zero_optimization": {"stage": 1, "overlap_comm": false}}'))["overlap"]
    assert found.gain == pytest.approx(2 / 3 * 0.3, abs=0.01)
    assert '"overlap_comm": true' in found.change
    assert "It is off." in found.because


def test_overlap_that_is_on_is_no_advice_but_a_bucket_may_be_too_large() -> None:
    found = advice(job(NETWORK), settings('{"zero_optimization": {"stage": 1, "overlap_comm": true}}'))
    assert "overlap" not in found
    assert '"reduce_bucket_size" from 500 000 000 to' in found["bucket"].change
    small = settings('{"zero_optimization": {"stage": 1, "overlap_comm": true, "reduce_bucket_size": 1e6}}')
    assert advice(job(NETWORK), small)["bucket"].gain is None


def test_megatron_is_told_in_its_own_words() -> None:
    found = advice(job(NETWORK), settings("pretrain_gpt.py --tensor-model-parallel-size 16 --micro-batch-size 2"))
    assert "--overlap-grad-reduce" in found["overlap"].change
    assert "--tensor-model-parallel-size from 16 to 8" in found["tensor"].change
    assert found["tensor"].gain == pytest.approx(0.4 * 8 / 9, abs=0.01)
    inside = advice(job(NETWORK), settings("pretrain_gpt.py --tensor-model-parallel-size 8"))
    assert "tensor" not in inside


def test_order_of_ranks_needs_hosts_of_several_ranks() -> None:
    assert "order" in advice(job(NETWORK))
    single = Plan(ranks=8, per_host=1, parts={COMPUTE: 0.6}, transfer=0.4)
    assert "order" not in advice(job(single))


def test_input() -> None:
    plan = Plan(parts={COMPUTE: 0.55, INPUT: 0.4}, transfer=0.05, noise=0.01)
    assert advice(job(plan, num_workers="4"))["workers"].gain == pytest.approx(0.2, abs=0.01)
    none = advice(job(plan, num_workers="0"))["workers"]
    assert none.gain == pytest.approx(0.4, abs=0.01)
    assert "the training process loads" in none.change


def test_host() -> None:
    plan = Plan(parts={COMPUTE: 0.5, HOST: 0.4}, transfer=0.1, noise=0.01)
    found = advice(job(plan), settings('{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}'))
    assert found["launch"].gain == pytest.approx(0.4, abs=0.02)
    assert "offload" in found


def test_a_straggler_comes_first() -> None:
    times = job(Plan(more={"5": 0.6}))
    found = advised(times, judged(times))
    assert found[0].name == "straggler"
    assert found[0].gain == pytest.approx(0.6 / 1.6, abs=0.04)
    assert "rank 5 (node2)" in found[0].change


def test_computation_is_not_helped_by_the_network() -> None:
    found = advice(job(Plan(parts={COMPUTE: 0.95}, transfer=0.05, noise=0.005)))
    assert "no change of the network buys more" in found["computation"].because
    assert set(found) == {"computation"}


def test_nothing_told_nothing_advised() -> None:
    assert advised(Times(), judged(Times())) == ()


def test_deepspeed_json() -> None:
    found = settings(
        json.dumps(
            {
                "train_micro_batch_size_per_gpu": 8,
                "gradient_accumulation_steps": "auto",
                "zero_optimization": {"stage": 2, "allgather_bucket_size": 2e8, "overlap_comm": True},
            }
        )
    )
    assert (found.framework, found.zero, found.micro_batch, found.accumulation) == (DEEPSPEED, 2, 8, None)
    assert (found.bucket, found.gather_bucket, found.overlap, found.offload) == (500_000_000, 200_000_000, True, False)
    assert "ZeRO stage 2" in found.words()
    assert "gradients reduced in buckets of 500 000 000 elements" in found.words()


@pytest.mark.parametrize(("stage", "overlap"), [(1, False), (2, False), (3, True)])
def test_overlap_of_deepspeed_goes_by_the_stage_where_it_is_not_told(stage: int, overlap: bool) -> None:
    assert settings(json.dumps({"zero_optimization": {"stage": stage}})).overlap is overlap


def test_deepspeed_log() -> None:
    assert settings(DEEPSPEED_LOG).accumulation == 4


def test_a_configuration_that_a_log_prints() -> None:
    config = json.dumps({"train_batch_size": 16, "zero_optimization": {"stage": 1}}, indent=4)
    noise = "".join(f"{{'loss': {at}}} {{\"loss\": {at}}}\n" for at in range(100))
    shown = (
        noise + "[2024-07-10 14:14:51,803] [INFO] [config.py:987:print_user_config]   json = " + config + "\nstep 1\n"
    )
    assert (settings(shown).zero, settings(shown).global_batch) == (1, 16)


def test_megatron_log() -> None:
    found = settings(MEGATRON_LOG)
    assert (found.framework, found.world, found.data, found.tensor, found.pipeline) == (MEGATRON, 16, 4, 2, 2)
    assert (found.micro_batch, found.global_batch, found.accumulation) == (4, 128, 8)
    assert (found.overlap, found.zero, found.context) == (False, 1, 1)


def test_megatron_arguments() -> None:
    found = settings(
        "torchrun --nproc-per-node 8 pretrain_gpt.py \\\n  --tensor-model-parallel-size 4 \\\n"
        "  --pipeline-model-parallel-size=2 --overlap-grad-reduce --overlap-param-gather \\\n"
        "  --use-distributed-optimizer --num-workers 2 --ddp-bucket-size 40000000 --sequence-parallel\n"
    )
    assert (found.tensor, found.pipeline, found.overlap, found.overlap_gather) == (4, 2, True, True)
    assert (found.zero, found.workers, found.bucket, found.sequence) == (1, 2, 40_000_000, True)


def test_nothing_told_in_other_texts() -> None:
    assert settings("") == settings("hello {world} [1] --verbose\n{") == Settings()
    assert of({}) == Settings()
    assert merged(Settings(zero=1), Settings(zero=2, workers=3)) == Settings(zero=1, workers=3)


def test_settings_of_times() -> None:
    found = of({"zero_stage": "3", "train_batch_size": "256", "overlap_comm": "true", "other": "x"})
    assert (found.framework, found.zero, found.global_batch, found.overlap) == (DEEPSPEED, 3, 256, True)


@examples(max_examples=100, deadline=None)
@given(st.text(st.sampled_from('{}[]":,0123456789.eE-_ azMs\n='), max_size=200))
def test_strange_texts_are_read_too(text: str) -> None:
    for shown in (text, '{"zero_optimization": ' + text, "--micro-batch-size " + text):
        assert isinstance(settings(shown).words(), tuple)


def run(seconds: float, seed: int = 1, ranks: int = 8, transfer: float = 0.1, **told: str) -> Times:
    plan = Plan(ranks=ranks, second=seconds, parts={COMPUTE: 0.9}, transfer=transfer / seconds, noise=0.01)
    plan.parts = {COMPUTE: 0.9 / seconds}
    return Times(tuple(steps(plan, random.Random(seed))), settings=told)


def test_one_host_against_many() -> None:
    """The same work for each rank; communication grows by half a second."""
    one, many = run(1.0, 1, 8, micro_batch_size="4"), run(1.5, 2, 32, 0.6, micro_batch_size="4")
    found = compared(one, many, names=("one host", "four hosts"))
    assert (found.scaling, found.differs) == (compare.WEAK, True)
    assert found.efficiency == pytest.approx(1.0 / 1.5, abs=0.03)
    assert found.grown[0].part == COMMUNICATION
    assert found.grown[0].share == pytest.approx(1.0, abs=0.1)
    assert "(8 ranks)" in found.because[0]


def test_the_same_batch_for_all() -> None:
    one, many = run(1.0, 1, 8, global_batch_size="64"), run(0.5, 2, 32, 0.1, global_batch_size="64")
    many = Times(
        tuple(Step(s.step, s.seconds / 2, s.rank, s.host, s.parts) for s in many.steps), settings=many.settings
    )
    found = compared(one, many)
    assert found.scaling == compare.STRONG
    assert found.efficiency == pytest.approx(8 / (32 * 0.5), rel=0.05)


def test_scaling_that_no_setting_tells_is_told_for_both() -> None:
    found = compared(run(1.0, 1, 8), run(1.0, 2, 16))
    assert found.efficiency is None
    assert "Where each rank has the same work, the efficiency is 100 %" in found.because[-1]


def test_one_thing_switched() -> None:
    same = compared(run(1.0, 1), run(1.0, 2), names=("A", "B"))
    assert not same.differs
    assert "do not differ beyond their own noise" in same.because[1]
    slower = compared(run(1.0, 1), run(1.0, 2, transfer=0.2), names=("RDMA", "TCP"))
    assert slower.differs
    assert any(text.startswith("Communication takes 10") for text in slower.because)


def test_too_few_steps_to_compare() -> None:
    few = Times(tuple(Step(n, 1.0) for n in range(3)))
    assert "too few steps" in compared(few, few).because[1]
    assert compared(Times(), few).because == ("One of the runs tells no steps.",)


def test_a_text_longer_than_any_settings_is_not_taken_for_them() -> None:
    told = '{"zero_optimization": {"stage": 2}}'
    assert settings(told + " " * (20_000 - len(told))).zero == 2
    assert settings(told + " " * 20_000) == Settings()
