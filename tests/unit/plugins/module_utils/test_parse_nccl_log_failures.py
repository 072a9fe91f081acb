# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: failures, and which of them came first."""

from __future__ import annotations

import pytest

from tests.unit.nccl_logs import facts

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
            f"NET/IB/GIN: {FROM} 192.0.2.1<4> with status=4 opcode=1 len=0 vendor err 81 (IPut) hca mlx5_3",
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


HEAD = "node-a:10:11 [0]"


@pytest.mark.parametrize(
    ("said", "code", "kind"),
    [
        ("misc/shmutils.cc:88 NCCL WARN Call to open failed: No such file or directory", "shm_failed", "error"),
        (
            "shm.cc:9 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-1 (size 5)",
            "shm_failed",
            "error",
        ),
        (
            "misc/shmutils.cc:4 NCCL WARN Call to posix_fallocate failed : No space left on device",
            "shm_failed",
            "error",
        ),
        (
            "init.cc:8 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device b7000",
            "duplicate_gpu",
            "error",
        ),
        ("transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'", "nvls_cuda_failure", "error"),
        ("enqueue.cc:2 NCCL WARN Cuda failure 700 'an illegal memory access was encountered'", "cuda_failure", "error"),
        ("net.cc:5 NCCL WARN Could not find NET with name InfiniBand", "net_not_found", "error"),
        ("NCCL INFO comm 0x5 rank 0 nranks 8 cudaDev 0 busId 1b000 - Abort COMPLETE", "aborted", "consequence"),
        ("ib.cc:1 NCCL WARN NET/IB : Got async event : port error", "port_event", "error"),
        ("ib.cc:1 NCCL WARN NET/IB : mlx5_3:1 Got async event : port error", "port_event", "error"),
        (
            "proxy.cc:9 NCCL WARN [Proxy Service 1] Failed to execute operation Connect from rank 1",
            "proxy_failed",
            "again",
        ),
        ("NCCL ERROR a plugin's own word", "unread_warning", "unread"),
        ("NCCL INFO group.cc:75 -> 2 [Async thread]", "result_2", "unread"),
        ("NCCL INFO init.cc:1402 -> 6", "result_6", "consequence"),
        ("graph/xml.cc:1 NCCL WARN Something that nobody has seen until now", "unread_warning", "unread"),
    ],
)
def test_nothing_that_ends_a_job_is_left_unread(said: str, code: str, kind: str) -> None:
    found = facts(f"{HEAD} {said}\n")
    assert (found["first_cause"]["code"], found["first_cause"]["kind"]) == (code, kind)
    assert found["first_cause"]["rank"].startswith("node-a:10")
    assert found["errors"] == ([] if kind in ("consequence", "again") else [code])


@pytest.mark.parametrize("said", ["net.cc:55 -> 3", "misc/socket.cc:80 -> 6", "init.cc:9 -> 7", "group.cc:1 -> 0"])
def test_a_call_within_may_fail_and_nccl_goes_on(said: str) -> None:
    assert facts(f"{HEAD} NCCL INFO {said}\n")["failures"] == []


def test_a_program_s_own_words_count_too() -> None:
    watchdog = "[rank3]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE)"
    found = facts(f"{HEAD} NCCL INFO Using network IB\n{watchdog}\n")
    assert found["first_cause"]["code"] == "watchdog_timeout"
    last = "worker-1: Last error:\nworker-1: Cuda failure 'initialization error'\n"
    assert facts(f"worker-1: {HEAD} NCCL INFO Using network IB\n{last}")["errors"] == ["cuda_failure"]


CLOSED = f"{HEAD} misc/socket.cc:5 NCCL WARN socketProgress: Connection closed by remote peer node-b.cluster<4>\n"
NEW = "node-c:7:7 [1] x.cc:1 NCCL WARN Something that nobody has seen until now\n"
ENDED = "node-d:3:3 [2] NCCL INFO group.cc:75 -> 3 [Async thread]\n"


def test_no_consequence_comes_first_while_a_warning_stands_unread() -> None:
    assert facts(CLOSED)["first_cause"]["peer"] == "node-b.cluster"
    for text in (CLOSED + NEW, NEW + CLOSED):
        first = facts(text)["first_cause"]
        assert (first["code"], first["rank"]) == ("unread_warning", "node-c:7 GPU 1")
        assert "nobody has seen until now" in first["means"]
    known = f"{HEAD} ib.cc:12 NCCL WARN NET/IB : Got completion with error 4, opcode 0, len 0, vendor err 81\n"
    assert facts(NEW + CLOSED + known)["first_cause"]["code"] == "wc_status_4_vendor_81"


def test_a_number_says_nothing_beside_a_line_that_tells_why() -> None:
    assert facts(ENDED)["first_cause"]["code"] == "result_3"
    assert facts(ENDED + CLOSED)["first_cause"]["code"] == "remote_closed"
    assert facts(NEW + ENDED)["errors"] == ["unread_warning"]


def test_a_warning_that_is_cut_is_not_read() -> None:
    assert facts(CLOSED + NEW.rstrip("\n"))["first_cause"]["code"] == "remote_closed"
