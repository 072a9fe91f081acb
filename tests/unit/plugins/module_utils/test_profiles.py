# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.boards import BOARDS
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpus import CARD, GPUS, SUPERCHIP, SXM
from ansible_collections.ibready.cluster.plugins.module_utils._expect import profiles

UNKNOWN = "no such model"


def model(name: str) -> str:
    gpu = profiles.gpu_by_name(name)
    return gpu.model if gpu else UNKNOWN


def test_each_key_means_one_thing() -> None:
    for keys in (
        [one.model for one in GPUS],
        [pci_id for one in GPUS for pci_id in one.pci_ids],
        [name for one in GPUS for name in one.names],
        [one.name for one in BOARDS],
        [product for one in BOARDS for product in one.products],
    ):
        assert len(keys) == len(set(keys))


def test_the_tables_are_whole() -> None:
    models = {one.model for one in GPUS}
    for gpu in GPUS:
        assert gpu.form in (SXM, CARD, SUPERCHIP)
        assert gpu.confidence in ("confirmed", "medium", "recalled")
        assert all(one == one.lower() and len(one) == 4 for one in gpu.pci_ids)
        assert bool(gpu.link_gbps) is any(gpu.links)
        # Only modules and superchips are joined for sure.
        assert 0 in gpu.links or gpu.form != CARD
    for board in BOARDS:
        assert board.gpu in models
        assert bool(board.nvswitch) is bool(board.nvswitches)
        assert bool(board.rails) is bool(board.rail_gbps)
        assert board.fabric_manager or not board.nvlsm
        assert board.source


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("2330", "H100 SXM5"),
        ("2339", "H100 SXM5"),
        ("20B2", "A100 SXM4"),
        ("26b9", "L4 / L40 / L40S / L20"),
        ("2941", "GB200"),
        ("1234", UNKNOWN),
    ],
)
def test_a_gpu_by_its_pci_id(device: str, name: str) -> None:
    gpu = profiles.gpu_by_id(device)
    assert (gpu.model if gpu else UNKNOWN) == name


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100 SXM5"),
        ("NVIDIA H100 80GB HBM3e", UNKNOWN),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA H100", UNKNOWN),
        ("NVIDIA H200", "H200 SXM"),
        ("NVIDIA H200 NVL", "H200 NVL"),
        ("NVIDIA H20", "H20"),
        ("NVIDIA H20-3e", "H20"),
        ("NVIDIA H20 NVL16", "H20 NVL16"),
        ("NVIDIA H800", "H800 SXM"),
        ("NVIDIA H800 PCIe", "H800 PCIe"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM4"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA A10G", "A10"),
        ("NVIDIA A30", "A30"),
        ("NVIDIA L4", "L4 / L40 / L40S / L20"),
        ("NVIDIA L40S", "L4 / L40 / L40S / L20"),
        ("NVIDIA B300 SXM6 AC", "B300 SXM6"),
        ("NVIDIA GB200", "GB200"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("Tesla V100-SXM2-32GB-LS", "V100 SXM2"),
        ("Tesla T4", "T4"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Server"),
        ("NVIDIA GeForce RTX 4090", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_gpu_by_the_name_that_nvidia_smi_prints(product: str, name: str) -> None:
    assert model(product) == name


@pytest.mark.parametrize(
    ("name", "count", "product", "switches", "board"),
    [
        pytest.param("H100 SXM5", 8, "SYS-821GE-TNHR", 4, "hgx-h100-8", id="whole"),
        pytest.param("H100 SXM5", 8, "DGXH100", 4, "dgx-h100-8", id="by its product name"),
        pytest.param("H100 SXM5", 7, "", 4, "hgx-h100-8", id="a GPU is missing"),
        pytest.param("H100 SXM5", 2, "", 4, "hgx-h100-8", id="most are, its switches tell"),
        pytest.param("H100 SXM5", 8, "", 0, "hgx-h100-8", id="the switches are missing"),
        pytest.param("H100 SXM5", 4, "", 0, "hgx-h100-4", id="four with direct links"),
        pytest.param("H100 SXM5", 1, "", 0, None, id="a slice in a virtual machine"),
        pytest.param("H100 SXM5", 2, "", 0, None, id="a larger slice"),
        pytest.param("A100 SXM4", 4, "", 0, "hgx-a100-4", id="four A100"),
        pytest.param("A100 SXM4", 8, "", 6, "hgx-a100-8", id="eight A100"),
        pytest.param("A100 SXM4", 16, "", 12, "hgx-a100-16", id="two boards of A100"),
        pytest.param("V100 SXM3", 16, "NVIDIA DGX-2", 12, "dgx-2", id="DGX-2"),
        pytest.param("V100 SXM2", 8, "DGX-1 with V100-32", 0, "dgx-1-v100", id="DGX-1"),
        pytest.param("V100 SXM2", 8, "PowerEdge C4140", 0, None, id="V100 of another make"),
        pytest.param("H200 SXM", 4, "", 0, "hgx-h200-4", id="four H200"),
        pytest.param("H20", 8, "", 4, "hgx-h20-8", id="H20"),
        pytest.param("B200 SXM", 8, "", 0, "hgx-b200-8", id="no switch shows on the bus"),
        pytest.param("B200 SXM", 4, "", 0, None, id="half a board"),
        pytest.param("GB200", 4, "GB200 NVL", 0, "gb200-nvl72-node", id="NVL72"),
        pytest.param("GB200", 2, "", 0, "gb200-nvl72-node", id="NVL72, two are missing"),
        pytest.param("H100 PCIe", 8, "", 0, None, id="cards are no board"),
        pytest.param("A100 SXM4", 8, "DGXH100", 6, "hgx-a100-8", id="a name that must be wrong"),
    ],
)
def test_a_board_by_what_is_seen_of_it(name: str, count: int, product: str, switches: int, board: str | None) -> None:
    found = profiles.recognise([profiles.gpu_model(name)] * count, product, switches)
    assert (found.name if found else None) == board


def test_unknown_gpus_make_no_board_unless_the_product_is_named() -> None:
    assert profiles.recognise([None] * 8, "", 4) is None
    assert profiles.recognise([], "", 0) is None
    named = profiles.recognise([None] * 8, "DGXH200", 4)
    assert named == profiles.board_by_name("dgx-h200-8")
    mixed = [None, *[profiles.gpu_model("H100 SXM5")] * 7]
    assert profiles.recognise(mixed, "", 4) == profiles.board_by_name("hgx-h100-8")


def test_a_fabric_is_what_nvidia_smi_shows_a_state_of() -> None:
    names = {one.name for one in BOARDS if one.fabric}
    assert {"hgx-h100-8", "hgx-b200-8", "gb200-nvl72-node"} <= names
    assert not {"hgx-a100-4", "dgx-1-v100"} & names
    assert profiles.board_by_name("no such") is None
