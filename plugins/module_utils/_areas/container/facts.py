# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of containers on one host: gathered by observe.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..._ground.reading import Reading
from ..._nccl.host import NcclHost
from ..._parse._container_desired import Desired
from ..._parse._container_facts import ContainerProbe
from ..._parse.ip_addr import Interface
from ..._parse.proc_limits import Limits


@dataclass(frozen=True)
class ContainerFacts:
    """``wish``: None where nobody asked for containers to be looked at.

    Of the host: ``devices`` below /dev/infiniband, ``conf`` (its nccl.conf), ``interfaces``, and
    of a simulated node ``limits`` (of its first process, which nothing in it can exceed); ``driver``:
    the release of NVIDIA's driver that is loaded. ``nccl``:
    what settings of NCCL are judged by; None where the image sets none.
    """

    wish: Desired | None = None
    probe: Reading[ContainerProbe] = field(default_factory=Reading)
    devices: Reading[tuple[str, ...]] = field(default_factory=Reading)
    conf: Reading[str] = field(default_factory=Reading)
    interfaces: Reading[tuple[Interface, ...]] = field(default_factory=Reading)
    limits: Reading[Limits] = field(default_factory=Reading)
    driver: Reading[str] = field(default_factory=Reading)
    nccl: NcclHost | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; empty where nobody asked."""
        if self.wish is None:
            return {}
        probe = self.probe.value
        return {
            "wish": asdict(self.wish),
            "probe": asdict(probe) if probe is not None else {"unknown": self.probe.why},
        }
