# SPDX-License-Identifier: GPL-3.0-or-later
"""lspci, as people posted it and as the corpus has it."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import lspci
from ansible_collections.ibready.cluster.plugins.module_utils._parse.lspci import Link
from tests.unit.corpus import CORPUS
from tests.unit.parsers import SAMPLES

TEXTS = CORPUS.parent / "corpus-2" / "lspci"
needed = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"no corpus at {TEXTS} (set IBREADY_CORPUS)")
SAMPLE = (SAMPLES / "lspci.txt").read_text()

# Shortened from NVIDIA/l2fwd-nv#6, of a pciutils that marks no link; what the link has is filled in.
CX6 = """b3:00.0 Ethernet controller: Mellanox Technologies MT2892 Family [ConnectX-6 Dx]
        Subsystem: Mellanox Technologies MT28841
        NUMA node: 0
        Capabilities: [60] Express (v2) Endpoint, MSI 00
                DevCap: MaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 unlimited
                        ExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ FLReset+ SlotPowerLimit 75.000W
                DevCtl: Report errors: Correctable- Non-Fatal+ Fatal+ Unsupported+
                        RlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
                        MaxPayload 256 bytes, MaxReadReq 4096 bytes
                LnkCap: Port #0, Speed 16GT/s, Width x16, ASPM not supported, Exit Latency L0s unlimited, L1 <4us
                        ClockPM- Surprise- LLActRep- BwNot- ASPMOptComp+
                LnkSta: Speed {speed}GT/s, Width x{width}, TrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
        Kernel driver in use: mlx5_core
"""
# What the link has is of geerlingguy/raspberry-pi-pcie-devices#480 (a Quadro RTX 8000), the rest made up.
GPU = """01:00.0 VGA compatible controller: NVIDIA Corporation TU102GL [Quadro RTX 6000/8000] (rev a1)
\tCapabilities: [78] Express (v2) Legacy Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM L0s L1, Exit Latency L0s <1us, L1 <4us
\t\t\tClockPM+ Surprise- LLActRep- BwNot- ASPMOptComp+
\t\tLnkSta:\tSpeed 5GT/s (downgraded), Width x{width}
\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
"""
# From Bumblebee-Project/Bumblebee#172.
GONE = """01:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:0fd1] (rev ff) (prog-if ff)
    !!! Unknown header type 7f
    Kernel driver in use: nvidia
"""
# Without root; made up in lspci's form.
DENIED = """17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
\tSubsystem: NVIDIA Corporation Device [10de:16c1]
\tIOMMU group: 12
\tCapabilities: <access denied>
\tKernel driver in use: nvidia
"""


@needed
def test_a_whole_node_of_the_corpus() -> None:
    told = lspci.parse((TEXTS / "gpud-lspci.txt").read_text())
    assert (len(told.devices), told.unread, told.cut, told.denied) == (517, 0, False, False)
    kinds = [device.kind for device in told.devices]
    assert [kinds.count(kind) for kind in (lspci.GPU, lspci.SWITCH, lspci.HCA)] == [8, 4, 12]
    hca = next(device for device in told.devices if device.bus_id == "cc:00.0")
    assert (hca.name, hca.driver, hca.numa) == ("Mellanox Technologies MT2910 Family [ConnectX-7]", "mlx5_core", 1)
    assert (hca.max_payload, hca.max_read_request) == (256, 4096)
    assert hca.link == Link(32.0, 16, 32.0, 16)
    port = next(device for device in told.devices if device.bus_id == "00:0c.0")
    assert port.link == Link(5.0, 1, 8.0, 1, slower=True)
    assert port.acs is not None
    assert [name for name, on in port.acs.items() if on] == ["SrcValid"]
    redirecting = [device for device in told.devices if device.acs and device.acs["ReqRedir"]]
    assert len(redirecting) == 4
    # Two management ports of 1 Gb/s and a bridge have fewer lanes than they can, and matter to nobody.
    assert lspci.wrong(told) == ()


@pytest.mark.parametrize(
    ("speed", "width", "said"),
    [
        ("16", "16", ()),
        ("16", "8", ("has a PCIe link of x8, and can do x16",)),
        ("8", "16", ("has a PCIe link of 8 GT/s, and can do 16 GT/s",)),
        ("unknown", "0", ()),
    ],
)
def test_an_hca_has_less_than_it_can(speed: str, width: str, said: tuple[str, ...]) -> None:
    text = CX6.format(speed=speed, width=width).replace("unknownGT/s", "unknown")
    who = "HCA b3:00.0 (Mellanox Technologies MT2892 Family [ConnectX-6 Dx])"
    assert lspci.wrong(lspci.parse(text)) == tuple(f"{who} {end}" for end in said)


def test_a_gpu_lowers_its_speed_and_no_lanes() -> None:
    assert lspci.wrong(lspci.parse(GPU.format(width="16"))) == ()
    (said,) = lspci.wrong(lspci.parse(GPU.format(width="1 (downgraded)")))
    assert (
        said == "GPU 01:00.0 (NVIDIA Corporation TU102GL [Quadro RTX 6000/8000]) has a PCIe link of x1, and can do x16"
    )


def test_a_device_that_is_gone_comes_first() -> None:
    told = lspci.parse(CX6.format(speed="16", width="4") + "\n" + GONE)
    assert [device.gone for device in told.devices] == [False, True]
    assert (told.devices[1].vendor_id, told.devices[1].device_id) == ("10de", "0fd1")
    assert [said.split(" ")[0] for said in lspci.wrong(told)] == ["GPU", "HCA"]


def test_one_line_a_device() -> None:
    told = lspci.parse(
        "3c:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n"
        "0000:3d:00.0 Non-Volatile memory controller: Samsung Electronics Co Ltd Device a824\n"
        "3e:00.1 0207: 15b3:101b (rev 01)\n"
        "3f:00.1 Infiniband controller: Mellanox Technologies ConnectX Family mlx5Gen Virtual Function\n"
    )
    assert [(row.kind, row.bus_id, row.vendor_id, row.device_id, row.revision) for row in told.devices] == [
        ("HCA", "3c:00.0", "15b3", "1021", ""),
        ("", "0000:3d:00.0", "", "", ""),
        ("HCA", "3e:00.1", "15b3", "101b", "01"),
        ("", "3f:00.1", "", "", ""),
    ]
    assert told.devices[0].name == "Mellanox Technologies MT2910 Family [ConnectX-7]"


def test_what_grep_leaves_of_acs() -> None:
    # From NVIDIA/nccl#606: `sudo lspci -vvv | grep ACSCtl`.
    on, off = (
        f"\tACSCtl: SrcValid{mark} TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"
        for mark in "+-"
    )
    told = lspci.parse(f"$ sudo lspci -vvv | grep ACSCtl\n{on}{on}{off}")
    assert [device.acs and device.acs["SrcValid"] for device in told.devices] == [True, True, False]
    assert ({device.bus_id for device in told.devices}, told.unread) == ({""}, 1)


def test_capabilities_that_nobody_showed() -> None:
    told = lspci.parse(DENIED)
    assert told.denied
    assert (told.devices[0].kind, told.devices[0].iommu_group, told.devices[0].link) == ("GPU", 12, None)
    assert lspci.facts(told)["access_denied"] is True


def test_a_text_that_is_cut_or_has_other_lines() -> None:
    text = "$ lspci -vv\n" + SAMPLE[: SAMPLE.index("Speed 32GT/s, Width x16\n")]
    told = lspci.parse(text)
    assert (len(told.devices), told.unread, told.cut) == (3, 1, True)
    assert lspci.facts(told)["cut"] is True
    assert told.devices[2].link == Link(max_speed=32.0, max_width=16)
    # No x1 of an x16.
    assert lspci.wrong(lspci.parse(SAMPLE[: SAMPLE.index("Width x16\n\t\t\tTrErr") + len("Width x1")])) == (
        lspci.wrong(lspci.parse(SAMPLE))
    )
    # A device whose first line is cut takes none of the lines for the one before it.
    told = lspci.parse(SAMPLE.replace("3c:00.0 Infiniband controller [0207]: Mellanox", "3c:00.0 Infini"))
    assert [device.bus_id for device in told.devices] == ["00:01.0", "17:00.0"]
    assert told.devices[1].driver == "nvidia-nvswitch"
    assert told.unread > 10


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12:30.5 start: everything is fine\n",
        "CA 'mlx5_0'\n\tCA type: MT4129\n",
        "pci 0000:17:00.0: [10de:2330] type 00 class 0x030200\n",
        "/dev/mst/mt4129_pciconf0\tdomain:bus:dev.fn=0000:3c:00.0 addr.reg=88\n",
        "PCI_SLOT_NAME=0000:3c:00.0\n",
    ],
)
def test_another_tools_text(text: str) -> None:
    with pytest.raises(ParseError):
        lspci.parse(text)
