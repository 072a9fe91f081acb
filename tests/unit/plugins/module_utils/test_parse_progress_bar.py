# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars, sums and profiles of trainers."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import progress_bar
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Step, Times
from tests.unit.parsers import SAMPLES

# huggingface/accelerate#1589: the bar goes on within a line of DeepSpeed's.
ACCELERATE = (
    "  3%|███                  | 12/345 [00:07<06:50,  1.23s/it][2023-06-21 07:39:09,625] [INFO] [logging.py]\n"
    "  4%|███▎                 | 13/345 [00:07<05:03,  1.09it/s][2023-06-21 07:39:09,809] [INFO] [logging.py]\n"
)
# Public logs of trainings with Hugging Face's Trainer, the last lines of LLaMA-Factory, 2025.
TRAINER = """\
Generating train split: 50 examples [00:00, 8543.07 examples/s]
Map: 100%|██████████| 45/45 [00:00<00:00, 3053.02 examples/s]
100%|██████████| 300/300 [25:30<00:00,  5.10s/it]
{'train_runtime': 1530.1399, 'train_samples_per_second': 3.144, 'train_steps_per_second': 0.196, 'train_loss': 0.713985}
"""
# Lightning-AI/pytorch-lightning#9304, of 2021, and #2258, of 2020.
LIGHTNING = """\
Epoch 10/10:  90%|█████████▏| 9/10 [00:59<00:05,  5.95s/it, loss=304, v_num=1]
FIT Profiler Report

Action                                  |  Mean duration (s)    |Num calls              |  Total time (s)       |  \
Percentage %         |
------------------------------------------------------------
Total                                   |  -                    |_                      |  65.955               |  100 %
run_training_epoch                      |  5.9453               |10                     |  59.453        |  90.142 |
run_training_batch                      |  0.036441             |1320                   |  48.102        |  72.932 |
get_train_batch                         |  0.0094398            |1320                   |  12.461        |  18.9   |
"""
OLD_PROFILE = """\
Epoch 1: 100%|█████████| 3000/3000 [1:02:09<00:00,  1.24s/it, loss=0.109, v_num=1]

Action                  |  Mean duration (s)    |  Total time (s)
-----------------------------------------------------------------
on_batch_start          |  1.8537e-05           |  0.055612
get_train_batch         |  0.0094398            |  28.329
"""
# A public log of LLM Foundry on 16 devices.
COMPOSER = """\
[batch=5/5]:
         Train time/batch: 4
         Train throughput/batches_per_sec: 0.0027
         Train throughput/device/batches_per_sec: 0.0002
"""


def times(text: str) -> Times:
    return progress_bar.times(progress_bar.parse(text))


def test_bars() -> None:
    assert times(ACCELERATE).steps == (Step(12, 1.23), Step(13, pytest.approx(1 / 1.09)))
    assert times(TRAINER).steps == (Step(300, 5.1),)
    assert times(TRAINER).settings["train_steps_per_second"] == "0.196"
    text = (
        "".join(f"\rEpoch 0:  1%|▏  | {at}/743 [1:00:0{at}<44:41,  3.6{at}s/it, loss=12.0]" for at in (1, 2, 2)) + "\n"
    )
    assert times(text).steps == (Step(1, 3.61), Step(2, 3.62))


def test_epochs_follow_each_other() -> None:
    text = "".join(f"Epoch {at // 4}:  50%|█ | {at % 4 + 1}/4 [00:0{at}<00:05,  1.00s/it]\n" for at in range(8))
    assert [step.step for step in times(text).steps] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_bars_of_other_things_than_training() -> None:
    text = "Loading checkpoint shards: 100%|██| 4/4 [10:12<00:00,  3.10s/it]\n"
    text += "Epoch 2:  50%|█ | 5/10 [00:05<00:05,  1.00s/it]\n"
    assert times(text).steps == (Step(5, 1.0),)
    assert times("Validation DataLoader 0:  50%|█ | 5/10 [00:05<00:05,  1.00s/it]\n").steps == ()


def test_sums_alone() -> None:
    text = "  train_runtime            = 0:25:30.13\n  train_steps_per_second   =      0.196\n"
    assert progress_bar.parse(text).sums == {"train_runtime": pytest.approx(1530.13), "train_steps_per_second": 0.196}
    assert times(text).steps == (Step(300, pytest.approx(1 / 0.196)),)


def test_lightnings_profilers() -> None:
    step = times(LIGHTNING).steps[-1]
    assert (step.step, step.seconds, step.parts) == (1320, pytest.approx(0.0458808), {"input": 0.0094398})
    assert [one.name for one in progress_bar.parse(OLD_PROFILE).actions] == ["on_batch_start", "get_train_batch"]
    # The form of Lightning's AdvancedProfiler.
    advanced = (
        "Profile stats for: [_TrainingEpochLoop].train_dataloader_next\n"
        "         728605 function calls (715864 primitive calls) in 1.132 seconds\n"
        "Profile stats for: run_training_batch\n         12 function calls in 2.5 seconds\n"
    )
    assert times(advanced).steps == (Step(0, pytest.approx(3.632), parts={"input": 1.132}),)


def test_lines_of_composer() -> None:
    assert times(COMPOSER).steps == (Step(5, pytest.approx(1 / 0.0027)),)


def test_the_sample_has_all_of_it() -> None:
    told = progress_bar.parse((SAMPLES / "progress_bar.txt").read_text())
    assert (len(told.bars), len(told.actions), told.batches) == (3, 2, ((4, 0.0027),))


@pytest.mark.parametrize(
    "text",
    [
        *("", "  0%|          | 0/743 [00:00<?, ?it/s]\n", "100%|████| 45/45 [00:00<00:00, 3053.02 examples/s]\n"),
        *("{'loss': 1.1728, 'epoch': 0.32}\n", "Action | what\n", "50% done\n", ACCELERATE[:50]),
    ],
)
def test_texts_of_others_and_cut_ones(text: str) -> None:
    with pytest.raises(ParseError):
        progress_bar.parse(text)
