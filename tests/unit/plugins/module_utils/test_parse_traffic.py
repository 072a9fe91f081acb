# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import gpu_use, nvlink_throughput
from tests.unit.parsers import SAMPLES

LINKS = (SAMPLES / "nvlink_throughput.txt").read_text()
USE = (SAMPLES / "gpu_use.txt").read_text()


def test_nvlinks_are_told_in_bytes() -> None:
    found = {(one.gpu, one.link, one.direction): one.bytes for one in nvlink_throughput.parse(LINKS)}
    assert found == {
        (0, 0, "tx"): 5767281335 * 1024,
        (0, 0, "rx"): 5236186453 * 1024,
        (0, 1, "tx"): 0,
        (0, 1, "rx"): 2**20,
        (1, 0, "tx"): 7 * 1024,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no GPU"),
        ("Failed to initialize NVML: Driver/library version mismatch\n", "neither a GPU"),
        ("\t Link 0: Data Tx: 1 KiB\n", "neither a GPU"),
        ("GPU 0: x\n\t Link 0: Data Tx: 1 Furlong\n", "neither a GPU"),
        (LINKS + "\t Link 0: Data Tx: 8 KiB\n", "contradicts"),
    ],
)
def test_what_is_no_counter_is_an_error(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        nvlink_throughput.parse(text)


def test_what_a_gpu_does_not_tell_is_none_and_not_zero() -> None:
    assert gpu_use.parse(USE) == (
        gpu_use.Use(0, 97, 41, 70123, 81559),
        gpu_use.Use(1, 0, 0, 4, 81559),
        gpu_use.Use(2, None, None, None, 81559),
    )


def test_the_fields_are_those_that_are_asked_for() -> None:
    assert f"--query-gpu={','.join(gpu_use.FIELDS)}" in COMMANDS["gpu_use"].argv


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No devices were found\n",
        "0, 1, 2, 3\n",
        USE + USE,
        "0,a,0,0,0\n",
        "0, [Unknown Error], 0, 0, 0\n",
        "0, [GPU requires reset], 0, 0, 0\n",
    ],
)
def test_other_answers_of_nvidia_smi_are_errors(text: str) -> None:
    with pytest.raises(ParseError):
        gpu_use.parse(text)
