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
