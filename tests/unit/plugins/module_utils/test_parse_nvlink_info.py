# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-smi nvlink -p, -R and -info, as people posted them."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvlink_info
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_info import End
from tests.unit.parsers import SAMPLES

# Two cards with a bridge: from a published note on an HPE DL380a Gen11, shortened.
BRIDGE = """      GPU 0: NVIDIA H100 PCIe (UUID: GPU-6968dfc2-d444-d92c-c36b-6abe53445cb9)
               Link 0: Remote Device 00000000:D5:00.0: Link 0
               Link 1: Remote Device 00000000:D5:00.0: Link 1
               Link 4: Remote Device 00000000:D5:00.0: Link 6
"""
PEERS = """GPU 0: NVIDIA A100-PCIE-40GB (UUID: GPU-00000000-0000-0000-0000-000000000000)
\t Link 0: 00000000:38:00.0
\t Link 1: 00000000:38:00.0
GPU 1: NVIDIA GB200 (UUID: GPU-00000000-0000-0000-0000-000000000001)
\t Link 0: FFFFFFFF:FF:FF.0
"""
# From NVIDIA/k8s-test-infra#371.
INFO = """GPU 0: NVIDIA GB200 (UUID: GPU-d1b93026-6d5b-03bd-3a71-f85b47a61bde)
         NVLE: disabled
         Firmware Version:
             MSE: 14:4:0
             NETIR: 36:2014:1862
             NETIR UPHY: 7:0:0
             NETIR CLN: 0:9:0
             NETIR DLN: 0:9:0
GPU 1: NVIDIA GB200 (UUID: GPU-39ac7bce-e3d6-b426-008e-fa47897c72d5)
         NVLE: disabled
         Firmware Version:
             MSE: 14:4:0
             NETIR: 36:2014:1862
             NETIR UPHY: 7:0:0
             NETIR CLN: 0:9:0
             NETIR DLN: 0:9:0
"""
DOWN = "NVML: Unable to retrieve NVLink information as all links are inActive"


def test_the_other_ends() -> None:
    told = nvlink_info.parse((SAMPLES / "nvlink_info.txt").read_text())
    assert [len(gpu.links) for gpu in told.gpus] == [3, 3]
    assert told.gpus[0].links[2] == End(2, "000a:00:00.0", 34)
    (gpu,) = nvlink_info.parse(BRIDGE).gpus
    assert gpu.links == (End(0, "0000:d5:00.0", 0), End(1, "0000:d5:00.0", 1), End(4, "0000:d5:00.0", 6))
    facts = nvlink_info.facts(nvlink_info.parse(PEERS))
    assert facts["gpus"][0]["peers"] == ["0000:38:00.0"]
    assert facts["gpus"][1]["links"] == [{"id": 0, "bus_id": "", "link": None}]
    assert "cut" not in facts


def test_what_each_gpu_says_of_its_links() -> None:
    told = nvlink_info.parse(INFO)
    assert [gpu.encryption for gpu in told.gpus] == ["disabled", "disabled"]
    assert dict(told.gpus[1].firmware)["NETIR"] == "36:2014:1862"
    assert (told.unread, told.cut, nvlink_info.wrong(told)) == (0, False, ())


def test_what_is_wrong() -> None:
    (said,) = nvlink_info.wrong(nvlink_info.parse(INFO.replace("36:2014:1862", "36:2014:1700", 1)))
    assert said == "GPU 0 has NVLink firmware NETIR 36:2014:1700, others have 36:2014:1862"
    text = BRIDGE + f"GPU 1: NVIDIA H100 PCIe (UUID: GPU-0)\n{DOWN}\n"
    assert nvlink_info.wrong(nvlink_info.parse(text)) == (f"GPU 1: {DOWN}",)


def test_a_text_that_is_cut_or_has_other_lines() -> None:
    told = nvlink_info.parse("$ nvidia-smi nvlink -p\n" + PEERS[: PEERS.index("\t Link 1")] + "\t Link 1: 0000")
    assert (len(told.gpus[0].links), told.unread, told.cut) == (1, 2, True)
    assert nvlink_info.facts(told)["cut"] is True
    assert nvlink_info.parse(PEERS[: PEERS.index("\t Link 0: FFFF")]).cut
    # No link 2 of a link 28.
    (gpu,) = nvlink_info.parse(BRIDGE.rstrip() + "2").gpus
    assert gpu.links[2] == End(4, "0000:d5:00.0")
    # Without the line of the second GPU its links are nobody's whom one could name.
    headless = "".join(line for line in PEERS.splitlines(True) if not line.startswith("GPU 1"))
    assert [gpu.gpu.index for gpu in nvlink_info.parse(headless).gpus] == [0, None]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n\t Link 0, P2P is supported: true\n",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n\t Link 0: Replay Errors: 0\n",
        "GPU 0: Tesla V100-SXM2-16GB (UUID: GPU-0)\n\t Link 0: Data Tx: 5767281335 KiB\n",
        f"GPU 0: NVIDIA B200 (UUID: GPU-0)\n{DOWN}\n",
    ],
)
def test_another_forms_text(text: str) -> None:
    with pytest.raises(ParseError):
        nvlink_info.parse(text)
