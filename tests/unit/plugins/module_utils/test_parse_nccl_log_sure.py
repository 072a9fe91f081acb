# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: messages without a prefix that are NCCL's by their own words, and what explains what."""

from __future__ import annotations

import re

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log as data
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import _nccl_lines, nccl_log
from tests.unit.nccl_logs import facts, info

TOLD = "DistBackendError: NCCL error in: ../csrc/NCCLUtils.hpp:268, internal error, NCCL version 2.21.5"
WARN = "node-a:10:11 [0] NCCL WARN "


@pytest.mark.parametrize(
    ("line", "code"),
    [
        # goodfire-ai/spd pull request 957.
        ("ncclOsSocketTryAccept: Accept failed: Too many open files", "too_many_files"),
        ("[rank3]: socketProgress: Connection closed by remote peer node-b<7>", "remote_closed"),
        ("NET/IB : Got async event : port error", "port_event"),
        ("NET/OFI No eligible providers were found", "ofi_no_provider"),
        ("Failed to find reverse path from remNode 0/5f000 nlinks 4 to node 0/cb000", "topology_incomplete"),
        ("hipIpcGetMemHandle failed : invalid argument", "p2p_disabled"),
        ("Cannot initialize CollNet, using point-to-point network instead", "collnet_unavailable"),
        ("UDS: Sending data over socket /tmp/nccl-1 failed : Connection refused", "uds_failed"),
    ],
)
def test_messages_that_are_nobody_elses_are_read_without_a_prefix(line: str, code: str) -> None:
    assert [entry["code"] for entry in facts(f"{line}\n")["failures"]] == [code]
    assert [entry["code"] for entry in facts(info("Using network IB") + f"{line}\n")["failures"]] == [code]


@pytest.mark.parametrize(
    "line",
    [
        "accept: Too many open files",
        "ncclGroupEnd() INTERNAL",
        "hipIpcGetMemHandle failed: invalid argument",
        "the plugin says: NET/OFI No eligible providers were found",
        "SHARP works",
        "ncclSystemError: nothing that is known",
    ],
)
def test_what_others_may_say_as_well_is_left_alone(line: str) -> None:
    with pytest.raises(ParseError):
        nccl_log.parse(f"{line}\n")


def test_a_warning_is_unread_only_where_nccl_gave_it() -> None:
    assert facts(info("Using network IB") + "ncclSomething: nobody knows this\n")["failures"] == []
    assert facts(f"{WARN}ncclSomething: nobody knows this\n")["errors"] == ["unread_warning"]


@pytest.mark.parametrize("pattern", [*data.SURE, *data.SURE_FACTS])
def test_sure_words_are_words(pattern: str) -> None:
    assert re.compile(pattern).match("") is None
    assert not re.search(r"(?<!\\)[*+]", re.sub(r"\[[^\]]*\]", "", pattern)), "every repetition has an end"


# NVIDIA/nccl issue 897 and ROCm/amdgpu issue 102.
@pytest.mark.parametrize(
    ("text", "channels"),
    [
        ("9[1a000] -> 2[6b000] [send] via NET/IB/0/GDRDMA\n9[1a000] -> 2[6b000] [receive] via NET/IB/1\n", (1, 1)),
        ("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n", (0, 0)),
        ("NET/IB : GPU Direct RDMA (nvidia-peermem) Disabled for HCA 0 'mlx5_0'\n", (0, 0)),
    ],
)
def test_lines_of_what_nccl_uses_are_quoted_without_its_prefix(text: str, channels: tuple[int, int]) -> None:
    found = facts(text)
    assert (found["network"], found["gdr"]) == ("IB", False)
    assert tuple(found["gdr_channels"].values()) == channels
    assert found["net_peers"] == ([2, 9] if any(channels) else [])


# mila-iqia/milabench issue 183.
@pytest.mark.parametrize("head", ["opt-1_3b.0 [stderr] ", "a b c> "])
def test_a_last_error_is_found_behind_a_prefix_that_nobody_knows(head: str) -> None:
    text = f"{head}{TOLD}\n{head}ncclInternalError: Internal check failed.\n{head}Last error:\n"
    found = facts(f"{text}{head}Something that nobody has seen until now\n")
    assert found["first_cause"]["text"] == "Something that nobody has seen until now"
    assert facts(f"{text}another program's line\n")["errors"] == ["result_3"]
    assert facts(f"{text}{head}Exception raised from check at NCCLUtils.hpp:7\n")["errors"] == ["result_3"]


@pytest.mark.parametrize(
    "text",
    [
        f"{TOLD}\nncclSystemError: System call failed. Last error: Something that nobody has seen\n",
        f"{TOLD}\nncclSystemError: System call failed. Last error:\nSomething that nobody has seen\n",
        f"('{TOLD}\\nncclSystemError: System call failed.\\nLast error:\\nSomething that nobody has seen\\n')\n",
    ],
)
def test_a_last_error_may_stand_in_a_line_with_others(text: str) -> None:
    assert facts(text)["first_cause"]["text"] == "Something that nobody has seen"


def test_what_somebody_asked_for_is_the_first_cause_where_nothing_else_is() -> None:
    # NVIDIA/nccl issue 1050.
    sharp = f"{WARN}NET/IB : SHARP coll init error: Cannot create SHARP job(-11)\n"
    sharp += info("transport.cc:291 -> 2", "init.cc:670 -> 2")
    assert facts(sharp)["first_cause"]["code"] == "collnet_unavailable"
    gone = f"{WARN}socketProgress: Connection closed by remote peer node-b<7>\n"
    assert facts(sharp + gone)["first_cause"]["code"] == "remote_closed"


def test_a_failure_takes_the_place_of_a_remark_that_has_its_code() -> None:
    remark, failure = (f"{WARN}NET/IB : Got async event : {words}\n" for words in ("port active", "port error"))
    for text in (remark + failure, failure + remark):
        found = facts(text)
        assert [(entry["code"], entry["kind"]) for entry in found["failures"]] == [("port_event", "error")]


# aws/aws-ofi-nccl issue 803.
@pytest.mark.parametrize("provider", ["tcp", "tcp;ofi_rxm", "sockets"])
def test_a_plugin_that_found_tcp_alone_failed_for_that(provider: str) -> None:
    told = info(f"NET/OFI Selected Provider is {provider} (found 1 nics)")
    failed = f"{WARN}NET/OFI Disabling shared memory failed: Protocol not available\n"
    found = facts(told + failed)["first_cause"]
    assert (found["code"], "FI_PROVIDER" in found["cause"], "Disabling" in found["text"]) == ("ofi_tcp", True, True)
    assert facts(told.replace(provider, "efa") + failed)["first_cause"]["code"] == "ofi_failed"
    both = told + told.replace(provider, "efa") + failed
    assert facts(both)["first_cause"]["code"] == "ofi_failed"


# aws-samples/aws-do-eks pull request 50.
def test_gloo_fails_before_nccl_begins() -> None:
    said = "RuntimeError: Gloo connectFullMesh failed with [pair.cc:152] timed out connecting: SO_ERROR: Connection "
    found = facts(f"[rank8]: {said}refused, remote=[127.0.0.1]:14215\n")["first_cause"]
    assert (found["code"], found["peer"], found["rank"]) == ("gloo_connect_failed", "127.0.0.1", "[rank8]")
    assert "GLOO_SOCKET_IFNAME" in found["remedy"]
    (bare,) = facts("RuntimeError: Gloo connectFullMesh failed with [pair.cc:144] no error\n")["failures"]
    assert (bare["code"], bare["peer"]) == ("gloo_connect_failed", "")


def test_the_other_end_of_efa_is_named_by_its_host() -> None:
    text = "NET/OFI Request 0x7 completed with error. RC: 5. Error: Invalid receiver queue pair number (QPN)"
    found = facts(f"{WARN}{text} My EFA addr: a Peer host id: i-08d8a345a75ab52a0. Completed length: 0\n")[
        "first_cause"
    ]
    assert (found["code"], found["peer"]) == ("remote_closed", "i-08d8a345a75ab52a0")


def test_a_line_is_read_up_to_a_length_of_which_nccl_has_none() -> None:
    begun = "node1:1:1 [0] NCCL INFO "
    at = _nccl_lines._LONGEST - len(begun)
    (line,) = _nccl_lines.lines_of(f"{begun}{'x' * (at + 5)}\n")
    assert (len(line.text), line.level) == (at, "INFO")
