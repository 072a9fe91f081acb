# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in what somebody pasted, and what each printed."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why
from ansible_collections.ibready.cluster.plugins.module_utils._verify.typed import pieces


@pytest.mark.parametrize(
    ("line", "host", "words", "tool"),
    [
        ("[root@node75 ~]# lspci |grep net", "node75", "lspci |grep net", "lspci"),
        ("root@node2$ lspci | grep Mellanox", "node2", "lspci | grep Mellanox", "lspci"),
        ("(pytorch) [root@gpu3 ~]# lsmod | grep nvidia_peermem", "gpu3", "lsmod | grep nvidia_peermem", "lsmod"),
        ("    root@sim:~/ibsim# ibsim-run sminfo 2>/dev/null", "sim", "ibsim-run sminfo 2>/dev/null", "sminfo"),
        ("ubuntu@bf-1:~$ sudo mlxlink -d /dev/mst/x -m", "bf-1", "sudo mlxlink -d /dev/mst/x -m", "mlxlink"),
        ("[root@node75 ~]#", "node75", "", ""),
        ("[root@node75 ~]# uname -a", "node75", "uname -a", ""),
        ("$ fi_info -p verbs", "", "fi_info -p verbs", ""),
        ("# /opt/mellanox/bin/mst status -vv", "", "/opt/mellanox/bin/mst status -vv", "mst_status"),
        ("nvidia-smi nvlink --capabilities", "", "nvidia-smi nvlink --capabilities", ""),
        ("dcgmi diag -r 2", "", "dcgmi diag -r 2", "dcgmi"),
    ],
)
def test_a_command_begins_a_piece(line: str, host: str, words: str, tool: str) -> None:
    before, typed = pieces(f"before\n{line}\nafter\n")
    assert (before.text, typed.text) == ("before\n", "after\n")
    assert (typed.host, typed.words, typed.tool) == (host, words, tool)


@pytest.mark.parametrize(
    "line",
    [
        "# Port counters: Lid 6 port 1 (CapMask: 0x5300)",
        "#bytes     #iterations    BW peak[Gb/sec]",
        "## Summary: 16 nodes checked, 1 bad nodes found",
        "sminfo: sm lid 2 sm guid 0x2c90200259201, activity count 6881 priority 0 state 3 SMINFO_MASTER",
        "rdma link names the device",
        "perfquery shows nothing",
        "mlx5_0 port 1 ==> ib0 (Up)",
    ],
)
def test_a_line_of_an_output_begins_none(line: str) -> None:
    (piece,) = pieces(line + "\n")
    assert piece.text == line + "\n"


def test_what_only_frames_a_text_is_none() -> None:
    assert [piece.text for piece in pieces("```console\n$ ibstat\n```\n<pre>\n$ lsmod\n</pre>\n\n~~~\n")] == [
        "",
        "",
        "",
    ]


def heard(text: str) -> why.Heard:
    told = why.Heard()
    told.take("file", text)
    return told


def test_a_quiet_log_is_read_by_the_command_that_printed_it() -> None:
    # From jishuzhan.net/article/1750293577927233538, its marks undone: nothing in it is worth a word.
    told = heard("[root@stg ~]# dmesg | grep -e DMAR\n[    0.000000] DMAR: IOMMU enabled\n")
    assert (list(told.texts["stg"]), told.unread) == (["dmesg"], [])


def test_a_quiet_log_is_known_by_its_lines() -> None:
    # From spdk/spdk#1184.
    line = "Feb 06 16:10:07 2eb8df3b-4141 kernel: infiniband rxe0: set active\n"
    told = heard(f"```sh\n{line}{line}```\n")
    assert (list(told.texts[""]), told.unread) == (["dmesg"], [])
    assert heard(line + "Feb 06 16:10:08 2eb8df3b-4141 cron[7]: hello\n").texts == {}


def test_two_hosts_of_two_prompts_are_two() -> None:
    # From the linux-rdma list, rping over rxe.
    ping = "ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr\n"
    told = heard(f"[root@dev14 ~]# rping -s -v\nserver {ping}[root@dev13 ~]# rping -c -v\n{ping}")
    assert sorted(told.texts) == ["dev13", "dev14"]
    assert [host.says for host in why.judged(told, from_inventory({}))] == [
        ("rping: 1 ping came in",),
        ("rping: 1 ping came back",),
    ]


def test_why_the_output_of_a_known_command_is_unread() -> None:
    # From linux-rdma/perftest#240: the server's head, and no result.
    told = heard(
        "root@a:~# ib_write_bw -d mlx5_0\n                    RDMA_Write BW Test\n Mtu             : 4096[B]\n"
    )
    assert told.texts == {}
    assert "no table of results" in told.unread[0]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (" Failed to modify QP 306 to RTR\n Unable to Connect the HCA's through the link\n", "perftest"),
        ("client read: No space left on device\nCouldn't read remote address\n", ""),
        ("Failed to open device\n", "libibverbs"),
    ],
)
def test_what_fails_is_told_by_its_form_with_the_tool_s_name(text: str, tool: str) -> None:
    told = heard(text)
    assert (told.texts, told.unread, [failed.tool for failed in told.failed][:1]) == ({}, [], [tool])


TRACE = """\
+ set -e
+ echo 'error: no device'
error: no device
++ die 'failed to find it'
modprobe: ERROR: could not insert 'x'
"""


def test_a_command_that_a_shell_traced_is_typed_and_no_complaint() -> None:
    assert [(piece.words, piece.text) for piece in pieces(TRACE)][1:] == [
        ("set -e", ""),
        ("echo 'error: no device'", "error: no device\n"),
        ("die 'failed to find it'", "modprobe: ERROR: could not insert 'x'\n"),
    ]
    assert {one.words for one in heard(TRACE).failed} == {"could not insert 'x'", "no device"}


@pytest.mark.parametrize("text", ["+ one line alone\n", "--- a/x\n+++ b/x\n+ one\n+ two\n"])
def test_a_plus_before_a_line_or_in_a_patch_is_no_trace(text: str) -> None:
    (piece,) = pieces(text)
    assert piece.text == text
