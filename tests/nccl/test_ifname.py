# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library takes the interface that rows_ifname.py says, in a network of our own."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Listener, Proof
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_library import RESULTS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN
from tests.nccl import answer, network
from tests.nccl.conftest import Nccl
from tests.nccl.rows_ifname import LO, NO_INTERFACE, NONE, ROWS, Ifname, Network


@cache
def answers(path: str, name: str) -> dict[str, dict[str, Any]]:
    """What the library did, by the row's name: one network serves all its rows."""
    rows = [row for row in ROWS if row.network.name == name]
    reported = network.ask(path, rows[0].network, [row.env for row in rows])
    return dict(zip((row.name for row in rows), reported, strict=True))


def addresses(of: Network, interface: str) -> set[str]:
    if interface == LO:
        return {"127.0.0.1", "::1"}
    return {one.partition("/")[0] for one in of.interfaces[interface]}


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_bootstrap_listens_where_the_table_says(nccl: Nccl, row: Ifname) -> None:
    reported = answers(nccl.path, row.network.name)[row.name]
    expected = row.takes.at(nccl.version)
    if expected == NONE:
        assert reported["result"] == NO_INTERFACE.at(nccl.version), reported
        assert reported["address"] == ""
    elif expected.startswith("result "):
        assert reported["result"] == int(expected.rpartition(" ")[2]), reported
    elif expected in row.network.interfaces or expected == LO:
        assert reported["address"] in addresses(row.network, expected), reported
        # The log's word for it is the same one.
        assert reported["interface"] == expected, reported
    else:
        assert reported["address"] == expected, reported
        if row.uses is not None:
            assert (reported["interface"], reported["port"]) == (row.uses.at(nccl.version), row.port), reported


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_ncclverify_says_where_the_library_listens(nccl: Nccl, row: Ifname) -> None:
    reported = answers(nccl.path, row.network.name)[row.name]
    listens = Listener(reported["address"], reported["port"]) if reported["result"] == 0 else None
    text = "".join(f"{name}={value}\n" for name, value in row.env.items())
    proof = Proof(
        version=".".join(map(str, nccl.version)),
        result=reported["result"],
        meaning=RESULTS[reported["result"]],
        values={},
        taken={name: value.encode() for name, value in row.env.items()},
        listener=listens,
        interface=reported["interface"],
        network="",
        log=(),
    )
    every = {LO: ("127.0.0.1/8", "::1/128"), **row.network.interfaces}
    checks, _facts = answer.of(nccl.path, proof, text.encode(), every)
    (check,) = [one for one in checks if one.id == "nccl.bootstrap.address"]
    holder = next((name for name, held in every.items() if reported["address"] in _bare(held)), None)
    if listens is None:
        assert check.result == FAIL
        assert RESULTS[reported["result"]] in check.observed
    elif holder is None:
        # Another host's, by NCCL_COMM_ID: no file of a host may say so.
        assert check.result == UNKNOWN
        assert FAIL in answer.results(checks, "nccl.conf.doubts")
    else:
        assert check.observed == f"{holder}, {reported['address']}"
        inside = holder == LO or holder.startswith(("docker", "virbr"))
        assert check.result == (FAIL if inside else PASS)


def _bare(addresses: tuple[str, ...]) -> list[str]:
    return [one.partition("/")[0] for one in addresses]
