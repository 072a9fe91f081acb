# SPDX-License-Identifier: GPL-3.0-or-later
"""All of a host that its nccl.conf is derived from; what could not be seen is an unknown Reading.

It travels from node to controller as JSON, where the hosts are compared.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .._areas.stack.gpudirect import Ways
from .._ground.reading import Reading, rebuilt
from .._parse.ip_addr import Address, Interface
from .._parse.ip_route import Route
from .._rails.roce_ports import GidEntry
from . import near
from .release import Release, release

ACTIVE = "Active"
# How sure it is that a port is no rail: the site says so, what it is tells, several signs agree,
# one sign alone.
SAID, CONFIRMED, MEDIUM, LOW = "said", "confirmed", "medium", "low"


@dataclass(frozen=True)
class Apart:
    """Why a port is no rail by the definition that the checks judge by (_rails/ib and
    roce_rails), and how sure that is."""

    why: str
    confidence: str


@dataclass(frozen=True)
class NcclPort:
    """One RDMA port.

    ``layer``: InfiniBand or Ethernet, "" where not shown. ``rate`` and ``most_gbps``: Gb/s, now and
    at most; 0.0 for a model that is not known. ``address``: of its PCI function. ``ports``: how
    many its device has. ``adapter``: what the functions of one adapter share. ``near``: how far the
    nearest GPU is (near.WORDS), "" where that cannot be told; ``guest``: on a bus that a hypervisor
    laid out, None where nobody knows. ``subnet``: who manages it. ``unclear``: it may lead to the NVLink switches.
    ``traffic_class``: the driver's own, UNSET where nothing is set, None where that cannot be told.
    """

    device: str
    num: int
    layer: str = ""
    state: str = ""
    rate: float | None = None
    model: str = ""
    most_gbps: float = 0.0
    address: str = ""
    numa: int = -1
    ports: int = 1
    adapter: str = ""
    near: str = ""
    guest: bool | None = False
    subnet: str = ""
    virtual: bool = False
    unclear: bool = False
    apart: Apart | None = None
    netdev: str = ""
    gids: Reading[tuple[GidEntry, ...]] = field(default_factory=Reading)
    traffic_class: int | None = None

    @property
    def name(self) -> str:
        """``mlx5_3/1``, as in every check."""
        return f"{self.device}/{self.num}"

    @property
    def active(self) -> bool:
        return self.state == ACTIVE

    @property
    def by_switch(self) -> bool:
        """Whether a PCIe switch joins it with a GPU."""
        return self.near in near.BY_SWITCH

    def goes_by(self, name: str) -> bool:
        """Whether a person's word for a port, a device or a PCI function means this one."""
        short = self.address.partition(":")[2]
        mine = (self.device, self.name, f"{self.device}:{self.num}", self.address, short)
        return bool(name) and name in mine


@dataclass(frozen=True)
class Card:
    """One GPU on the PCI bus."""

    address: str
    numa: int = -1


@dataclass(frozen=True)
class Wanted:
    """What somebody expects of the rails: 0 and None where nobody does. ``exact``: so many HCAs and
    no more. ``source``: who counts them."""

    hcas: int = 0
    exact: bool = False
    source: str = ""
    gid_index: int | None = None
    tos: int | None = None


@dataclass(frozen=True)
class NcclHost:
    """``ports``: every RDMA port, () on a host without RDMA. ``routes``: by a peer's address.
    ``nccl``: the version, missing where jobs bring their own. ``superchip``: GPU and processor are
    one package; ``rack``: NVLink joins it with other hosts; None where nobody could look."""

    ports: Reading[tuple[NcclPort, ...]] = field(default_factory=Reading)
    gpus: Reading[tuple[Card, ...]] = field(default_factory=Reading)
    interfaces: Reading[tuple[Interface, ...]] = field(default_factory=Reading)
    routes: dict[str, Reading[Route]] = field(default_factory=dict)
    nccl: Reading[str] = field(default_factory=Reading)
    gpudirect: Ways = field(default_factory=Ways)
    superchip: bool | None = None
    rack: bool | None = None
    wanted: Wanted = field(default_factory=Wanted)
    simulated: str = ""

    @property
    def release(self) -> Release | None:
        """The installed NCCL's; None where no version is known."""
        return self.nccl.map(release).value

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def from_dict(raw: dict[str, Any]) -> NcclHost:
    """Rebuild the host from JSON; raises KeyError or TypeError on what is not ours."""
    ways = raw["gpudirect"]
    return NcclHost(
        ports=rebuilt(raw["ports"], lambda some: tuple(_port(entry) for entry in some)),
        gpus=rebuilt(raw["gpus"], lambda some: tuple(Card(**entry) for entry in some)),
        interfaces=rebuilt(raw["interfaces"], lambda some: tuple(_interface(entry) for entry in some)),
        routes={peer: rebuilt(entry, lambda route: Route(**route)) for peer, entry in raw["routes"].items()},
        nccl=rebuilt(raw["nccl"], str),
        gpudirect=Ways(rebuilt(ways["dmabuf"], str), rebuilt(ways["clients"], tuple), rebuilt(ways["modules"], tuple)),
        superchip=raw["superchip"],
        rack=raw.get("rack"),
        wanted=Wanted(**raw["wanted"]),
        simulated=raw["simulated"],
    )


def _port(raw: dict[str, Any]) -> NcclPort:
    apart = None if raw["apart"] is None else Apart(**raw["apart"])
    gids = rebuilt(raw["gids"], lambda some: tuple(GidEntry(**entry) for entry in some))
    return NcclPort(**{**raw, "apart": apart, "gids": gids})


def _interface(raw: dict[str, Any]) -> Interface:
    return Interface(**{**raw, "addresses": tuple(Address(**address) for address in raw["addresses"])})
