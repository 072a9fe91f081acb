# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library takes the devices that rows_hca.py says, of a simulated libibverbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_derived, check_harm
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl import Desired
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl_policy import NcclPolicy
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost, NcclPort
from tests.nccl import ib_table
from tests.nccl.conftest import Nccl
from tests.nccl.rows_hca import ALL, DEVICES, HCAS, NUMBERS, ROWS, Hca

ANSWERS: dict[str, dict[str, Any]] = {}


@pytest.fixture(scope="session")
def verbs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ib_table.simulated_verbs(tmp_path_factory.mktemp("verbs"))


@pytest.fixture
def answers(nccl: Nccl, verbs: Path) -> Any:
    """What the library did, by the row's name."""
    if nccl.path not in ANSWERS:
        rows = [
            {
                "SIMULATED_VERBS": DEVICES,
                **({} if row.value is None else {row.variable: row.value}),
            }
            for row in ROWS
        ]
        reported = ib_table.ask(nccl.path, nccl.version, verbs, rows)
        ANSWERS[nccl.path] = dict(zip((row.name for row in ROWS), reported, strict=True))
    return ANSWERS[nccl.path]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in HCAS])
def test_the_transport_takes_the_devices_of_the_table(nccl: Nccl, answers: Any, row: Hca) -> None:
    reported = answers[row.name]
    assert "error" not in reported, reported
    assert reported["first"] == 0
    assert tuple(reported["devices"]) == row.takes.at(nccl.version), reported["log"]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in NUMBERS])
def test_a_number_is_read_as_the_table_says(nccl: Nccl, answers: Any, row: Hca) -> None:
    reported = answers[row.name]
    assert "error" not in reported, reported
    assert tuple(reported["devices"]) == row.takes.at(nccl.version), reported["log"]
    assert row.takes.at(nccl.version) in ((), ALL)


def derived(nccl: Nccl, value: str | None, rails: tuple[str, ...]) -> str:
    """What ncclverify says of NCCL_IB_HCA on a host with these rails among the devices."""
    ports = tuple(NcclPort(one.partition(":")[0], int(one.partition(":")[2]), "InfiniBand", "Active") for one in ALL)
    host = NcclHost(ports=Reading(ports), nccl=Reading(".".join(map(str, nccl.version))))
    settings = {} if value is None else {"NCCL_IB_HCA": value}
    desired = Desired(NcclPolicy(rails=rails))
    (check,) = [
        one for one in check_derived.judge(host, desired, Reading(settings), None) if one.subject == "NCCL_IB_HCA"
    ]
    return check.result


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in HCAS])
def test_ncclverify_knows_which_devices_the_library_takes(nccl: Nccl, answers: Any, row: Hca) -> None:
    taken = tuple(":".join(one.split(":")[:2]) for one in answers[row.name]["devices"])
    whole = taken == ALL
    assert derived(nccl, row.value, ALL) == (PASS if whole else FAIL)
    if taken:
        assert derived(nccl, row.value, taken) == PASS


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in NUMBERS])
def test_ncclverify_knows_whether_rdma_is_off(nccl: Nccl, answers: Any, row: Hca) -> None:
    off = answers[row.name]["devices"] == []
    host = NcclHost(ports=Reading((NcclPort("mlx5_0", 1, "InfiniBand", "Active"),)))
    found = check_harm.harmful({row.variable: row.value or ""}, host, NcclPolicy(rails=("mlx5_0",)))
    assert found == ([row.variable] if off else [])
