# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library takes the devices that rows_hca.py says, of a simulated libibverbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
        told = ib_table.ask(nccl.path, nccl.version, verbs, rows)
        ANSWERS[nccl.path] = dict(zip((row.name for row in ROWS), told, strict=True))
    return ANSWERS[nccl.path]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in HCAS])
def test_the_transport_takes_the_devices_of_the_table(nccl: Nccl, answers: Any, row: Hca) -> None:
    told = answers[row.name]
    assert "error" not in told, told
    assert told["first"] == 0
    assert tuple(told["devices"]) == row.takes.at(nccl.version), told["log"]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in NUMBERS])
def test_a_number_is_read_as_the_table_says(nccl: Nccl, answers: Any, row: Hca) -> None:
    told = answers[row.name]
    assert "error" not in told, told
    assert tuple(told["devices"]) == row.takes.at(nccl.version), told["log"]
    assert row.takes.at(nccl.version) in ((), ALL)
