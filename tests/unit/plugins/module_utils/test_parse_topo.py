# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import topo

MATRIX = """\
\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tPIX\t0-47,96-143\t0\t\tN/A
GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A
NIC0\tPIX\tSYS\t X\x20
"""
LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_3
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(MATRIX + LEGEND, id="as printed"),
        pytest.param((MATRIX + LEGEND).replace("\t", "    "), id="spaces for TABs"),
        pytest.param((MATRIX + LEGEND).replace("\n", "\r\n"), id="CRLF"),
        pytest.param((MATRIX + LEGEND).replace("\n", "\n\n"), id="blank lines"),
        pytest.param(MATRIX + LEGEND + "ulimit soft: 1000000\n", id="something else after the end"),
    ],
)
def test_every_layout_gives_the_same_matrix(text: str) -> None:
    found = topo.parse(text)
    assert found.columns == ("GPU0", "GPU1", "NIC0")
    assert found.matrix["GPU1"] == ("NV18", "X", "SYS")
    assert found.matrix["NIC0"] == ("PIX", "SYS", "X")
    assert found.affinity == {"GPU0": ("0-47,96-143", "0", "N/A"), "GPU1": ("48-95", "1", "N/A")}
    assert found.nics == {"NIC0": "mlx5_3"}
    assert (found.legend, found.legend_nvlink) == (True, True)
    assert (found.numa("GPU0"), found.numa("GPU1")) == (0, 1)


def test_the_old_layout_names_its_devices() -> None:
    found = topo.parse("\tGPU0\tmlx5_0\tCPU Affinity\nGPU0\t X \tSYS\t0-15\nmlx5_0\tSYS\t X \t\n")
    assert (found.columns, found.gpus) == (("GPU0", "mlx5_0"), ("GPU0",))
    assert found.affinity == {"GPU0": ("0-15",)}
    assert found.numa("GPU0") is None


def test_a_pair_is_known_from_either_row() -> None:
    found = topo.parse("\n".join(MATRIX.split("\n")[:2]))
    assert found.pairs() == {("GPU0", "GPU1"): "NV18"}
    cut = MATRIX.replace("GPU0\t X \tNV18\tPIX\t0-47,96-143\t0\t\tN/A", "GPU0\t X ")
    assert topo.parse(cut).pairs() == {("GPU0", "GPU1"): "NV18"}


def test_a_pair_that_its_two_rows_tell_differently_is_not_known() -> None:
    assert topo.parse(MATRIX.replace("\tNV18\tPIX", "\tSYS\tPIX")).relation("GPU0", "GPU1") is None


def test_a_pair_of_which_both_rows_are_cut_is_not_known() -> None:
    text = "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\t X \tNV12\tNV12\t0-23\n"
    assert topo.parse(text).pairs()[("GPU1", "GPU2")] is None


def test_a_matrix_without_its_first_line_is_read_where_the_diagonal_agrees() -> None:
    rows = MATRIX.partition("\n")[2]
    assert topo.parse(rows).columns == ("GPU0", "GPU1", "NIC0")
    found = topo.parse(rows.partition("\n")[2])
    assert (found.columns, found.gpus) == ((topo.LOST, "GPU1", "NIC0"), ("GPU1",))
    assert (found.relation("GPU1", "NIC0"), found.affinity) == ("SYS", {"GPU1": ("48-95", "1", "N/A")})
    assert "its first line is missing" in found.cut


def test_a_numeric_gpu_node_and_lists_of_nodes_are_kept() -> None:
    found = topo.parse("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-71\t0,2-17\t1\n")
    assert found.affinity == {"GPU0": ("0-71", "0,2-17", "1")}
    assert found.numa("GPU0") is None


def test_a_matrix_of_pci_express_alone_is_seen_by_its_legend() -> None:
    found = topo.parse(MATRIX.replace("NV18", "SYS") + LEGEND.replace("  NV#", "  PIX"))
    assert (found.legend, found.legend_nvlink) == (True, False)


def test_what_nvidia_smi_says_instead_is_kept() -> None:
    found = topo.parse("ERROR: Option -m is missing its value. Please run 'nvidia-smi -h'.\n")
    assert (found.error, found.columns) == ("ERROR: Option -m is missing its value", ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "empty output", id="empty"),
        pytest.param("no topology", "line 1", id="foreign text"),
        pytest.param("\tGPU0\tGPU1\tCPU Affinity\n", "no matrix", id="the first line alone"),
        pytest.param(MATRIX + MATRIX.replace("NV18", "SYS"), "contradicts", id="two hosts in one text"),
        pytest.param(MATRIX + "\tGPU0\tCPU Affinity\nGPU0\t X \t0\n", "second matrix", id="another matrix"),
        pytest.param(
            "\t" + "\t".join(f"GPU{n}" for n in range(300)) + "\tCPU Affinity\nGPU0\tX\n",
            "not the names",
            id="more GPUs than any host has",
        ),
    ],
)
def test_text_that_cannot_be_trusted_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        topo.parse(text)


WHOLE = topo.parse(MATRIX + LEGEND)


@pytest.mark.parametrize(
    ("text", "cut", "rows"),
    [
        pytest.param(MATRIX, "", [3, 3, 3], id="whole"),
        pytest.param(MATRIX.replace("NIC0\tCPU", "NIC0CPU"), "", [3, 3, 3], id="a glued head"),
        pytest.param(MATRIX.replace("GPU0\tGPU1\tNIC0\t", "GPU0GPU1NIC0"), "", [3, 3, 3], id="all heads glued"),
        pytest.param(MATRIX.replace("\tNIC0\tCPU", "\tCPU"), "its first line", [3, 3, 3], id="the last head missing"),
        pytest.param(MATRIX.replace("mGPU0\t", "m"), "its first line", [3, 3, 3], id="the first head missing"),
        pytest.param(MATRIX.replace("CPU Affinity\t", ""), "", [3, 3, 3], id="the head of an affinity missing"),
        pytest.param(MATRIX.partition("\n")[2], "its first line", [3, 3, 3], id="no first line"),
        pytest.param(MATRIX.replace("GPU1\tNV18", "GPU1"), "row of GPU1", [3, 0, 3], id="a cell lost before its own"),
        pytest.param(MATRIX.replace("\tNV18\tPIX", "\tPIX"), "row of GPU0", [1, 3, 3], id="a cell lost behind its own"),
        pytest.param(MATRIX.replace("GPU1\tNV18", "GPU1\tNV#8"), "row of GPU1", [3, 0, 3], id="a cell damaged"),
        pytest.param(MATRIX.replace("X \tSYS\t48", "X \tSY\t48"), "row of GPU1", [3, 2, 3], id="a word cut"),
        pytest.param(MATRIX.replace("48-95\t1\t\tN/A", "48-"), "affinities of GPU1", [3, 3, 3], id="an affinity cut"),
        pytest.param(MATRIX.replace("\t48-95\t1\t\tN/A", ""), "row of GPU1", [3, 2, 3], id="affinities cut off"),
        pytest.param(MATRIX[: MATRIX.rindex("SYS") + 1], "ends within line 4", [3, 3, 1], id="within the last row"),
        pytest.param(MATRIX[: MATRIX.rindex("V18") + 2], "ends within line 3", [3, 0, 0], id="within a relation"),
        pytest.param(MATRIX[: MATRIX.index("NIC0\tPIX")], "row of NIC0 is not in", [3, 3, 0], id="a row missing"),
        pytest.param(
            MATRIX.replace("GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A\n", ""), "row of GPU1", [3, 0, 3], id="GPU1's"
        ),
    ],
)
def test_relations_and_affinities_are_never_mixed(text: str, cut: str, rows: list[int]) -> None:
    found = topo.parse(text)
    assert [len(found.matrix.get(name, ())) for name in ("GPU0", "GPU1", "NIC0")] == rows
    for name, cells in found.matrix.items():
        assert cells == WHOLE.matrix[name][: len(cells)]
    for name, words in found.affinity.items():
        assert words == WHOLE.affinity[name]
    for pair, relation in found.pairs().items():
        assert relation in (WHOLE.pairs()[pair], None)
    assert (cut in found.cut, bool(found.cut)) == (True, bool(cut))
    assert topo.facts(found)["cut"] is bool(cut)


def test_a_nic_s_name_that_the_text_ends_within_is_none() -> None:
    assert topo.parse((MATRIX + LEGEND)[:-1]).nics == {}
