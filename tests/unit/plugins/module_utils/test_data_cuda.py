# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's table of CUDA and drivers says what the matrix and NVIDIA's table of forward compatibility say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import cuda_rules
from ansible_collections.ibready.cluster.plugins.module_utils._data.cuda import BROUGHT, FIRST_NCCL, FORWARD, LEAST

MATRIX = Path(__file__).parents[4] / "matrix"
# Rows as the guide prints them, for 535, 570, 580, 590, 595, 610 and 615: compatible, not, or the driver's own.
TABLE = """
13-4 C C C C C C N
13-3 C C C C C N X
13-2 C C C C N X X
13-1 C C C N X X X
13-0 C C N X X X X
12-9 C C X X X X X
12-8 C N X X X X X
12-6 C X X X X X X
12-5 C X X X X X X
12-4 C X X X X X X
12-3 C X X X X X X
12-2 N X X X X X X
"""
COLUMNS = (535, 570, 580, 590, 595, 610, 615)


def matrix(name: str) -> Any:
    return yaml.safe_load((MATRIX / name).read_text())


def test_minima_are_those_of_the_matrix() -> None:
    assert {str(major): f">={driver}" for major, driver in LEAST.items()} == {
        major: said["driver"] for major, said in matrix("cuda.yml")["majors"].items()
    }


def test_branches_bring_what_the_matrix_says() -> None:
    told = {int(name): said["cuda"] for name, said in matrix("drivers.yml")["branches"].items() if "cuda" in said}
    assert told
    assert {name: cuda_rules.text(BROUGHT[name]) for name in told} == told
    assert list(BROUGHT.values()) == sorted(BROUGHT.values())
    assert list(BROUGHT) == sorted(BROUGHT)


def test_forward_compatibility_is_nvidias_table() -> None:
    rows = [line.split() for line in TABLE.split("\n") if line]
    assert tuple(FORWARD) == COLUMNS
    for package, *cells in rows:
        release = tuple(int(one) for one in package.split("-"))
        for column, cell in zip(COLUMNS, cells, strict=True):
            assert (release in FORWARD[column]) == (cell == "C"), (package, column)
            assert (BROUGHT[column] == release) == (cell == "N"), (package, column)
    assert {release for row in FORWARD.values() for release in row} <= {
        tuple(int(one) for one in package.split("-")) for package, *_ in rows
    }


def test_the_first_nccl_of_an_architecture_is_the_matrix() -> None:
    generations = matrix("gpus.yml")["generations"]
    for name, (first, built) in FIRST_NCCL.items():
        said = generations[name]
        assert (said["nccl"], said["nccl_build"]) == (f">={cuda_rules.text(first)}", f">={cuda_rules.text(built)}")
