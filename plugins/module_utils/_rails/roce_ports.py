# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of RoCE ports: gathered by _areas/roce/observe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Mapping, TypedDict

from .._ground.reading import Reading, as_json
from .._parse.gid import ROUTABLE
from .._parse.lldpctl import Neighbour
from .._parse.mlxlink import Mlxlink
from .._parse.mstconfig import Value
from .._parse.spcx_cc import Programs

ROCE_V2 = "RoCE v2"
ROCE_V1 = "IB/RoCE v1"
# A number that was looked for and is not set.
UNSET = -1


@dataclass(frozen=True)
class GidEntry:
    """One entry of a port's GID table that is in use."""

    index: int
    address: str
    kind: str
    type: str
    netdev: str

    @property
    def usable(self) -> bool:
        """Whether RoCE v2 can reach other hosts with it."""
        return self.type == ROCE_V2 and self.kind in ROUTABLE

    def __str__(self) -> str:
        return f"{self.type} {self.kind} {self.address}".rstrip()


@dataclass(frozen=True)
class Qos:
    """What the interface does with priorities. ``priority``: of each DSCP. ``ecn``: whether each
    of roce_np/P and roce_rp/P is switched on; missing where the driver has no such switches.
    ``cnp_dscp``: the mark of the packets that tell senders to slow down (CNP)."""

    trust: Reading[str] = field(default_factory=Reading)
    pfc: Reading[tuple[int, ...]] = field(default_factory=Reading)
    priority: Reading[tuple[tuple[int, int], ...]] = field(default_factory=Reading)
    ecn: Reading[tuple[tuple[str, bool], ...]] = field(default_factory=Reading)
    cnp_dscp: Reading[int] = field(default_factory=Reading)


@dataclass(frozen=True)
class Counted:
    """Counters of loss and congestion by name, and the same ``seconds`` later."""

    first: Reading[Mapping[str, int]] = field(default_factory=Reading)
    later: Reading[Mapping[str, int]] = field(default_factory=Reading)
    seconds: float = 0.0


@dataclass(frozen=True)
class SpectrumX:
    """Of a rail's HCA, where the site has Spectrum-X. ``board``: the name in its product data. ``config``: what its
    firmware is set to, and ``register``: of ROCE_ACCL, as far as the site's release names it."""

    board: Reading[str] = field(default_factory=Reading)
    config: Reading[Mapping[str, Value]] = field(default_factory=Reading)
    register: Reading[Mapping[str, int]] = field(default_factory=Reading)


@dataclass(frozen=True)
class RocePort:
    """One RDMA port with an Ethernet link layer.

    ``protocol``: one of _data/rdma_drivers, "" for a driver that is not in it. ``beside``: a GPU is
    behind the same root port. ``netdev``: the interface that carries its addresses; ``uplink``: the
    one that keeps the priorities, "" where that cannot be told. ``gids_read``: how many entries of
    the table were read. ``traffic_class`` and ``cm_tos``: UNSET where nothing is set. ``cm_mode``:
    RDMA CM's default. ``neighbours``: who is heard by LLDP on the interface; missing where no lldpd listens.
    ``spectrum_x``: asked only where the site says that it has it. ``link``: what mlxlink says, asked while it is Down.
    """

    device: str
    num: int
    model: str
    address: str = ""
    driver: str = ""
    protocol: str = ""
    virtual: bool = False
    beside: bool = False
    state: str = ""
    physical_state: str = ""
    rate: float | None = None
    netdev: Reading[str] = field(default_factory=Reading)
    uplink: str = ""
    operstate: Reading[str] = field(default_factory=Reading)
    carrier: Reading[bool] = field(default_factory=Reading)
    mtu: Reading[int] = field(default_factory=Reading)
    gids: Reading[tuple[GidEntry, ...]] = field(default_factory=Reading)
    gids_read: int = 0
    qos: Qos = field(default_factory=Qos)
    traffic_class: Reading[int] = field(default_factory=Reading)
    cm_tos: Reading[int] = field(default_factory=Reading)
    cm_mode: Reading[str] = field(default_factory=Reading)
    counters: Counted = field(default_factory=Counted)
    neighbours: Reading[tuple[Neighbour, ...]] = field(default_factory=Reading)
    spectrum_x: SpectrumX = field(default_factory=SpectrumX)
    link: Reading[Mlxlink] = field(default_factory=Reading)

    @property
    def name(self) -> str:
        """``mlx5_3/1``, the subject of every check of this port."""
        return f"{self.device}/{self.num}"

    @property
    def gid_index(self) -> int | None:
        """The first entry that RoCE v2 can reach other hosts with."""
        return next((gid.index for gid in self.gids.value or () if gid.usable), None)


class RoceReported(TypedDict, total=False):
    """What a report shows of RoCE; ``gid_index`` by port, so that a fleet can be compared."""

    devices: Reading[tuple[str, ...]]
    ports: Reading[tuple[RocePort, ...]]
    nccl_tc: Reading[int]
    gid_index: dict[str, int | None]


@dataclass(frozen=True)
class RoceFacts:
    """``ports``: those with an Ethernet link layer. ``devices``: every RDMA device of the host.

    ``nccl_tc``: NCCL_IB_TC of /etc/nccl.conf, UNSET where the file has none. ``programs``: of Spectrum-X's congestion
    control, asked only where the site says that it has it.
    """

    devices: Reading[tuple[str, ...]] = field(default_factory=Reading)
    ports: Reading[tuple[RocePort, ...]] = field(default_factory=Reading)
    nccl_tc: Reading[int] = field(default_factory=Reading)
    programs: Reading[Programs] = field(default_factory=Reading)

    def to_dict(self) -> RoceReported:
        """As JSON."""
        # Two looks at a hundred counters a host are judged here and of no use to others, as are an HCA's settings.
        plain = self.ports.map(
            lambda ports: tuple(replace(port, counters=Counted(), spectrum_x=SpectrumX()) for port in ports)
        )
        return {
            "devices": as_json(self.devices),
            "ports": as_json(plain),
            "nccl_tc": as_json(self.nccl_tc),
            "gid_index": {port.name: port.gid_index for port in self.ports.value or ()},
        }
