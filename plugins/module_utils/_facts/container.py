# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of containers on one host: gathered by _observe/container."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import (
    ContainerProbe,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_addr import Interface
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import Limits
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish


@dataclass(frozen=True)
class ContainerFacts:
    """``wish``: None where nobody asked for containers to be looked at.

    Of the host: ``devices`` below /dev/infiniband, ``conf`` (its nccl.conf), ``interfaces``, and
    of a simulated node ``limits`` (of its first process, which nothing in it can exceed). ``nccl``:
    what settings of NCCL are judged by; None where the image sets none.
    """

    wish: Wish | None = None
    probe: Reading[ContainerProbe] = field(default_factory=Reading)
    devices: Reading[tuple[str, ...]] = field(default_factory=Reading)
    conf: Reading[str] = field(default_factory=Reading)
    interfaces: Reading[tuple[Interface, ...]] = field(default_factory=Reading)
    limits: Reading[Limits] = field(default_factory=Reading)
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
