# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: prefixes, mixed ranks, wordings of many releases, and what is not decided."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._parse import names, nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import ParseError
from tests.unit.corpus import sidecars, text_of

few = settings(max_examples=60, deadline=None, database=None)


def facts(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(nccl_log.parse(text).to_dict()))
    return found


def info(*said: str, head: str = "node-a:10:11 [0] NCCL INFO ") -> str:
    return "".join(f"{head}{one}\n" for one in said)


def rank(number: int, network: str, *, gdr: str = "/GDRDMA", hcas: str = "") -> list[str]:
    """What one of two ranks prints, without the prefix."""
    other = 1 - number
    comm = f"ncclCommInitRank comm 0x5{number}0 rank {number} nranks 2 cudaDev 0 nvmlDev 0"
    address = f"192.0.2.{number + 1}<0>"
    hcas = hcas or f"[0]mlx5_{number}:1/RoCE"
    return [
        f"Bootstrap: Using eth{number}:{address}",
        f"NCCL version 2.2{number + 6}.1+cuda12.{number}",
        f"NET/IB : Using {hcas} [RO]; OOB eth{number}:{address}",
        f"NCCL_IB_TC set by environment to {number + 100}.",
        f"Using network {network}",
        f"{comm} busId 1b000 commId 0x1 - Init START",
        f"Channel 00/0 : {other}[0] -> {number}[0] [receive] via NET/{network}/0{gdr}",
        f"{comm} busId 1b000 commId 0x1 - Init COMPLETE",
    ]


def without_head(one: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in one.items() if k not in ("tag", "name", "host", "pid")}


# Who says the line: each of two ranks has one of these.
HEADS = [
    ("node-a:10:11 [0] NCCL INFO ", "node-b:10:11 [0] NCCL INFO "),
    ("node-a:10:11 [0] NCCL INFO ", "node-a:20:21 [0] NCCL INFO "),
    # Containers that share a name and a process number, told apart by their launcher alone.
    ("[1,0]<stdout>:box:10:11 [0] NCCL INFO ", "[1,1]<stdout>:box:10:11 [0] NCCL INFO "),
    ("[default0]:box:10:11 [0] NCCL INFO ", "[default1]:box:10:11 [0] NCCL INFO "),
    ("[0] box:10:11 [0] NCCL INFO ", "[1] box:10:11 [0] NCCL INFO "),
    ("0: box:10:11 [0] NCCL INFO ", "1: box:10:11 [0] NCCL INFO "),
    ("worker-0 | box:10:11 [0] NCCL INFO ", "worker-1 | box:10:11 [0] NCCL INFO "),
    ("[pod/w-0/main] box:10:11 [0] NCCL INFO ", "[pod/w-1/main] box:10:11 [0] NCCL INFO "),
    (
        "(Worker pid=7, ip=192.0.2.7) box:10:11 [0] NCCL INFO ",
        "(Worker pid=8, ip=192.0.2.8) box:10:11 [0] NCCL INFO ",
    ),
    (
        "2026-03-13T22:26:02.123Z [1,0]<stdout>:box:10:11 [0] NCCL INFO ",
        "2026-03-13T22:26:02.456Z [1,1]<stdout>:box:10:11 [0] NCCL INFO ",
    ),
    # The poster cut the hosts off.
    ("[rank0]: [0] NCCL INFO ", "[rank1]: [0] NCCL INFO "),
]


@pytest.mark.parametrize("heads", HEADS)
@few
@given(seed=st.integers(0, 1_000_000))
def test_mixed_ranks_each_have_the_facts_that_they_have_alone(
    heads: tuple[str, str], seed: int
) -> None:
    logs = [
        [head + line for line in rank(number, network, gdr=gdr)]
        for number, (head, network, gdr) in enumerate(
            zip(heads, ("IB", "IBext_v8"), ("/GDRDMA", ""), strict=True)
        )
    ]
    alone = [facts("\n".join(log) + "\n")["ranks"] for log in logs]
    assert [len(one) for one in alone] == [1, 1]
    mixed, rest = [], [list(log) for log in logs]
    draw = random.Random(seed)
    while any(rest):
        mixed.append(draw.choice([log for log in rest if log]).pop(0))
        mixed += draw.choice([[], [], ["step 3 loss 0.3"], ["W0313 [user:8]: NCCL is slow"]])
    found = facts("\n".join(mixed) + "\n")
    ranks = sorted(found["ranks"], key=lambda one: one["rank"])
    assert ranks == [alone[0][0], alone[1][0]]
    assert found["gdr"] is False
    assert found["settings_differ"] == ["NCCL_IB_TC"]
    assert sorted(found["nccl_versions"]) == [one["nccl_version"] for one in ranks]


def test_threads_with_a_gpu_each_are_ranks_of_one_process() -> None:
    text = info(
        "Bootstrap: Using eth0:192.0.2.1<0>", "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:x<0>"
    )
    for gpu, gdr in ((0, "/GDRDMA"), (1, "")):
        text += info(
            "Using network IB",
            f"comm 0x{gpu}1 rank {gpu} nranks 4 cudaDev {gpu} busId 1 - Init COMPLETE",
            f"Channel 00 : {2 + gpu}[1] -> {gpu}[1] [receive] via NET/IB/0{gdr}",
            head=f"node-a:10:2{gpu} [{gpu}] NCCL INFO ",
        )
    found = facts(text)
    assert [(one["name"], one["rank"], one["gdr"]) for one in found["ranks"]] == [
        ("node-a:10 GPU 0", 0, True),
        ("node-a:10 GPU 1", 1, False),
    ]
    assert {one["bootstrap_if"] for one in found["ranks"]} == {"eth0"}
    assert [one["hcas"] for one in found["ranks"]] == [["mlx5_0"], ["mlx5_0"]]


def test_a_line_that_two_processes_wrote_at_once_is_two() -> None:
    heads = ("node-a:10:11 [0] NCCL INFO ", "node-b:20:21 [0] NCCL INFO ")
    found = facts(
        f"{heads[0]}Using network IB {heads[1]}Using network Socket\n"
        f"  4096  1024 float sum -1 {heads[1]}cudaDriverVersion 12080\n"
    )
    assert [(one["host"], one["backend"], one["cuda_driver"]) for one in found["ranks"]] == [
        ("node-a", "IB", None),
        ("node-b", "Socket", "12.8"),
    ]


@pytest.mark.parametrize(
    ("using", "hcas"),
    [
        ("[0]a:1/IB ; OOB ib0:192.0.2.1<0>", ["a 1 IB"]),
        ("[0]a:1/IB/SHARP [RO]; OOB ib0:192.0.2.1<0>", ["a 1 IB"]),
        ("[0]a:1:0:1/IB [1]b:2:-1:-1/RoCE [RO]; OOB e:1<0>", ["a 1 IB", "b 2 RoCE"]),
        (
            "[0]={[0] c:1/RoCE, [1] d:1/RoCE} [1]={[2] a:1/RoCE, [3] b:1/RoCE} [RO]; OOB b.5:1<0>",
            ["c 1 RoCE", "d 1 RoCE", "a 1 RoCE", "b 1 RoCE"],
        ),
        (
            "[0]mlx5_bond_0:1/RoCE [1]rocep1s0f0:1/RoCE [2]bnxt_re0:1/RoCE ; OOB e:fe80::1%e<0>",
            ["mlx5_bond_0 1 RoCE", "rocep1s0f0 1 RoCE", "bnxt_re0 1 RoCE"],
        ),
        # NCCL's own buffer was too small.
        ("[0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_1", ["mlx5_0 1 IB", "mlx5_1 1 IB"]),
        ("[RO]; OOB eth0:192.0.2.1<0>", []),
    ],
)
def test_every_form_of_the_list_of_hcas(using: str, hcas: list[str]) -> None:
    found = facts(info(f"NET/IB : Using {using}", "Using network IB"))
    told = [f"{one['name']} {one['port']} {one['link']}" for one in found["hca_ports"]]
    assert told == hcas


ROCE = "NET/IB : Using [0]a:1/RoCE [RO]; OOB e:1<0>"
SOCKETS = "NET/Socket : Using [0]e:192.0.2.1<0>"
AWS = "AWS Libfabric"


@pytest.mark.parametrize(
    ("lines", "network", "backend"),
    [
        (["Using network IB"], "IB", "IB"),
        (["Using network IBext_v8", ROCE], "RoCE", "IBext_v8"),
        ([f"Using network {AWS}"], AWS, AWS),
        ([f"Channel 00/0 : 0[0] -> 1[0] [send] via NET/{AWS}/0/GDRDMA"], AWS, AWS),
        (["Assigned NET plugin IB to comm"], "IB", "IB"),
        # What started is not what was chosen, unless nothing else started.
        (["Initialized NET plugin IB"], "IB", "IB"),
        (["Initialized NET plugin IB", "Initialized NET plugin Socket"], None, None),
        # 2.4 says which interfaces there are even where RDMA is used.
        ([SOCKETS], None, None),
        ([SOCKETS, ROCE], "RoCE", "IB"),
        (["NCCL version 2.12.7+cuda11.6", SOCKETS], "Socket", "Socket"),
        (["NET/IB : No device found.", SOCKETS], "Socket", "Socket"),
        (["NET/IB : No device found."], "none", None),
        (["P2P plugin IBext", ROCE], "RoCE", "IBext"),
        (["P2P plugin IBext", "net.cc:55 -> 3", ROCE], "RoCE", "IB"),
        (["cudaDriverVersion 12080"], None, None),
    ],
)
def test_the_network_that_was_really_used(
    lines: list[str], network: str | None, backend: str | None
) -> None:
    found = facts(info(*lines))
    assert (found["network"], found["backend"]) == (network, backend)


@pytest.mark.parametrize(
    ("lines", "gdr"),
    [
        # It is possible; nothing shows that it is used.
        (["DMA-BUF is available on GPU device 0"], None),
        (["NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"], None),
        (["NET/IB : GPU Direct RDMA (DMABUF) enabled for HCA 0 'mlx5_0"], None),
        (["NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"], False),
        (["Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/9/GDRDMA"], True),
        (["Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0(3)/GDRDMA(PCI)/Shared"], True),
        (["Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/Shared"], False),
        (["Ring 00 : 1 -> 0 [receive] via NET/IB/0"], False),
        # Sending may go through the host.
        (
            [
                "Channel 00 : 1[1b] -> 0[1b] [receive] via NET/IB/0/GDRDMA",
                "Channel 00 : 0[1b] -> 1[1b] [send] via NET/IB/0",
            ],
            True,
        ),
        (
            [
                "Channel 00 : 1[1b] -> 0[1b] [receive] via NET/IB/0",
                "Channel 00 : 0[1b] -> 1[1b] [send] via NET/IB/0/GDRDMA",
            ],
            False,
        ),
        (["Connected all rings, use ring PXN 0 GDR 0"], False),
        # On one host NCCL says so, too.
        (["Connected all rings, use ring PXN 0 GDR 1"], None),
        (
            [
                "comm 0x1 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0",
                "Connected all rings, use ring PXN 0 GDR 1",
            ],
            True,
        ),
    ],
)
def test_gpudirect_is_what_channels_use_and_not_what_is_possible(
    lines: list[str], gdr: bool | None
) -> None:
    assert facts(info("Using network IB", *lines))["gdr"] is gdr


@pytest.mark.parametrize(
    ("via", "intra", "also", "p2p"),
    [
        ("P2P/IPC", "P2P", [], ["IPC"]),
        ("P2P/CUMEM/read", "P2P", [], ["CUMEM"]),
        ("P2P/direct pointer", "P2P", [], ["direct pointer"]),
        ("P2P/direct pointer comm 0x55 nRanks 04", "P2P", [], ["direct pointer"]),
        ("P2P/indirect/3[1b000]", "P2P", [], ["indirect"]),
        ("SHM/direct/direct", "SHM", [], []),
        ("direct shared memory", "SHM", [], []),
    ],
)
def test_the_way_between_gpus_of_a_host(
    via: str, intra: str, also: list[str], p2p: list[str]
) -> None:
    found = facts(info(f"Channel 00/0 : 0[0] -> 1[1] via {via}"))
    assert (found["intra"], found["intra_also"], found["p2p"]) == (intra, also, p2p)
    assert found["net_peers"] == []


def test_several_ways_are_told_with_peer_access_first() -> None:
    found = facts(
        info(
            "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct",
            "Connected NVLS tree",
            "Channel 00 : 0[0] -> 2[2] via P2P/IPC",
        )
    )
    assert (found["intra"], found["intra_also"]) == ("P2P", ["SHM", "NVLS"])
    assert facts(info("0 coll channels, 0 nvls channels, 4 p2p channels"))["intra"] is None


FROM = "Got completion from peer"


@pytest.mark.parametrize(
    ("line", "code", "peer", "hca"),
    [
        (
            "NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129",
            "wc_status_12_vendor_129",
            "",
            "",
        ),
        (
            f"NET/IB : {FROM} 192.0.2.1<4> with error 13, opcode 1, len 0, vendor err 135 (Recv)",
            "wc_status_13_vendor_135",
            "192.0.2.1",
            "",
        ),
        (
            f"NET/IB : {FROM} fe80::1%e<4> with status=10 opcode=1 len=0 vendor err 136 (Send)",
            "wc_status_10_vendor_136",
            "fe80::1%e",
            "",
        ),
        (
            f"NET/IB: {FROM} 192.0.2.1<4> with status=IBV_WC_RETRY_EXC_ERR(12) "
            "opcode=IBV_WC_SEND(0) vendor_err=129  hca mlx5_3",
            "wc_status_12_vendor_129",
            "192.0.2.1",
            "mlx5_3",
        ),
        (
            f"NET/IB/GIN: {FROM} 192.0.2.1<4> with status=4 opcode=1 len=0 vendor err 81 (IPut)"
            " hca mlx5_3",
            "wc_status_4_vendor_81",
            "192.0.2.1",
            "mlx5_3",
        ),
        (
            f"NET/IBP:{FROM} 192.0.2.1<4> with status=12 opcode=3 len=3 vendor err 129 (Send)",
            "wc_status_12_vendor_129",
            "192.0.2.1",
            "",
        ),
        (
            "NET/IB : Got completion with error 5, opcode 0, len 0, vendor err 249",
            "wc_status_5",
            "",
            "",
        ),
        (
            "NET/IB : Got completion with error 77, opcode 0, len 0, vendor err 1",
            "wc_status_77_vendor_1",
            "",
            "",
        ),
    ],
)
def test_every_form_of_a_completion_error(line: str, code: str, peer: str, hca: str) -> None:
    found = facts(f"node-a:10:11 [2] transport/net_ib.cc:12 NCCL WARN {line}\n")
    assert found["errors"] == [code]
    assert (found["first_cause"]["peer"], found["first_cause"]["hca"]) == (peer, hca)
    assert all(found["first_cause"][key] for key in ("means", "cause", "remedy"))
    assert found["hcas"] == ([hca] if hca else [])


def test_the_first_cause_is_the_first_that_is_no_flush() -> None:
    flush = "Got completion with error 5, opcode 0, len 0, vendor err 249"
    lines = [f"node-{n}:10:11 [0] ib.cc:1 NCCL WARN NET/IB : {flush}\n" for n in "abc"]
    found = facts("".join(lines))
    assert (found["first_cause"]["status"], found["errors"]) == (5, ["wc_status_5"])
    lines[2:2] = [lines[0].replace("error 5", "error 4").replace("249", "81")]
    found = facts("".join(lines * 3))
    assert found["first_cause"]["code"] == "wc_status_4_vendor_81"
    assert found["first_cause"]["times"] == 3
    assert [len(one["errors"]) for one in found["ranks"]] == [2, 1, 1]


def test_an_error_that_a_program_tells_again_is_its_launchers_rank() -> None:
    found = facts(
        "[rank1]:node-b:10:11 [0] NCCL INFO Using network IB\n"
        "[rank0]:node-a:10:11 [0] NCCL INFO Using network IB\n"
        "[rank1]:Last error:\n"
        "[rank1]:Call to ibv_create_cq failed\n"
        "Call to ibv_create_qp failed\n"
    )
    assert [one["errors"] for one in found["ranks"]] == [["create_cq_failed"], []]
    assert found["first_cause"]["rank"] == "node-b:10 GPU 0"
    assert [one["rank"] for one in found["failures"]] == ["node-b:10 GPU 0", ""]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("error Connection timed out", "modify_qp_timeout"),
        ("110 Connection timed out, on dev mlx5_1:1, curr state INIT", "modify_qp_timeout"),
        ("error No route to host", "modify_qp_no_route"),
        ("error Network is unreachable", "modify_qp_network_unreachable"),
        ("error Invalid argument", "modify_qp_invalid_argument"),
        ("error Something new", "modify_qp_failed"),
    ],
)
def test_a_queue_pair_that_cannot_be_joined_tells_why(reason: str, code: str) -> None:
    text = f"Call to ibv_modify_qp failed with {reason}"
    found = facts(f"node-a:10:11 [0] misc/ibvwrap.cc:187 NCCL WARN {text}\n")
    assert found["errors"] == [code]
    retried = f"node-a:10:11 [0] NCCL INFO {text}, retrying 1/35 after 100 msec of sleep\n"
    assert facts(retried)["errors"] == []


@pytest.mark.parametrize(
    ("gid", "network"),
    [
        ("local GID ::ffff:192.0.2.1", "RoCE"),
        ("local GID 2001:db8::1", "RoCE"),
        # InfiniBand has such addresses, too.
        ("local GID fe80::1", "IB"),
        ("local GID N/A", "IB"),
    ],
)
def test_an_address_that_only_roce_has_tells_the_link(gid: str, network: str) -> None:
    text = (
        f"NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev m:1, {gid}"
    )
    assert facts(f"node-a:10:11 [0] misc/ibvwrap.cc:1 {text}\n")["network"] == network


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-20 10:00:00,123 INFO node-a:10:11 [0] NCCL INFO Using network IB",
        "[2026-11-20 10:00:00] node-a:10:11 [0] NCCL INFO Using network IB",
        "[2026-11-20 10:00:00.123] [rank3]: node-a:10:11 [0] NCCL INFO Using network IB",
        "Nov 20 10:00:00 node-a slurmstepd[7]: node-a:10:11 [0] NCCL INFO Using network IB",
        "1763632800.123 node-a:10:11 [0] NCCL INFO Using network IB",
        "[trainer3]:node-a:10:11 [0] NCCL INFO Using network IB",
        "\x1b[36m(Worker pid=7)\x1b[0m node-a:10:11 [0] NCCL INFO Using network IB "
        "[repeated 7x across cluster] (Ray deduplicates logs by default.)",
        "junk { of another: program node-a:10:11 [0] NCCL INFO Using network IB",
        "node-a:10:11\t[0]  NCCL  INFO Using network IB".replace("  ", " "),
    ],
)
def test_whatever_stands_before_a_line_it_is_that_process(line: str) -> None:
    found = facts(line + "\n")
    assert [(one["host"], one["pid"], one["device"]) for one in found["ranks"]] == [
        ("node-a", 10, 0)
    ]
    assert found["ranks"][0]["backend"] == "IB"


def test_times_before_the_lines_do_not_make_many_ranks_of_one() -> None:
    lines = [
        f"{head}node-a:10:11 [0] NCCL INFO {said}\n"
        for n, said in enumerate(rank(0, "IB"))
        for head in (f"2026-11-20T10:00:0{n}.12{n}Z ", f"[20261120-10000{n}] ", f"10:00:0{n} ")
    ]
    assert len(facts("".join(lines))["ranks"]) == 1


def test_what_a_rank_prints_as_output_and_as_error_is_one_ranks() -> None:
    head = "box:10:11 [0]"
    found = facts(
        f"[1,3]<stdout>:{head} NCCL INFO Using network IB\n"
        f"[1,3]<stderr>:{head} a.cc:1 NCCL WARN Call to ibv_create_cq failed\n"
    )
    assert [(one["backend"], one["errors"]) for one in found["ranks"]] == [
        ("IB", ["create_cq_failed"])
    ]


def test_a_version_on_a_line_of_its_own_is_the_launchers_ranks() -> None:
    text = (
        "[1,0]<stdout>:node-a:10:11 [0] NCCL INFO Using network IB\n"
        "[1,1]<stdout>:node-b:10:11 [0] NCCL INFO Using network IB\n"
        "[1,0]<stdout>:NCCL version 2.18.5+cuda12.0\n"
    )
    found = facts(text)
    assert [one["nccl_version"] for one in found["ranks"]] == ["2.18.5+cuda12.0", None]
    found = facts(text.replace("[1,0]<stdout>:NCCL version", "NCCL version"))
    assert [one["nccl_version"] for one in found["ranks"]] == [None, None]
    assert found["nccl_version"] == "2.18.5+cuda12.0"


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("NCCL_IB_TIMEOUT set by environment to 22.", "NCCL_IB_TIMEOUT", "22"),
        ("NCCL_IB_HCA set to =mlx5_0,mlx5_1", "NCCL_IB_HCA", "=mlx5_0,mlx5_1"),
        ("NCCL_NET_GDR_LEVEL set by environment to PHB", "NCCL_NET_GDR_LEVEL", "PHB"),
        ("NCCL_TOPO_FILE set by environment to /a/b.xml", "NCCL_TOPO_FILE", "/a/b.xml"),
        ("NCCL_IB_HCA set to ", "NCCL_IB_HCA", ""),
    ],
)
def test_settings_are_told_as_nccl_read_them(said: str, name: str, value: str) -> None:
    assert facts(info(said))["settings"] == {name: value}


def test_interfaces_may_have_ipv6_addresses() -> None:
    found = facts(
        info(
            "Bootstrap : Using eth0:fe80::1%eth0<0>",
            "NET/Socket : Using [0]eth0:fe80::1%eth0<0> [1]veth1:fe80::2%veth1<0>",
        )
    )
    assert (found["bootstrap_if"], found["bootstrap_address"]) == ("eth0", "fe80::1%eth0")
    assert found["socket_if"] == "eth0,veth1"


def test_ranks_on_different_networks_are_told() -> None:
    heads = ("node-a:10:11 [0] NCCL INFO ", "node-b:10:11 [0] NCCL INFO ")
    lines = [heads[0] + one for one in rank(0, "IB")] + [heads[1] + "Using network Socket"]
    found = facts("\n".join(lines) + "\n")
    assert found["network"] == "mixed"
    assert [one["network"] for one in found["ranks"]] == ["RoCE", "Socket"]


def test_a_communicator_that_never_came_up_is_not_complete() -> None:
    begun = "ncclCommInitRank comm 0x{} rank 0 nranks 2 cudaDev 0 commId 0x1 - Init {}"
    assert facts(info(begun.format(1, "START")))["complete"] is False
    both = [begun.format(1, "START"), begun.format(1, "COMPLETE")]
    assert facts(info(*both))["complete"] is True
    assert facts(info(*both, begun.format(2, "START")))["complete"] is False


@pytest.mark.parametrize("text", ["", "\n \n", "hello\nUsing network IB\n", "NCCL is a library\n"])
def test_a_text_in_which_nccl_says_nothing_is_no_log(text: str) -> None:
    with pytest.raises(ParseError):
        nccl_log.parse(text)
    nothing, error = names.facts("nccl_log", text)
    assert error is not None
    assert nothing["network"] is None
    assert nothing["ranks"] == []


def true_of(found: dict[str, Any]) -> set[tuple[str, str]]:
    """Facts that later lines can add to, but not take back."""
    keys = ("hcas", "errors", "nccl_versions", "net_peers", "p2p")
    return {(key, str(one)) for key in keys for one in found[key]} | {
        (key, str(found[key])) for key in ("bootstrap_if", "cuda_driver") if found[key] is not None
    }


@pytest.mark.parametrize(("tool", "sidecar"), sidecars("nccl_log"))
def test_a_log_that_is_cut_anywhere_tells_nothing_that_the_whole_does_not(
    tool: str, sidecar: Path
) -> None:
    text = text_of(sidecar)
    whole = facts(text)
    for end in range(1, len(text)):
        try:
            found = facts(text[:end])
        except ParseError:
            continue
        assert true_of(found) <= true_of(whole) | {
            # The vendor's number is not told where the log ends within it.
            ("errors", one.partition("_vendor")[0])
            for one in whole["errors"]
        }, text[:end][-80:]


@pytest.mark.parametrize(("tool", "sidecar"), sidecars("nccl_log"))
@pytest.mark.parametrize("change", ["crlf", "colour", "between"])
def test_line_ends_colours_and_other_programs_change_no_fact(
    tool: str, sidecar: Path, change: str
) -> None:
    text = text_of(sidecar)
    lines = text.split("\n")
    if change == "crlf":
        changed = "\r\n".join(lines)
    elif change == "colour":
        changed = "\n".join(f"\x1b[32m{line}\x1b[0m" if line else "" for line in lines)
    else:
        changed = "\n".join(part for line in lines for part in (line, "step 1: loss 2.3"))[:-16]
    assert facts(changed) == facts(text)
