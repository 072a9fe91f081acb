# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of NVLink and the fabric manager: gathered by _observe/nvlink."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Nvsmi
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dmesg import SXid
from ansible_collections.ibready.cluster.plugins.module_utils._parse.fabricmanager_log import FmLog
from ansible_collections.ibready.cluster.plugins.module_utils._parse.fabricmanager_status import (
    FmStatus,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_caps import NvlinkCaps
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_errors import (
    NvlinkErrors,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvlink_status import (
    NvlinkStatus,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.topo import Topo


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
    """The memory export service of a rack. ``service``: systemd's properties of the unit."""

    service: Reading[dict[str, str]] = field(default_factory=Reading)
    nodes: Reading[tuple[str, ...]] = field(default_factory=Reading)
    channels: Reading[tuple[str, ...]] = field(default_factory=Reading)


@dataclass(frozen=True)
class NvlinkFacts:
    """``smi``: what nvidia-smi -q tells (for the fabric's state). ``driver``: the loaded version.

    ``package``: the installed version of the fabric manager. ``sxids``: since the kernel's log
    begins. ``log_lost``: it does not begin with the boot. ``ports``: by PCI address of the
    function; () where its RDMA driver is not bound.
    """

    status: Reading[NvlinkStatus] = field(default_factory=Reading)
    errors: Reading[NvlinkErrors] = field(default_factory=Reading)
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

    def to_dict(self) -> dict[str, Any]:
        """What a report shows of it: the hundreds of single links and counters are left out."""
        status, errors, topo = self.status.value, self.errors.value, self.topo.value
        manager, log = self.manager.value, self.log.value
        return {
            "links": [
                {"gpu": one.gpu.index, "active": len(one.active), "down": [d.id for d in one.down]}
                for one in (status.gpus if status else ())
            ],
            "errors": [
                {"gpu": one.gpu.index, "link": bad.link, "counter": bad.counter, "value": bad.value}
                for one in (errors.gpus if errors else ())
                for bad in one.nonzero
                if bad.counter.endswith("Errors") and not bad.counter.startswith("FEC")
            ],
            "pairs": {
                f"{one}-{other}": relation
                for (one, other), relation in (topo.pairs() if topo else {}).items()
            },
            "driver": self.driver.value,
            "fabric_manager": {
                "state": (manager.state or ("not found" if manager.missing else None))
                if manager
                else None,
                "package": self.package.value,
                "log_errors": len(log.errors) if log else None,
            },
            "sxids": [
                {"switch": one.switch, "sxid": one.sxid, "text": one.text}
                for one in self.sxids.value or ()
            ],
        }
