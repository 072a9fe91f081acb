# SPDX-License-Identifier: GPL-3.0-or-later
"""Of each odd file the real library takes what ibready says, and the check that has to tell does."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import prove
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from tests.nccl import answer, rows_odd
from tests.nccl.conftest import Nccl
from tests.nccl.rows_odd import Odd

_OF_LINES = (rows_odd.LINES, rows_odd.DOUBTS)


def test_there_are_a_hundred() -> None:
    assert len({row.text for row in rows_odd.ROWS}) == len(rows_odd.ROWS) >= 100


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows_odd.ROWS])
def test_library_model_and_checks_agree(nccl: Nccl, row: Odd) -> None:
    taken = {name: conf.as_bytes(value) for name, value in conf.settings(conf.as_text(row.text), nccl.version).items()}
    proof = prove(nccl.path, names=sorted(taken), env={}, etc={"nccl.conf": row.text})
    assert proof.value is not None, proof.why
    assert proof.value.taken == taken
    checks, _facts = answer.of(nccl.path, proof.value, row.text)
    assert answer.results(checks, "nccl.conf.taken") == {PASS}
    failed = {check.id for check in checks if check.result == FAIL}
    if nccl.version >= row.since:
        assert row.told in failed if row.told else not failed & set(_OF_LINES), [
            f"{check.id}: {check.observed}: {check.cause}" for check in checks if check.result == FAIL
        ]
