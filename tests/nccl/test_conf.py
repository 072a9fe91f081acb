# SPDX-License-Identifier: GPL-3.0-or-later
"""The real library reads each text of rows_conf.py as the table says."""

from __future__ import annotations

import os

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Proof, prove
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import as_bytes
from tests.nccl import answer
from tests.nccl.conftest import Nccl
from tests.nccl.rows_conf import FILE, HOME, OTHER_HOME, ROWS, Conf

PASSWD = f"nobody:x:65534:65534::{HOME}:/bin/sh\n".encode()


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
    if (row.home, row.other_home, row.file, row.env) == (None, None, None, {}):
        says_the_same(nccl, row, proof)


def says_the_same(nccl: Nccl, row: Conf, proof: Proof) -> None:
    """ncclverify tells what the library did, and every line that it read otherwise than meant."""
    checks, facts = answer.of(nccl.path, proof, row.etc)
    reported = {name: as_bytes(value) for name, value in facts["settings"]["value"].items()}
    assert reported == proof.taken
    assert answer.results(checks, "nccl.conf.taken") == {PASS if row.etc is not None else SKIP}
    meant = answer.as_meant(row.etc or b"")
    if any(proof.taken.get(name) != value for name, value in meant.items()):
        named = {one.result for one in checks if one.id in ("nccl.conf.lines", "nccl.conf.doubts")}
        assert FAIL in named, [str(one) for one in checks if one.id.startswith("nccl.conf")]
