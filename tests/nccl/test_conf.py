# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library reads each text of rows_conf.py as the table says."""

from __future__ import annotations

import os

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._nccl.proof import Proof, prove
from tests.nccl.conftest import Nccl
from tests.nccl.rows_conf import FILE, HOME, OTHER_HOME, ROWS, Conf

PASSWD = f"root:x:0:0::{HOME}:/bin/sh\n".encode()


def asked(nccl: Nccl, row: Conf) -> Proof:
    """What the library does with the files and the environment of a row."""
    files = {
        "passwd": PASSWD,
        "nccl.conf": row.etc,
        f"{HOME[5:]}/.nccl.conf": row.home,
        f"{OTHER_HOME[5:]}/.nccl.conf": row.other_home,
        FILE[5:]: row.file,
    }
    names = {*row.sets.at(nccl.version), "NCCL_A", "NCCL_B"}
    env = {"HOME": HOME, **row.env}
    proof = prove(nccl.path, names=sorted(names), env=env, etc=files)
    assert proof.value is not None, proof.why
    return proof.value


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_the_library_takes_from_its_files_what_the_table_says(nccl: Nccl, row: Conf) -> None:
    if nccl.version < row.since:
        pytest.skip("what this version does with it is by chance")
    proof = asked(nccl, row)
    expected = row.sets.at(nccl.version)
    assert proof.taken == expected
    # getenv says the same of each name.
    assert {name: proof.values[name] for name in expected} == expected
    assert proof.version == ".".join(map(str, nccl.version))
    assert not os.path.exists("/etc/log")
