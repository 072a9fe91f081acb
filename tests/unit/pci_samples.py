# SPDX-License-Identifier: GPL-3.0-or-later
"""A small PCI bus to judge in tests: two sockets, each with one switch over one GPU and one HCA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.facts import End, Errors, PciFacts, Rdma
from ansible_collections.ibready.cluster.plugins.module_utils._expect import profiles
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvsmi_xml import Gpu, Nvsmi, Pcie
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_config import Config
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_resource import Bar

GPU0, GPU1 = "0000:13:00.0", "0000:93:00.0"
HCA0, HCA1 = "0000:15:00.0", "0000:95:00.0"
SWITCH, SWITCH_PORT = "0000:e0:00.0", "0000:df:01.0"
PORTS = {
    GPU0: ("0000:10:01.0", "0000:11:00.0", "0000:12:02.0"),
    HCA0: ("0000:10:01.0", "0000:11:00.0", "0000:12:04.0"),
    GPU1: ("0000:90:01.0", "0000:91:00.0", "0000:92:02.0"),
    HCA1: ("0000:90:01.0", "0000:91:00.0", "0000:92:04.0"),
}
BRIDGES = tuple(dict.fromkeys(at for path in PORTS.values() for at in path))
LIST = (GPU0, HCA0, GPU1, HCA1, *BRIDGES, SWITCH, SWITCH_PORT)


def gpu(at: str, numa: int, **bent: Any) -> PciFunction:
    """An H100 SXM5."""
    path = (*PORTS[at], at)
    healthy = PciFunction(at, "030200", "10de", "2330", numa, "nvidia", path)
    return replace(healthy, **bent)


def hca(at: str, numa: int, **bent: Any) -> PciFunction:
    """A ConnectX-7 in InfiniBand mode."""
    path = (*PORTS[at], at)
    healthy = PciFunction(at, "020700", "15b3", "1021", numa, "mlx5_core", path)
    return replace(healthy, **bent)


def nvswitch(at: str = SWITCH, **bent: Any) -> PciFunction:
    """An NVSwitch of an HGX H100 board."""
    path = (SWITCH_PORT, at)
    healthy = PciFunction(at, "068000", "10de", "22a3", 0, "nvidia-nvswitch", path)
    return replace(healthy, **bent)


def machine(*functions: PciFunction, **bent: Any) -> Machine:
    """Bare metal with these functions, or with the healthy ones."""
    mine = functions or (gpu(GPU0, 0), hca(HCA0, 0), gpu(GPU1, 1), hca(HCA1, 1), nvswitch())
    bridges = tuple(PciFunction(one, "060400", "", "") for one in BRIDGES)
    healthy = Machine(
        pci=Reading((*mine, *bridges)),
        gpus=Reading(tuple(profiles.gpu_by_id(one.device) for one in mine if one.is_gpu)),
        switch_managers=Reading(()),
        virtual=Reading(False),
    )
    return replace(healthy, **bent)


def end(speed: float = 32.0, width: int = 16, **bent: Any) -> End:
    """An end of a link that does what it can."""
    healthy = End(Reading(speed), Reading(width), Reading(32.0), Reading(16))
    return replace(healthy, **bent)


def config(**bent: Any) -> Config:
    """A whole configuration space."""
    healthy = Config(0x10DE, 4096, max_payload=256, max_read_request=4096, acs=0, aspm=0)
    return replace(healthy, **bent)


def errors(**bent: Any) -> Errors:
    """No error since boot."""
    healthy = Errors(
        Reading({"DLP": 0, "TOTAL_ERR_FATAL": 0}),
        Reading({"DLP": 0, "TOTAL_ERR_NONFATAL": 0}),
        Reading({"RxErr": 0, "NonFatalErr": 0, "TOTAL_ERR_COR": 0}),
    )
    return replace(healthy, **bent)


def smi(address: str, gen: int = 5, **bent: Any) -> Gpu:
    """A GPU as nvidia-smi lists it."""
    healthy = Gpu(
        bus_id=f"0000{address.upper()}",
        name="NVIDIA H100 80GB HBM3",
        memory_total_mib=81559,
        pcie=Pcie(gen_max=5, gen=gen, width=16),
        clocks_events={"gpu_idle": "Active"},
    )
    return replace(healthy, **bent)


def facts(**bent: Any) -> PciFacts:
    """The healthy host."""
    listed = Reading(Nvsmi(gpus=(smi(GPU0), smi(GPU1))))
    healthy = PciFacts(
        ends=dict.fromkeys(LIST, end()),
        configs=dict.fromkeys(LIST, Reading(config())),
        bars=dict.fromkeys((GPU0, GPU1), bars()),
        errors=dict.fromkeys(LIST, errors()),
        vfs=dict.fromkeys((HCA0, HCA1), Reading(0)),
        rdma=Reading(
            (
                Rdma("mlx5_0", HCA0, "a088:0000:0000:0001", 400.0),
                Rdma("mlx5_1", HCA1, "a088:0000:0000:0002", 400.0),
            )
        ),
        smi=listed,
        smi_anyhow=listed,
        nodes=Reading((0, 1)),
        uptime_s=Reading(864000.0),
    )
    return replace(healthy, **bent)


def bars(start: int = 0x380000000000, gib: int = 128, *, assigned: bool = True) -> Any:
    """The BARs of an H100: registers, memory, one more."""
    return Reading(
        (
            Bar(0x382000000000, 16 << 20, True),
            Bar(start, gib << 30, assigned),
            Bar(0x382002000000, 32 << 20, True),
        )
    )
