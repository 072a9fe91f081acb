# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of bus bandwidth against published nccl-tests tables, a third of which no constant was taken from."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._data import link_costs
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_tests
from ansible_collections.ibready.cluster.plugins.module_utils._slow import carries
from ansible_collections.ibready.cluster.plugins.module_utils._slow.carries import Topology
from tests.unit.corpus import CORPUS

TABLES = yaml.safe_load((Path(__file__).parents[2] / "nccl_tables" / "tables.yml").read_text())
HEALTHY = [table for table in TABLES if "slow" not in table]
SLOW = [table for table in TABLES if "slow" in table]
MODELS = {
    "V100 SXM": "V100 SXM2",
    "A100 SXM": "A100 SXM4",
    "H100 SXM": "H100 SXM5",
    "B300 SXM": "B300 SXM6",
    "A10G": "A10",
}


def topology(table: dict[str, Any]) -> Topology:
    where = table["where"]
    model = MODELS.get(where["model"], where["model"])
    found = carries.of_gpu(model, where["hosts"], where["gpus"], where.get("rails", 0), where.get("gbps", 0.0))
    assert found is not None, model
    return replace(
        found,
        nvls=found.nvls and where.get("nvls", True),
        domain=where.get("domain", 0),
        gdr=where.get("gdr", True),
        transport=where.get("transport", link_costs.RDMA),
        algorithm=where.get("algorithm", ""),
    )


def held_out(table: dict[str, Any]) -> bool:
    """A third of the sources, by address, so all tables of one are on one side. No median of link_costs has them."""
    return int(hashlib.sha256(table["source"].encode()).hexdigest(), 16) % 3 == 0


@dataclass(frozen=True)
class Error:
    """``share``: of what was measured; 0.1 is a tenth more than that."""

    table: dict[str, Any]
    size: int
    measured: float
    expected: float

    @property
    def share(self) -> float:
        return abs(self.expected - self.measured) / self.measured


def errors(tables: list[dict[str, Any]], largest: bool) -> list[Error]:
    found = []
    for table in tables:
        for size in [max(table["rows"])] if largest else table["rows"]:
            expected = carries.busbw(table["collective"], size, topology(table))
            found.append(Error(table, size, table["rows"][size], expected))
    return found


def middle(found: list[Error]) -> float:
    return median(error.share for error in found)


def kind(table: dict[str, Any]) -> str:
    where = topology(table)
    if where.groups == 1:
        return "one host" if where.hosts == 1 else "one NVLink domain"
    if table["collective"] in ("alltoall", "sendrecv"):
        return "points over a network"
    return "NVLink domains over a network" if where.together > where.gpus else "over a network"


def test_there_are_tables_enough_and_their_sources_are_named() -> None:
    assert len([table for table in HEALTHY if "words" not in table]) >= 86
    assert len({table["source"] for table in HEALTHY}) >= 55
    for table in TABLES:
        assert table["source"], table
        assert table["rows"], table
        assert table["collective"] in carries.COLLECTIVES, table


def test_the_model_against_published_tables() -> None:
    largest, points = errors(HEALTHY, largest=True), errors(HEALTHY, largest=False)
    apart = {name: [e for e in largest if kind(e.table) == name] for name in sorted({kind(t) for t in HEALTHY})}
    held = [error for error in largest if held_out(error.table)]
    plain = [error for error in largest if not {"note", "words"} & set(error.table)]
    told = [
        f"{len(largest)} tables, largest size: median {middle(largest):.1%}",
        f"{len(points)} points: median {middle(points):.1%}",
        f"{len(held)} tables held out: median {middle(held):.1%}",
        f"{len(plain)} tables whose sources tell all of the topology: median {middle(plain):.1%}",
        f"off by more than 15 %: {sum(error.share > 0.15 for error in largest)}",
        *(f"{name}: {len(found)} tables, median {middle(found):.1%}" for name, found in apart.items()),
    ]
    print("\n".join(told))
    for error in sorted(largest, key=lambda error: -error.share)[:20]:
        print(f"  {error.share:.0%} {error.measured} {error.expected:.1f}", error.table["where"], error.table["source"])
    assert middle(largest) <= 0.15, told
    assert len(held) >= 20, told
    assert middle(held) <= 0.15, told
    assert middle(plain) <= 0.15, told
    assert middle(points) <= 0.15, told


def is_within(error: Error, size: int) -> bool:
    off = max(error.expected / error.measured, error.measured / error.expected) - 1
    return off <= carries.spread(topology(error.table), error.table["collective"], size)


def test_the_spread_that_is_told_is_what_four_of_five_tables_keep() -> None:
    kept: dict[str, list[bool]] = {kind(table): [] for table in HEALTHY}
    for error in errors(HEALTHY, largest=True):
        kept[kind(error.table)].append(is_within(error, 0))
    for name, within in kept.items():
        assert within.count(False) <= max(1, len(within) // 5), (name, sum(within), len(within))


@pytest.mark.parametrize("size", [4 << 20, 64 << 20, 512 << 20, 1 << 40])
def test_the_spread_of_smaller_operations_is_kept_by_four_of_five_points(size: int) -> None:
    below = max([0, *(known for known, _share in link_costs.SPREAD_BELOW if known < size)])
    points = [error for error in errors(HEALTHY, largest=False) if below <= error.size < size]
    within = [is_within(error, error.size) for error in points]
    print(f"below {size} bytes: {sum(within)} of {len(within)} points, median {middle(points):.1%}")
    assert sum(within) >= 0.8 * len(within)


@pytest.mark.parametrize("table", SLOW, ids=lambda table: table["slow"])
def test_a_slow_table_is_told_as_slow(table: dict[str, Any]) -> None:
    size = max(table["rows"])
    told = carries.told(table["rows"][size], topology(table), table["collective"], size)
    assert "less than healthy ones of its kind show" in told
    assert [share for share in re.findall(r"\(([0-9]{1,3}) %\)", told) if int(share) < 65], told


def test_what_is_told_reads_once() -> None:
    eight = carries.of_gpu("NVIDIA H100 80GB HBM3", hosts=2, rails=8, rail_gbps=400.0)
    assert eight is not None
    told = carries.told(155.57, eight)
    assert re.fullmatch(
        r"all_reduce carries 156 GB/s where this topology carries about [0-9]{3} \(3[0-9] %\), "
        r"less than healthy ones of its kind show \([0-9]{3} to [0-9]{3}\)",
        told,
    ), told
    assert "within what healthy ones" in carries.told(carries.best(eight), eight)
    assert carries.told(1.0, Topology(hosts=2, gpus=8)) == ""
    assert carries.of_gpu("Voodoo 2") is None


def test_what_no_network_joins_carries_nothing() -> None:
    assert carries.busbw("all_reduce", 1 << 30, Topology(hosts=2, gpus=8, nvlink_gbs=450.0)) == 0.0
    assert carries.busbw("all_reduce", 1 << 30, Topology(hosts=1, gpus=1)) == 0.0
    assert carries.busbw("gossip", 1 << 30, Topology(nvlink_gbs=450.0)) == 0.0


CORPUS_TABLES = CORPUS.parent / "corpus-2" / "nccl_tests"


@pytest.mark.skipif(not CORPUS_TABLES.is_dir(), reason=f"no corpus at {CORPUS_TABLES} (set IBREADY_CORPUS)")
@pytest.mark.parametrize("name", ["allreduce", "allgather", "alltoall", "broadcast", "reduce", "reducescatter"])
def test_the_copied_rows_are_those_of_the_corpus(name: str) -> None:
    read = nccl_tests.parse((CORPUS_TABLES / f"sb-nccl_{name}.txt").read_text())
    rows = {row.size: (row.out_of_place or row.in_place).busbw for row in read.rows}
    table = next(table for table in TABLES if table["source"].endswith(f"nccl_{name}.log"))
    assert {size: rows[size] for size in table["rows"]} == table["rows"]


wheres = st.builds(
    Topology,
    hosts=st.integers(1, 2000),
    gpus=st.integers(1, 16),
    nvlink_gbs=st.sampled_from([0.0, 150.0, 450.0, 900.0]),
    nvls=st.booleans(),
    domain=st.sampled_from([0, 8, 72]),
    rails=st.integers(0, 32),
    rail_gbps=st.sampled_from([10.0, 100.0, 400.0]),
    gdr=st.booleans(),
    pcie_gbs=st.sampled_from([15.75, 31.5, 63.0]),
    peer=st.booleans(),
    transport=st.sampled_from(["rdma", "efa", "tcpx", "tcp", "carrier pigeons"]),
    architecture=st.sampled_from(["", "Volta", "Ampere", "Hopper", "Blackwell"]),
    algorithm=st.sampled_from(["", "ring", "tree"]),
)


@given(wheres, st.sampled_from(carries.COLLECTIVES), st.integers(1, 1 << 36))
def test_more_bytes_and_more_rails_never_carry_less(where: Topology, collective: str, size: int) -> None:
    carried = carries.busbw(collective, size, where)
    assert 0.0 <= carried <= carries.best(where, collective) * 1.0001
    assert carries.busbw(collective, 2 * size, where) >= carried * 0.9999
    assert carries.busbw(collective, size, replace(where, rail_gbps=where.rail_gbps * 2)) >= carried * 0.9999
