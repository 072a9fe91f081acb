# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: lines whose prefix is old, cut, bent by hand, or another program's."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log
from tests.unit.nccl_logs import facts, info

CLOSED = "misc/socket.cc:4 NCCL WARN socketProgress: Connection closed by remote peer node-b<4>"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f"<node name>:20:21 [3] {CLOSED}", "<node_name>:20 GPU 3"),
        (f"<node_name>:20:21 [3] {CLOSED}", "<node_name>:20 GPU 3"),
        (f"<node:main>:20:21 [3] {CLOSED}", "<node:main>:20 GPU 3"),
        (f"node-a :20:21 [3] {CLOSED}", "node-a:20 GPU 3"),
        (f"2026-03-13T22:26:02.1Z [2026-03-13 22:26:02] node-a [3] {CLOSED}", "node-a GPU 3"),
        (f"INFO [3] {CLOSED}", "GPU 3"),
        (f"rank3 [3] {CLOSED}", "GPU 3"),
        # aws-ofi-nccl names a function, with blanks.
        (
            f"[2026-03-13 22:26:02] node-a:20:21 [3] int create_plugin(plugin_t **, int):259 {CLOSED[17:]}",
            "node-a:20 GPU 3",
        ),
    ],
)
def test_whose_line_it_is(line: str, name: str) -> None:
    found = facts(f"{line}\n")
    assert (found["first_cause"]["code"], found["first_cause"]["rank"]) == ("remote_closed", name)


# NVIDIA/nccl-tests issue 14 and NVIDIA/nccl issue 210.
@pytest.mark.parametrize("head", ["node-a:10:10 [0] include/socket.h:311 WARN ", "include/socket.h:344 WARN "])
def test_old_releases_did_not_name_themselves(head: str) -> None:
    found = facts(f"{head}Socket creation failed : Address family not supported by protocol\n")
    assert found["errors"] == ["ifname_not_found"]


def test_of_old_releases_the_warnings_alone_are_read() -> None:
    with pytest.raises(ParseError):
        nccl_log.parse("node-a:10:10 [0] INFO NET : Using interface eth0:192.0.2.1<0>\n")
    with pytest.raises(ParseError):
        nccl_log.parse("worker.py:77 WARN the queue is full\n")


BARE = (
    "Bootstrap: Using eth0:192.0.2.1<0>",
    "NET/Plugin: Loaded net plugin NCCL RDMA Plugin v8 (v8)",
    "P2P plugin IBext_v8",
    "NCCL_SOCKET_IFNAME set by environment to eth0",
    "NET/IB : Using [0]mlx5_0:1/IB/SHARP [RO]; OOB eth0:192.0.2.1<0>",
    "Using network IBext_v8",
)


def test_messages_whose_prefix_was_cut_off_are_read_where_they_are_sure() -> None:
    found = facts("\n".join(BARE) + "\n")
    assert (found["backend"], found["network"], found["bootstrap_if"]) == ("IBext_v8", "IB", "eth0")
    assert found["settings"] == {"NCCL_SOCKET_IFNAME": "eth0"}
    with pytest.raises(ParseError):
        nccl_log.parse("Using network IBext_v8\nBootstrap: Using eth0:192.0.2.1<0>\n")
    mixed = facts("\n".join(BARE) + "\n" + info("cudaDriverVersion 13000"))
    assert (mixed["backend"], mixed["cuda_driver"]) == (None, "13.0")


def test_a_level_alone_may_be_left_of_the_prefix() -> None:
    found = facts("INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n")
    assert (found["network"], found["gdr"], found["gdr_able"]) == ("IB", False, False)


def test_a_name_before_nccl_s_lines_is_a_tag_on_others() -> None:
    said = "worker-1: Cuda failure 'initialization error'\n"
    own = "worker-1: node-a:10:11 [7] NCCL INFO Using network IB\n"
    for text in (said + own, own + said):
        (rank,) = facts(text)["ranks"]
        assert (rank["tag"], rank["host"], rank["errors"]) == ("worker-1:", "node-a", ["cuda_failure"])


TORCH = (
    "torch.distributed.DistBackendError: NCCL error in: ../csrc/ProcessGroupNCCL.cpp:1970, internal error - please "
    "report this issue to the NCCL developers, NCCL version 2.20.5"
)


@pytest.mark.parametrize("tag", ["", "[rank1]: ", "(Worker pid=7) "])
def test_the_line_after_last_error_is_nccl_s_last_warning(tag: str) -> None:
    head = f"{tag}{TORCH}\n{tag}ncclInternalError: Internal check failed.\n{tag}Last error:\n"
    found = facts(f"{head}{tag}Something that nobody has seen until now\n")
    assert (found["errors"], found["nccl_version"]) == (["unread_warning"], "2.20.5")
    assert "nobody has seen until now" in found["first_cause"]["means"]
    for none in (
        "",
        f"{tag}\n",
        f"{tag}Exception raised from check at NCCLUtils.hpp:7\n",
        "another program's line\n\n",
    ):
        ended = ["result_3"] if tag or "another" not in none else ["unread_warning"]
        assert facts(head + none)["errors"] == ended


def test_other_programs_have_last_errors_too() -> None:
    text = info("Using network IB") + "All attempts failed.\nLast error:\nSomething that nobody has seen until now\n"
    assert facts(text)["failures"] == []


def test_a_version_without_cuda_is_the_same_version() -> None:
    found = facts(info("NCCL version 2.20.5+cuda12.4") + f"{TORCH}\n")
    assert (found["nccl_version"], found["nccl_versions"]) == ("2.20.5+cuda12.4", ["2.20.5+cuda12.4"])


@pytest.mark.parametrize(
    ("line", "versions"),
    [
        ("NCCL version 2.7.8+cuda10.2NCCL version 2.7.8+cuda10.2", ["2.7.8+cuda10.2"]),
        ("NCCL version 2.7.8NCCL version 2.7.9", ["2.7.8", "2.7.9"]),
        ("NCCL version 2.31.1rc2+cuda13.0", ["2.31.1rc2+cuda13.0"]),
        # AMD's.
        ("RCCL version 2.18.3+hip6.0 HEAD:2f6d59e+", ["2.18.3+hip6.0"]),
        ("RCCL version : 2.22.3-HEAD:7d8d67c", ["2.22.3"]),
    ],
)
def test_every_form_of_the_version(line: str, versions: list[str]) -> None:
    assert facts(f"{line}\n")["nccl_versions"] == versions
    assert facts(info(line))["nccl_versions"] == versions


def test_a_line_about_one_gpu_names_it() -> None:
    text = (
        "node-a:10:11 [0] NCCL INFO Connected all rings\nnode-a:20:21 [1] NCCL INFO 2 coll channels, 2 p2p channels\n"
    )
    assert [rank["device"] for rank in facts(text)["ranks"]] == [0, 1]
    # Before a process chose its GPU the first is current.
    early = "node-a:10:11 [0] bootstrap.cc:7 NCCL WARN Something that nobody has seen until now\n"
    assert facts(early)["first_cause"]["rank"] == "node-a:10"
    assert facts(early.replace("[0]", "[5]"))["first_cause"]["rank"] == "node-a:10 GPU 5"
    (rank,) = facts(early.replace("[0]", "[5]"))["ranks"]
    assert (rank["device"], rank["errors"]) == (5, ["unread_warning"])


@pytest.mark.parametrize(
    ("said", "network"), [("transport/net_ib.cc:605 -> 2", "IB"), ("transport/net_socket.cc:336 -> 2", "Socket")]
)
def test_a_transport_that_failed_was_in_use(said: str, network: str) -> None:
    assert facts(info(said))["network"] == network
    assert facts(info(said.replace("-> 2", "-> 0")))["network"] is None


@pytest.mark.parametrize(
    ("tail", "state", "unhealthy"),
    [
        ("state 3 healthMask 0xaa", "completed", []),
        ("state 3 healthMask 0x1aa", "completed", []),
        ("state 2 healthMask 0x0", "in progress", []),
        ("state 3 healthMask 0xa9", "completed", ["degraded_bandwidth"]),
        ("state 3 healthMask 0x56", "completed", ["route_recovery", "route_unhealthy", "access_timeout_recovery"]),
        ("state 3 healthMask 0x4aa", "completed", ["incorrect_configuration"]),
    ],
)
def test_nvlink_between_hosts_is_told_with_its_health(tail: str, state: str, unhealthy: list[str]) -> None:
    found = facts(info(f"MNNVL busId 0x901000 fabric UUID 3143b15bc2cd192b.28cc9b5473fb5b93 cliqueId 0x7ffe {tail}"))
    uuid = "3143b15bc2cd192b.28cc9b5473fb5b93"
    assert found["mnnvl"] == {"uuid": uuid, "clique": "0x7ffe", "state": state, "unhealthy": unhealthy}
    assert found["errors"] == (["mnnvl_unhealthy"] if unhealthy or state != "completed" else [])
    assert found["first_cause"] is None
    assert facts(info("MNNVL 1 cliqueId 7ffe cliqueSize 72 cliqueRank 3"))["mnnvl_ranks"] == 72
    assert facts(info("MNNVL 0 cliqueId 7ffe cliqueSize 72 cliqueRank 3"))["mnnvl_ranks"] is None


def test_libfabric_tells_plugin_and_provider() -> None:
    found = facts(info("NET/OFI Initializing aws-ofi-nccl 1.14.0"))
    assert (found["plugin"], found["network"]) == ("aws-ofi-nccl 1.14.0", None)
    found = facts(info("NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)"))
    assert (found["provider"], found["network"], found["errors"]) == ("efa", "Libfabric", [])
    found = facts(info("NET/OFI Selected Provider is tcp (found 1 nics)", "Using network AWS Libfabric"))
    assert (found["provider"], found["backend"], found["errors"]) == ("tcp", "AWS Libfabric", ["ofi_tcp"])


@pytest.mark.parametrize(
    "line",
    [
        'WARN("NET/Socket : No usable listening interface found");',
        '184:   WARN("NET/IB : No IP interface found (starting with %s).", ncclIbIfName);',
    ],
)
def test_a_line_of_source_is_no_line_of_a_log(line: str) -> None:
    with pytest.raises(ParseError):
        nccl_log.parse(f"{line}\n    return ncclInternalError;\n")
