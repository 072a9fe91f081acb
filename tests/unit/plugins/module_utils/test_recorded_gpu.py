# SPDX-License-Identifier: GPL-3.0-or-later
"""What was recorded on a real GPU is known by its text, and judged as the machine was."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._parse import flight_recorder, kineto, names
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import COMPUTE
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why

RECORDED = Path(__file__).parents[2] / "recorded_gpu"


def judged(name: str) -> list[why.Host]:
    heard = why.Heard()
    heard.give(name, (RECORDED / name).read_bytes())
    assert heard.unread == []
    return why.judged(heard, from_inventory({}))


@pytest.mark.parametrize(
    ("file", "tool"),
    [
        ("nvsmi_table.txt", "nvsmi_table"),
        ("nvsmi_table_busy.txt", "nvsmi_table"),
        ("nvsmi_q.txt", "nvsmi_q"),
        ("nvsmi_xml.txt", "nvsmi_xml"),
        ("topo.txt", "topo"),
        ("nvsmi_dmon.txt", "nvsmi_dmon"),
        ("nccl_ras.txt", "nccl_ras"),
        ("nccl_ras_json.txt", "nccl_ras"),
        ("nccl_log_nccl_plain.txt", "nccl_log"),
        ("progress_bar_hf.txt", "progress_bar"),
    ],
)
def test_a_healthy_machine_s_text_is_known_and_raises_no_alarm(file: str, tool: str) -> None:
    (host,) = judged(file)
    assert host.read == (tool,)
    assert (host.bad, host.told) == ((), ())


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("net_word", "net_not_found"),
        ("graph_missing", "topology_file"),
        ("ifname", "ifname_not_found"),
        ("comm0", "bad_call"),
        ("dup0", "duplicate_gpu"),
        ("dup1", "duplicate_gpu"),
    ],
)
def test_what_ended_a_real_job_is_its_first_cause(file: str, code: str) -> None:
    (host,) = judged(f"nccl_log_{file}.txt")
    assert host.bad[0].check.observed.startswith(code)


def test_what_is_known_of_the_gpu() -> None:
    told, _error = names.facts("nvsmi_table", (RECORDED / "nvsmi_table.txt").read_text())
    assert (told["driver"], told["gpus"][0]["name"]) == ("580.159.04", "NVIDIA H200")
    log, _error = names.facts("nccl_log", (RECORDED / "nccl_log_nccl_plain.txt").read_text())
    assert (log["nccl_version"], log["nranks"], log["complete"]) == ("2.28.9+cuda13.0", 1, True)


def test_a_matrix_of_peer_access_is_no_topology() -> None:
    assert names.facts("topo", (RECORDED / "topo_p2p.txt").read_text())[1] is not None


def test_a_real_trace_and_a_real_recorder_are_read() -> None:
    times = kineto.times(kineto.parse((RECORDED / "kineto.json").read_text()))
    assert len(times.steps) == 6
    assert all(0 < step.parts[COMPUTE] < step.seconds for step in times.steps)
    pickled = flight_recorder.parse_bytes((RECORDED / "flight_recorder.pickle").read_bytes())
    text = flight_recorder.parse((RECORDED / "flight_recorder.json").read_text())
    operations = {each.operation for each in flight_recorder.times(pickled, "0").waiting}
    assert operations == {each.operation for each in flight_recorder.times(text, "0").waiting} == {"all_reduce"}
