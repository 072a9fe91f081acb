# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: wordings of many releases, and what is not decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_log as data
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names, nccl_log
from tests.unit.corpus import sidecars, text_of
from tests.unit.nccl_logs import facts, info

pytestmark = pytest.mark.thorough


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
    reported = [f"{one['name']} {one['port']} {one['link']}" for one in found["hca_ports"]]
    assert reported == hcas


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
def test_the_network_that_was_really_used(lines: list[str], network: str | None, backend: str | None) -> None:
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
def test_gpudirect_is_what_channels_use_and_not_what_is_possible(lines: list[str], gdr: bool | None) -> None:
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
def test_the_way_between_gpus_of_a_host(via: str, intra: str, also: list[str], p2p: list[str]) -> None:
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
    text = f"NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev m:1, {gid}"
    assert facts(f"node-a:10:11 [0] misc/ibvwrap.cc:1 {text}\n")["network"] == network


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
def test_a_log_that_is_cut_anywhere_tells_nothing_that_the_whole_does_not(tool: str, sidecar: Path) -> None:
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
            # How a call ended counts until a line says why, which `Last error:` announces.
        } | {("errors", f"result_{number}") for number in data.RESULTS}, text[:end][-80:]


@pytest.mark.parametrize(("tool", "sidecar"), sidecars("nccl_log"))
@pytest.mark.parametrize("change", ["crlf", "colour", "between"])
def test_line_ends_colours_and_other_programs_change_no_fact(tool: str, sidecar: Path, change: str) -> None:
    text = text_of(sidecar)
    lines = text.split("\n")
    if change == "crlf":
        changed = "\r\n".join(lines)
    elif change == "colour":
        changed = "\n".join(f"\x1b[32m{line}\x1b[0m" if line else "" for line in lines)
    else:
        changed = "\n".join(part for line in lines for part in (line, "step 1: loss 2.3"))[:-16]
    assert facts(changed) == facts(text)
