# SPDX-License-Identifier: GPL-3.0-or-later
"""ibready's own model of NCCL says the same as the rows, which the real library was held against.

The place for every comparison of the model with the library. Needs no library: each version that
was measured counts.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf, select
from ansible_collections.ibready.cluster.plugins.module_utils._parse import strtoll
from sandbox.vendor.nccl.wheel import number
from tests.nccl import rows_conf, rows_hca, rows_ifname
from tests.nccl.rows import MEASURED

VERSIONS = pytest.mark.parametrize("version", [number(one) for one in MEASURED], ids=MEASURED)


def named(rows: Any) -> Any:
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows])


@VERSIONS
@named(rows_conf.ROWS)
def test_the_model_reads_files_like_the_library(row: rows_conf.Conf, version: tuple[int, ...]) -> None:
    if version < row.since:
        pytest.skip("what this version does with it is by chance")
    there = {
        "/etc/nccl.conf": row.etc,
        f"{rows_conf.HOME}/.nccl.conf": row.home,
        f"{rows_conf.OTHER_HOME}/.nccl.conf": row.other_home,
        rows_conf.FILE: row.file,
    }
    env = {"HOME": rows_conf.HOME, **row.env}
    read = [(path, there.get(path)) for path in conf.paths(env, rows_conf.HOME, version)]
    files = [(path, conf.as_text(data)) for path, data in read if data is not None]
    taken = conf.effective(env, files, version)
    sets = {name: conf.as_bytes(one.value) for name, one in taken.items() if one.place.source != conf.ENVIRONMENT}
    assert sets == row.sets.at(version)


@VERSIONS
@named(rows_hca.HCAS)
def test_the_model_selects_devices_like_the_library(row: rows_hca.Hca, version: tuple[int, ...]) -> None:
    ports = [select.Port(one.partition(":")[0], int(one.partition(":")[2])) for one in rows_hca.ALL]
    found = [f"{one.name}:{one.port}" for one in select.hca_ports(row.value, ports, version)]
    # Rail and plane are no part of a port.
    assert found == [":".join(one.split(":")[:2]) for one in row.takes.at(version)]


def present(network: rows_ifname.Network) -> list[Any]:
    """The addresses in the kernel's order: those of IPv4 first."""
    every = {rows_ifname.LO: ("127.0.0.1/8", "::1/128"), **network.interfaces}
    found = [
        select.Interface(name, address.partition("/")[0], name not in network.silent)
        for name, addresses in every.items()
        for address in addresses
    ]
    return sorted(found, key=lambda one: ":" in one.address)


@VERSIONS
@named([row for row in rows_ifname.ROWS if "NCCL_COMM_ID" not in row.env])
def test_the_model_selects_interfaces_like_the_library(row: rows_ifname.Ifname, version: tuple[int, ...]) -> None:
    found = select.interfaces(
        row.env.get("NCCL_SOCKET_IFNAME"),
        present(row.network),
        version,
        row.env.get("NCCL_SOCKET_FAMILY"),
    )
    expected = row.takes.at(version)
    if expected in (rows_ifname.NONE, rows_ifname.LO) or expected in row.network.interfaces:
        assert (found or (rows_ifname.NONE,))[0] == expected
    else:
        of = [
            name
            for name, every in row.network.interfaces.items()
            if any(one.startswith(f"{expected}/") for one in every)
        ]
        assert found[:1] == tuple(of)


@named(rows_hca.NUMBERS)
def test_the_model_reads_numbers_like_the_library(row: rows_hca.Hca) -> None:
    # Without a text and out of range, the default holds, which is 0.
    off = bool(strtoll.number(row.value or "").value)
    assert off == (row.takes.at(number(MEASURED[-1])) == ())
