# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts as people posted them, of kinds that the parsers read wrongly once: a few lines of each."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    dcgmi,
    fabricmanager_log,
    fabricmanager_status,
    ibv_devinfo,
    lspci,
    mlnx_qos,
    mlxlink,
    names,
    nvlink_status,
    nvsmi_q_fabric,
    perfquery,
    prefix,
    topo,
)

# From Mellanox/k8s-rdma-shared-dev-plugin#164: the beginning is lost.
PORT = """\
                port:   1
                        state:                  PORT_ACTIVE (4)
                        sm_lid:                 0
                        bad_pkey_cntr:          0x0
                        link_layer:             Ethernet
"""
# From noonghunna/club-3090#1229: nvidia-smi topo -p2p rw.
PEERS = """\
 \tGPU0\tGPU1\t
 GPU0\tX\tGNS\t
 GPU1\tGNS\tX\t

Legend:

  X    = Self
  CNS  = Chipset not supported
"""
# From NVIDIA/DCGM#198: dcgmi nvlink --link-status.
LINKS = """\
+----------------------+
|  NvLink Link Status  |
+----------------------+
GPUs:
    gpuId 0:
        U U D X _ _
    gpuId 1:
        D D D D D D
NvSwitches:
    No NvSwitches found.

Key: Up=U, Down=D, Disabled=X, Not Supported=_
"""
# From kubernetes-sigs/dra-driver-nvidia-gpu#626 and Azure/azhpc-images#506.
UNHEALTHY = """\
    Fabric
        State                             : Completed
        Status                            : Success
        CliqueId                          : 2
        ClusterUUID                       : dc6e40c4-d722-4357-9ba6-5291dd461278
        Health
            Summary                       : Unhealthy
            Bandwidth                     : Full
"""
REFUSED = """\
    Fabric
        State                             : Completed
        Status                            : Insufficient Resources
        CliqueId                          : 0
        ClusterUUID                       : 00000000-0000-0000-0000-000000000000
"""
# From NVIDIA/nvtrust#128.
JOURNAL = """\
Jan 05 14:44:41 TENCENT64 systemd[1]: Starting nvidia-fabricmanager.service - NVIDIA fabric manager service...
Jan 05 14:45:26 TENCENT64 nv-fabricmanager[1120]: Connected to 1 node.
Jan 05 14:45:28 TENCENT64 systemd[1]: Started nvidia-fabricmanager.service - NVIDIA fabric manager service.
"""
STOPPED = (
    "Jan 05 15:32:16 TENCENT64 systemd[1]: Stopping nvidia-fabricmanager.service - NVIDIA fabric manager service...\n"
)
# From kubernetes-sigs/dra-driver-nvidia-gpu#289.
IMEX = """\
IMEX Log initializing at: 3/21/2025 20:45:38.937
[Mar 21 2025 20:45:38] [INFO] [tid 39] IMEX version 570.00 is running with the following configuration options
[Mar 21 2025 20:45:38] [ERROR] [tid 39] No matching network interface found for any IP addresses in the node
"""
# From MrBr-github/lshca#11: a command before it, and the end is lost.
JSON = """\
#mlxlink -d /dev/mst/mt4119_pciconf0 -p 1 --json
{
   "result" : {
      "output" : {
         "Operational Info" : {
            "Auto Negotiation" : "ON",
            "Physical state" : "LinkUp",
            "Speed" : "IB-EDR",
            "State" : "Active",
            "Width" : "4x"
         },
         "Supported Info" : {
"""
# From 0x80386.blogspot.com: the blog took the blanks at the beginning off.
OMNI_PATH = """\
82:00.0 Fabric controller: Intel Corporation Omni-Path HFI Silicon 100 Series [discrete] (rev 10)
LnkCap: Port #0, Speed 8GT/s, Width x16, ASPM L1, Exit Latency L0s <4us, L1 <64us
LnkSta: Speed 5GT/s, Width x16, TrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
"""
# From Open MPI's users list, the mail's line breaks undone: C3's cexec says of whom a text is.
CEXEC = """\
************************* oscar_cluster *************************
--------- n01---------
sminfo: sm lid 2 sm guid 0x2c90200259201, activity count 6881 priority 0 state 3 SMINFO_MASTER
--------- n02---------
sminfo: sm lid 2 sm guid 0x2c90200259201, activity count 6882 priority 0 state 3 SMINFO_MASTER
"""
# From NVIDIA/gpu-operator#2511: an editor's numbers of lines.
NUMBERED = """\
1700[   22.316553] mlx5_core 0000:13:00.0: mlx5_pcie_event:297:(pid 11): PCIe slot power capability was not advertised.
1701 [   22.325345] mlx5_core 0000:63:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)
"""


def test_numbers_of_another_tool_are_no_counters() -> None:
    with pytest.raises(ParseError):
        perfquery.parse(PORT)
    assert "perfquery" not in names.guess(PORT)
    assert perfquery.parse("VL15Dropped:.....................3\n").blocks[0].numbers() == {"VL15Dropped": 3}


def test_who_reaches_whom_is_not_how_they_are_joined() -> None:
    matrix = PEERS.partition("\nLegend")[0]
    for text in (PEERS, matrix):
        with pytest.raises(ParseError, match="topo -p2p"):
            topo.parse(text)
        assert names.guess(text) == ()
    assert topo.parse(matrix.replace("GNS\t", "PHB\t")).matrix["GPU0"] == ("X", "PHB")


def test_dcgmi_lists_nvlinks() -> None:
    assert dcgmi.facts(dcgmi.parse(LINKS))["nvlinks"] == [
        {"entity": "GPU 0", "up": 2, "down": 1, "disabled": 1},
        {"entity": "GPU 1", "up": 0, "down": 6, "disabled": 0},
    ]
    assert names.guess(LINKS)[0] == "dcgmi"
    # DCGM calls links of cards that have no bridge down as well.
    assert dcgmi.wrong(dcgmi.parse(LINKS)) == ()
    with pytest.raises(ParseError):
        nvlink_status.parse(LINKS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (UNHEALTHY, ("GPU 0: the driver calls the NVLink fabric unhealthy",)),
        (REFUSED, ("GPU 0: its registration with the NVLink fabric failed: Insufficient Resources",)),
        (UNHEALTHY.replace("Unhealthy", "Healthy"), ()),
        (UNHEALTHY.replace("Unhealthy", "N/A"), ()),
    ],
)
def test_the_driver_says_that_the_fabric_is_bad(text: str, told: tuple[str, ...]) -> None:
    assert nvsmi_q_fabric.wrong(nvsmi_q_fabric.parse(text)) == told


def test_the_journal_of_the_fabric_manager_is_read_without_the_heads_of_syslog() -> None:
    for text, active in ((JOURNAL, True), (JOURNAL + STOPPED, False)):
        (part,) = prefix.parts("fabricmanager_status", text)
        assert part.who == "TENCENT64"
        assert fabricmanager_status.parse(part.text).active is active
        assert fabricmanager_status.parse(text).active is active


def test_the_log_of_imex_is_not_the_fabric_managers() -> None:
    with pytest.raises(ParseError, match="nvidia-imex"):
        fabricmanager_log.parse(IMEX)


def test_what_perftest_ends_with_is_no_error_of_ibv_devinfo() -> None:
    with pytest.raises(ParseError):
        ibv_devinfo.parse("Failed to modify QP 306 to RTR\n")
    assert ibv_devinfo.parse("Failed to open device\n").error_lines == ("Failed to open device",)


def test_the_json_of_mlxlink_may_be_cut() -> None:
    parsed = mlxlink.parse(JSON)
    assert (parsed.state, parsed.physical_state, parsed.speed, parsed.width) == ("Active", "LinkUp", "IB-EDR", "4x")
    with pytest.raises(ParseError):
        mlxlink.parse('{\n   "result" : {\n')


def test_omni_path_is_an_hca() -> None:
    parsed = lspci.parse(OMNI_PATH)
    assert parsed.devices[0].kind == lspci.HCA
    assert "5 GT/s" in lspci.wrong(parsed)[0]


def test_cexec_says_whose_a_text_is() -> None:
    parts = prefix.parts("sminfo", CEXEC)
    assert [part.who for part in parts] == ["n01", "n02"]
    assert [names.facts("sminfo", part.text)[0]["activity"] for part in parts] == [6881, 6882]


def test_numbers_of_lines_before_a_kernel_log_are_taken_off() -> None:
    (part,) = prefix.parts("dmesg", NUMBERED)
    assert part.text.startswith("[   22.316553] mlx5_core")
    assert names.facts("dmesg", part.text)[1] is None


def test_a_fence_of_four_is_one() -> None:
    (part,) = prefix.parts("dcgmi", f"````\n{LINKS}````\n")
    assert part.text == LINKS


def test_a_script_prints_the_half_of_mlnx_qos() -> None:
    # From spidernet-io/spiderpool, docs of rdma-qos.sh.
    text = "Priority trust state: dscp\nPFC configuration:\n  priority 0 1 2 3 4 5 6 7\n  enabled  0 0 0 0 0 1 0 0\n"
    parsed = mlnx_qos.parse(text)
    assert (parsed.trust, parsed.pfc, parsed.cut) == ("dscp", (5,), True)
