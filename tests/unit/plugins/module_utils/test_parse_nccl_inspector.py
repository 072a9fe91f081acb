# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL's Inspector: JSON of every format, and Prometheus lines, after NVIDIA/nccl, plugins/profiler/inspector."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_inspector
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Collective
from tests.unit.parsers import SAMPLES

HEADER = {"id": "0x7f8c496ae9f661", "rank": 2, "n_ranks": 8, "nnodes": 1}
METADATA = {
    "inspector_output_format_version": "v4.0",
    "git_rev": "",
    "rec_mechanism": "profiler_plugin",
    "dump_timestamp_us": 1748030377748202,
    "hostname": "example-hostname",
    "pid": 1639453,
}
PERF = {
    "coll": "AllReduce",
    "coll_sn": 1407,
    "coll_msg_size_bytes": 17179869184,
    "coll_exec_time_us": 61974,
    "coll_algobw_gbs": 277.210914,
    "coll_busbw_gbs": 485.119099,
}
ALL = Collective("all_reduce", 17179869184, (0.061974,), (485.119099,), "2", "example-hostname", 8, "0x7f8c496ae9f661")
STATS = {"coll_records": 1, "coll_dropped_total": 4096, "coll_dropped_since_last_dump": 512, "p2p_dropped_total": 3}
PROMETHEUS = (
    'nccl_bus_bandwidth_gbs{version="v5.1",slurm_job_id="unknown",node="nvl72004-T01",gpu="GPU0",'
    'comm_name="DP Group 0",n_nodes="1",nranks="4",collective="AllReduce",message_size="4-5GB",algo_proto="Ring_ll"}'
    " 678.263\n"
    'nccl_collective_exec_time_microseconds{version="v5.1",slurm_job_id="unknown",node="nvl72004-T01",gpu="GPU0",'
    'comm_name="DP Group 0",n_nodes="1",nranks="4",collective="AllReduce",message_size="4-5GB",algo_proto="Ring_ll"}'
    " 9498.47\n"
    'nccl_p2p_bus_bandwidth_gbs{version="v5.1",slurm_job_id="unknown",node="nvl72004-T01",gpu="GPU0",'
    'comm_name="DP Group 0",n_nodes="1",nranks="4",p2p_operation="Send",message_size="512-513MB"} 464.9\n'
)


def test_objects_that_tell_all_of_themselves() -> None:
    # Format 4.0, of 2.28; the manual prints an object over many lines, the plugin on one.
    told = {"header": HEADER, "metadata": METADATA, "coll_perf": PERF}
    for text in (json.dumps(told), json.dumps(told, indent=2)):
        parsed = nccl_inspector.parse(text + "\n")
        assert (parsed.version, parsed.unread) == ("v4.0", 0)
        assert nccl_inspector.times(parsed).collectives == (ALL,)


def test_objects_that_belong_to_the_mark_before_them() -> None:
    # Format 4.3.
    marked = {"header": HEADER, "metadata": METADATA, "dump_stats": STATS}
    other = {"header": {**HEADER, "id": "0x1", "rank": 0}, "metadata": METADATA, "dump_stats": STATS}
    p2p = {
        "p2p": "Send",
        "p2p_sn": 4,
        "p2p_peer": 1,
        "p2p_msg_size_bytes": 64,
        "p2p_exec_time_us": 5,
        "p2p_busbw_gbs": 1.5,
    }
    objects = [marked, {"coll_perf": PERF}, {"proxy_trace": {"record_type": "proxy_op"}}, other, {"p2p_perf": p2p}]
    parsed = nccl_inspector.parse("\n".join(map(json.dumps, objects)))
    assert (parsed.dropped, parsed.unread) == (2 * 4099, 0)
    assert nccl_inspector.times(parsed).collectives == (
        ALL,
        Collective("send", 64, (5e-6,), (1.5,), "0", "example-hostname", 8, "0x1"),
    )


def test_operations_of_one_kind_are_together() -> None:
    times = nccl_inspector.times(nccl_inspector.parse((SAMPLES / "nccl_inspector.txt").read_text()))
    assert [one.seconds for one in times.collectives] == [(0.061974, 0.062011)]


def test_prometheus_lines() -> None:
    parsed = nccl_inspector.parse("# HELP nccl_bus_bandwidth_gbs bandwidth\n" + PROMETHEUS)
    reduce, send = nccl_inspector.times(parsed).collectives
    assert (reduce.name, reduce.size, reduce.busbw) == ("all_reduce", 4 * 2**30, (678.263,))
    assert (reduce.seconds, reduce.rank, reduce.host) == ((pytest.approx(0.00949847),), "GPU0", "nvl72004-T01")
    assert (send.name, send.size, send.seconds, send.ranks, send.group) == ("send", 512 * 2**20, (), 4, "DP Group 0")


def test_a_damaged_object_is_counted_and_the_next_is_read() -> None:
    line = json.dumps({"header": HEADER, "metadata": METADATA, "coll_perf": PERF})
    parsed = nccl_inspector.parse(f"{line}\n{line[:80]}\n{line}\n{line[:200]}")
    assert (len(parsed.operations), parsed.unread > 0) == (2, True)
    huge = line.replace("61974", "9" * 30).replace("485.119099", "1e999")
    parsed = nccl_inspector.parse(f"{line}\n{huge}\n")
    assert len(parsed.operations) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"coll_perf": {}}',
        '{"traceEvents": []}',
        "nccl_ x\n",
        PROMETHEUS + "node_load1 0.5\n",
        "{" * 10_000,
    ],
)
def test_texts_of_others(text: str) -> None:
    with pytest.raises(ParseError):
        nccl_inspector.parse(text)
