# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of NVLink and the fabric manager: gathered by observe.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from ..._data import nvlink as data
from ..._ground.reading import Reading
from ..._parse._nvsmi import Nvsmi
from ..._parse.dmesg import SXid
from ..._parse.fabricmanager_log import FmLog
from ..._parse.fabricmanager_status import FmStatus
from ..._parse.nvlink_caps import NvlinkCaps
from ..._parse.nvlink_errors import NvlinkErrors
from ..._parse.nvlink_status import NvlinkStatus
from ..._parse.topo import Topo


@dataclass(frozen=True)
class SwitchPort:
    """A port that leads to the NVLink switches of an HGX B200 or B300 board.

    ``managed``: a subnet manager may run on it. ``state``: as the kernel has it, ``4: ACTIVE``.
    """

    device: str
    port: str
    state: Reading[str]
    managed: bool = True


@dataclass(frozen=True)
class Imex:
    """The memory export service of a rack. ``service``: systemd's properties of the unit. ``file``:
    the one that it has its nodes from. ``own``: the host's addresses."""

    service: Reading[dict[str, str]] = field(default_factory=Reading)
    nodes: Reading[tuple[str, ...]] = field(default_factory=Reading)
    channels: Reading[tuple[str, ...]] = field(default_factory=Reading)
    file: str = data.IMEX_NODES
    own: Reading[tuple[str, ...]] = field(default_factory=Reading)


@dataclass(frozen=True)
class Later:
    """The error counters once more, so many seconds after the first look."""

    errors: NvlinkErrors
    seconds: float


class Links(TypedDict):
    """The NVLinks of a GPU."""

    gpu: int | None
    active: int
    down: list[int]


class Wrong(TypedDict):
    """What an NVLink counted."""

    gpu: int | None
    link: int
    counter: str
    value: int


class Switch(TypedDict):
    """An error of an NVSwitch."""

    switch: str
    sxid: int
    text: str


class Manager(TypedDict, total=False):
    """The fabric manager."""

    state: str | None
    package: str | None
    log_errors: int | None


class Rack(TypedDict):
    """A host of a rack: the NVLink clusters and cliques of its GPUs, and the nodes that IMEX has."""

    domains: list[str]
    nodes: list[str] | None


class NvlinkReported(TypedDict, total=False):
    """What a report shows of NVLink."""

    rack: Rack

    links: list[Links]
    errors: list[Wrong]
    pairs: dict[str, str | None]
    driver: str | None
    fabric_manager: Manager
    sxids: list[Switch]


@dataclass(frozen=True)
class NvlinkFacts:
    """``smi``: what nvidia-smi -q tells (for the fabric's state). ``driver``: the loaded version.

    ``package``: the installed version of the fabric manager. ``sxids``: since the kernel's log
    begins. ``errors_later``: asked for
    where an error was counted. ``log_lost``: it does not begin with the boot. ``ports``: by PCI address of the
    function; () where its RDMA driver is not bound.
    """

    status: Reading[NvlinkStatus] = field(default_factory=Reading)
    errors: Reading[NvlinkErrors] = field(default_factory=Reading)
    errors_later: Reading[Later] = field(default_factory=Reading)
    caps: Reading[NvlinkCaps] = field(default_factory=Reading)
    topo: Reading[Topo] = field(default_factory=Reading)
    smi: Reading[Nvsmi] = field(default_factory=Reading)
    driver: Reading[str] = field(default_factory=Reading)
    manager: Reading[FmStatus] = field(default_factory=Reading)
    package: Reading[str] = field(default_factory=Reading)
    log: Reading[FmLog] = field(default_factory=Reading)
    sxids: Reading[tuple[SXid, ...]] = field(default_factory=Reading)
    log_lost: bool = False
    ports: dict[str, Reading[tuple[SwitchPort, ...]]] = field(default_factory=dict)
    imex: Imex = field(default_factory=Imex)

    def to_dict(self) -> NvlinkReported:
        """What a report shows of it: the hundreds of single links and counters are left out."""
        status, errors, topo = self.status.value, self.errors.value, self.topo.value
        manager, log = self.manager.value, self.log.value
        rack: NvlinkReported = {"rack": self._rack()} if self.imex != Imex() else {}
        return {
            **rack,
            "links": [
                {"gpu": gpu.gpu.index, "active": len(gpu.active), "down": [d.id for d in gpu.down]}
                for gpu in (status.gpus if status else ())
            ],
            "errors": [
                {"gpu": gpu.gpu.index, "link": bad.link, "counter": bad.counter, "value": bad.value}
                for gpu in (errors.gpus if errors else ())
                for bad in gpu.nonzero
                if bad.counter.endswith("Errors") and not bad.counter.startswith("FEC")
            ],
            "pairs": {
                f"{pair}-{other}": relation for (pair, other), relation in (topo.pairs() if topo else {}).items()
            },
            "driver": self.driver.value,
            "fabric_manager": {
                "state": (manager.state or ("not found" if manager.missing else None)) if manager else None,
                "package": self.package.value,
                "log_errors": len(log.errors) if log else None,
            },
            "sxids": [{"switch": sxid.switch, "sxid": sxid.sxid, "text": sxid.text} for sxid in self.sxids.value or ()],
        }

    def _rack(self) -> Rack:
        fabrics = [gpu.fabric or {} for gpu in (self.smi.value.gpus if self.smi.value else ())]
        found = {f"{entry.get('clusterUuid', '')}.{entry.get('cliqueId', '')}" for entry in fabrics}
        nodes = self.imex.nodes.value
        return {"domains": sorted(found), "nodes": None if nodes is None else list(nodes)}
