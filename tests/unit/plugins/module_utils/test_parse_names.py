# SPDX-License-Identifier: GPL-3.0-or-later
"""Every parser of a tool's output has a name, and gives JSON."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils import _parse
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names
from tests.unit import parsers
from tests.unit.parsers import SAMPLES

# They read a value, a file of settings or what a program of ours tells, and no tool's output.
NO_TOOL = {
    *(
        "apt_conf",
        "beegfs_conf",
        "cpu_list",
        "dcb",
        "failures",
        "gid",
        "gpu_use",
        "layers",
        "leaves",
        "link_events",
        "modules_dep",
        "mpi_bench",
    ),
    *("names", "nccl_copies", "packages", "pci_config", "pci_resource", "prefix", "pressure", "rdma_json", "strtoll"),
    *("used_lines", "version_text", "vpd"),
}


def test_every_parser_has_a_name() -> None:
    there = {module.__name__.rpartition(".")[2] for module in parsers.modules(_parse)}
    there = {name for name in there if not name.startswith("_")}
    assert there == {*names.EVERY, *NO_TOOL}
    assert not NO_TOOL & set(names.EVERY)


@pytest.mark.parametrize("name", names.PLAIN)
def test_what_is_read_as_it_is_becomes_json(name: str) -> None:
    told, error = names.facts(name, (SAMPLES / f"{name}.txt").read_text())
    assert error is None
    assert len(json.dumps(told)) > 10


@pytest.mark.parametrize("name", names.EVERY)
def test_of_what_it_did_not_understand_a_parser_counts_nothing(name: str) -> None:
    told, _error = names.facts(name, "\0")
    assert not [key for key, value in told.items() if value and isinstance(value, int)]
