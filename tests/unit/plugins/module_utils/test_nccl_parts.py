# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the derivation of nccl.conf: distance, releases, the site's word, addresses."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl_policy import (
    NcclPolicy,
    PolicyError,
    from_variables,
    why_unsafe,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import near
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_storage import counted
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import one_line
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import selected
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.registry import is_default
from ansible_collections.ibready.cluster.plugins.module_utils._parse import gid
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import ROCE_V2, GidEntry

ROOT, UP = "0000:10:01.0", "0000:11:00.0"


def function(*path: str, numa: int = 0) -> PciFunction:
    return PciFunction(path[-1] if path else "x", "030200", "10de", "2330", numa, path=path)


GPU = function(ROOT, UP, "0000:12:00.0", "0000:13:00.0")


@pytest.mark.parametrize(
    ("other", "word"),
    [
        (function(ROOT, UP, "0000:12:01.0", "0000:14:00.0"), "PIX"),
        (function(ROOT, UP, "0000:12:02.0", "0000:15:00.0", "0000:16:00.0", "0000:17:00.0"), "PXB"),
        (function("0000:10:02.0", "0000:20:00.0"), "PHB"),
        (function("0000:30:01.0", "0000:31:00.0"), "NODE"),
        (function("0001:10:01.0", "0001:11:00.0"), "NODE"),
        (function("0000:30:01.0", "0000:31:00.0", numa=1), "SYS"),
        (function("0000:30:01.0", "0000:31:00.0", numa=-1), "SYS"),
        (function(), ""),
    ],
)
def test_distance_is_told_in_the_words_of_nccl(other: PciFunction, word: str) -> None:
    assert near.distance(GPU, other) == near.distance(other, GPU) == word


def test_numa_nodes_that_nobody_tells_are_one_processor_to_nccl() -> None:
    here, there = (function(f"0000:{bus}0:01.0", f"0000:{bus}1:00.0", numa=-1) for bus in (2, 3))
    assert near.distance(here, there) == "NODE"


def test_the_nearest_gpu_counts_and_one_that_cannot_be_placed_hides_it() -> None:
    hca = function(ROOT, UP, "0000:12:01.0", "0000:14:00.0")
    far = function("0000:30:01.0", "0000:31:00.0", numa=1)
    assert near.nearest(hca, [far, GPU]) == "PIX"
    assert near.nearest(hca, [GPU, function()]) == ""
    assert near.nearest(hca, []) == ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2.28.7-1+cuda13.0", (2, 28, 7)),
        ("1:2.19.3-1", (2, 19, 3)),
        ("2.30.7", (2, 30, 7)),
        ("2.28", None),
        ("", None),
        ("newest", None),
    ],
)
def test_a_release_is_read_from_a_package_version(text: str, found: tuple[int, ...] | None) -> None:
    assert NcclHost(nccl=Reading(text)).release == found


def test_defaults_change_from_release_to_release() -> None:
    assert is_default("NCCL_IB_TC", "0", (2, 25, 1))
    assert not is_default("NCCL_IB_TC", "0", (2, 26, 2))
    assert is_default("NCCL_NET_GDR_LEVEL", "PXB", (2, 28, 7))
    assert is_default("NCCL_NET_GDR_LEVEL", "PHB", (2, 5, 6))
    assert not is_default("NCCL_IB_ADDR_FAMILY", "AF_INET", (2, 20, 5))
    assert not is_default("NCCL_IB_TC", "0", None)
    assert is_default("NCCL_TOPO_FILE", "/var/run/nvidia-topologyd/virtualTopology.xml", (2, 10, 3))


def entry(index: int, address: str, kind: str, of: str = ROCE_V2) -> GidEntry:
    return GidEntry(index, address, kind, of, "eth0")


@pytest.mark.parametrize(
    ("table", "family", "index"),
    [
        ([], gid.IPV4, None),
        ([entry(0, "fe80::1", gid.LINK_LOCAL), entry(1, "10.0.0.1", gid.IPV4)], gid.IPV4, 1),
        ([entry(2, "10.0.0.1", gid.IPV4, "v1"), entry(3, "10.0.0.1", gid.IPV4)], gid.IPV4, 3),
        ([entry(2, "10.0.0.1", gid.IPV4, "v1")], gid.IPV4, 2),
        ([entry(3, "169.254.0.1", gid.LINK_LOCAL), entry(5, "10.0.0.1", gid.IPV4)], gid.IPV4, 3),
        ([entry(1, "fe80::1", gid.LINK_LOCAL), entry(3, "fd00::1", gid.IPV6)], gid.IPV6, 3),
        ([entry(1, "fe80::1", gid.LINK_LOCAL), entry(3, "10.0.0.1", gid.IPV4)], gid.IPV6, None),
    ],
)
def test_nccl_takes_the_first_newer_address_of_its_family(
    table: list[GidEntry], family: str, index: int | None
) -> None:
    taken = selected(tuple(table), family)
    assert (taken.index if taken else None) == index


def test_the_site_s_word_is_read() -> None:
    policy = from_variables(
        {
            "nccl_conf_variables": {"NCCL_IB_TIMEOUT": 22, "NCCL_IB_DISABLE": False},
            "nccl_conf_forbid": ["NCCL_DEBUG"],
            "nccl_rails": ["mlx5_0", "mlx5_1:1", "0000:18:00.0", "mlx5_0"],
            "nccl_storage_hcas": None,
            "nccl_socket_ifname": "bond0.100",
            "nccl_ib_tc": "106",
            "nccl_ib_sl": 0,
            "nccl_topo_file": "",
            "nccl_gdr_level": "off",
            "nccl_min_free_mb": 500,
        }
    )
    assert policy == NcclPolicy(
        variables={"NCCL_IB_TIMEOUT": "22", "NCCL_IB_DISABLE": "0"},
        forbid=("NCCL_DEBUG",),
        rails=("mlx5_0", "mlx5_1:1", "0000:18:00.0"),
        socket_ifname="bond0.100",
        tc=106,
        sl=0,
        gdr_level="off",
    )
    assert from_variables({}) == NcclPolicy()


@pytest.mark.parametrize(
    "raw",
    [
        {"nccl_conf_variables": ["NCCL_DEBUG"]},
        {"nccl_conf_variables": {"nccl debug": "1"}},
        {"nccl_conf_variables": {"export NCCL_DEBUG": "1"}},
        {"nccl_conf_variables": {"NCCL_DEBUG": "INFO # loud"}},
        {"nccl_conf_variables": {"NCCL_DEBUG": '"INFO"'}},
        {"nccl_conf_variables": {"NCCL_DEBUG": ""}},
        {"nccl_conf_variables": {"NCCL_DEBUG": "a\nNCCL_IB_DISABLE=1"}},
        {"nccl_conf_variables": {"NCCL_DEBUG": ["INFO"]}},
        {"nccl_conf_variables": {"NCCL_IB_HCA": "=mlx5_0,=mlx5_1"}},
        {"nccl_conf_variables": {"NCCL_IB_HCA": "=^mlx5_0"}},
        {"nccl_conf_variables": {"NCCL_SOCKET_IFNAME": "^ib,^docker"}},
        {"nccl_conf_variables": {"NCCL_DEBUG": "INFO"}, "nccl_conf_forbid": ["NCCL_DEBUG"]},
        {"nccl_conf_forbid": "NCCL_DEBUG"},
        {"nccl_rails": "mlx5_0"},
        {"nccl_rails": ["=mlx5_0"]},
        {"nccl_rails": [1]},
        {"nccl_socket_ifname": "=eth0"},
        {"nccl_socket_ifname": "eth0,eth1"},
        {"nccl_socket_ifname": "a-name-that-is-too-long"},
        {"nccl_ib_tc": 256},
        {"nccl_ib_tc": -1},
        {"nccl_ib_tc": True},
        {"nccl_ib_tc": 1.5},
        {"nccl_ib_sl": "high"},
        {"nccl_ib_sl": 16},
        {"nccl_topo_file": "topology.xml"},
        {"nccl_topo_file": "/etc/my topology.xml"},
        {"nccl_gdr_level": "pxb"},
        {"nccl_gdr_level": 3},
    ],
)
def test_what_nccl_would_read_otherwise_is_refused_by_name(raw: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match=next(iter(raw))):
        from_variables(raw)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_IB_HCA", "^=mlx5_9,mlx5_10"),
        ("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1"),
        ("NCCL_IB_HCA", "=mlx5_0:1:0:0"),
        ("NCCL_SOCKET_IFNAME", "^ib,docker,lo,virbr,veth"),
        ("NCCL_DEBUG_FILE", "/var/log/nccl.%h.%p"),
    ],
)
def test_what_nccl_reads_as_it_is_meant_is_taken(name: str, value: str) -> None:
    assert why_unsafe(name, value) == ""


def test_names_are_put_in_the_order_that_a_person_counts_in() -> None:
    names = ["mlx5_10", "mlx5_bond_0", "mlx5_2", "bnxt_re1", "²", ""]
    found = sorted(names, key=counted)
    assert [one for one in found if "5" in one] == ["mlx5_2", "mlx5_10", "mlx5_bond_0"]


def test_a_reason_is_one_line_whatever_it_is_made_of() -> None:
    assert one_line("a\nNCCL_DEBUG=INFO\x1b[31m \x00b") == "a NCCL_DEBUG=INFO?[31m ?b"
    assert len(one_line("\U0001f600" * 9999).encode()) == 400
