# SPDX-License-Identifier: GPL-3.0-or-later
"""The InfiniBand facts of one host, as gathered by _areas/ib/observe and judged by _areas/ib/area.

They travel from node to controller as JSON and are read there by their types, so that the fleet's
expectations can be applied to them without asking the host again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .._ground.link import INFINIBAND
from .._ground.reading import Reading
from .._parse.ibstat import Ca, Port
from .._parse.mlxlink import Mlxlink
from .._parse.perfquery import Block
from .._parse.sminfo import Sminfo
from .link_history import Downs

# The unicast LID range of the InfiniBand architecture specification, volume 1, section 4.1.3.
LAST_UNICAST_LID = 0xBFFF
IBSTAT = "ibstat"


@dataclass(frozen=True)
class SmAnswer:
    """What the subnet manager said to one port; ``error`` where nobody answered."""

    sm: Sminfo | None = None
    error: str = ""
    unavailable: str = ""  # why the question could not be put at all


@dataclass(frozen=True)
class Device:
    """What one RDMA device is, beside what its ports say.

    ``kind``: "" for an HCA, else what it is instead. ``address``: of its PCI function, "" where
    that is not known. ``physical``: of a virtual function, the address of the function that it is
    cut from. ``manages_switches``: it is the way to the NVLink switches. ``board``: its board id.
    """

    kind: str = ""
    address: str = ""
    virtual: bool = False
    physical: str = ""
    manages_switches: bool = False
    board: str = ""


@dataclass(frozen=True)
class Mtu:
    """Bytes of a path MTU: in use, and possible."""

    active: int
    max: int


@dataclass(frozen=True)
class Later:
    """The counters at a second look, this many seconds after the first."""

    values: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Rise:
    """By how much a counter rose, and within how many seconds up to now."""

    count: int
    seconds: float


@dataclass(frozen=True)
class History:
    """What is left of a port's earlier days. ``rises``: by counter, since the health agent first saw it
    within the last day. ``why``: why the agent's memory could not be read, "" where it could or is none."""

    downs: tuple[Downs, ...] = ()
    rises: dict[str, Rise] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class Details:
    """What is known of one port beside ibstat's words.

    ``link``: width and speed as the kernel says them (``4X NDR``), "" where it does not; ``prefix``:
    likewise that of its subnet (``fe80:0000:0000:0000``).
    """

    link: str = ""
    prefix: str = ""
    pkeys: Reading[tuple[int, ...]] = field(default_factory=Reading)
    nccl_pkey: Reading[tuple[int, int]] = field(default_factory=Reading)
    mtu: Reading[Mtu] = field(default_factory=Reading)
    counters: Reading[dict[str, int]] = field(default_factory=Reading)
    later: Reading[Later] = field(default_factory=Reading)
    optics: Reading[Mlxlink] = field(default_factory=Reading)


@dataclass(frozen=True)
class IbFacts:
    """``cas`` as ``source`` tells them, ``sysfs`` as the kernel does, ``sm`` by "device/port".

    ``source`` is ibstat; where that cannot be used it is the next best that told of a device.
    ``partial``: devices and ports that ibstat did not tell whole; ``strange``: the first line of it
    that cannot be read. ``filled``: devices of ``cas`` that ibstat stopped before or did not tell
    whole, and that ``sysfs`` told instead. ``unlisted``: those that ibstat never lists, as it asks for
    InfiniBand's node types alone (iWARP, EFA, usNIC). ``silent``: ibstat ended with status 0 and printed nothing,
    where ``sysfs`` lists ports. ``ibstat_unknown`` and ``sysfs_unknown`` say why a source could not be
    used (empty: it could). Without CAs, error lines and such a reason, ibstat ended with status 0 and
    printed nothing.
    ``told``: what other sources say, by source. ``absent``: sources that say there is no device.
    ``garbled``: what is wrong with the words of those that said something else. ``cut``: those of ``told``
    of which lines cannot be read, so that a device they do not name may be there.
    ``bus``: addresses of what must be an HCA on the PCI bus. ``devices`` by name, ``details`` and
    ``history`` (of Active ports) by "device/port". ``uptime_s``: 0 where unknown. ``driver_says``: the driver's
    last words of a port without a link, where they tell of a failure.
    """

    cas: tuple[Ca, ...] = ()
    error_lines: tuple[str, ...] = ()
    ibstat_unknown: str = ""
    sysfs: tuple[Ca, ...] = ()
    sysfs_unknown: str = ""
    sm: dict[str, SmAnswer] = field(default_factory=dict)
    source: str = IBSTAT
    partial: tuple[str, ...] = ()
    strange: str = ""
    filled: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    silent: bool = False
    told: dict[str, tuple[Ca, ...]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    garbled: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    bus: Reading[tuple[str, ...]] = field(default_factory=Reading)
    devices: dict[str, Device] = field(default_factory=dict)
    details: dict[str, Details] = field(default_factory=dict)
    perfquery: tuple[Block, ...] = ()
    perfquery_unknown: str = ""
    uptime_s: int = 0
    simulated: str = ""
    history: dict[str, History] = field(default_factory=dict)
    driver_says: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def device(self, name: str) -> Device:
        """What the device of this name is; an HCA where nothing else is known of it."""
        return self.devices.get(name, Device())

    def on_fabric(self) -> IbFacts:
        """The same without devices that are no HCAs, or that lead to the NVLink switches.

        Those have a subnet of their own on each host.
        """
        cas = tuple(ca for ca in self.cas if not self._is_apart(ca.name))
        sm = {name: entry for name, entry in self.sm.items() if not self._is_apart(name.split("/")[0])}
        return replace(self, cas=cas, sm=sm)

    def _is_apart(self, name: str) -> bool:
        device = self.device(name)
        return bool(device.kind) or device.manages_switches

    def detail(self, port: str) -> Details:
        """The details of "device/port"."""
        return self.details.get(port, Details())


def is_infiniband(port: Port) -> bool:
    """Whether the port's link layer is InfiniBand (ibsim's own tools call it ``IB``)."""
    return port.link_layer in (INFINIBAND, "IB")


def has_no_link(port: Port) -> bool:
    """Whether it is down for want of a link, which its HCA and its driver may tell more of."""
    return port.state == "Down" and port.physical_state != "LinkUp"


def layer(port: Port) -> str:
    """The port's link layer under one name; "" where it was not shown."""
    return INFINIBAND if is_infiniband(port) else port.link_layer


def port_name(ca: Ca, port: Port) -> str:
    """``mlx5_3/1``, the subject of every port check."""
    return f"{ca.name}/{port.num}"
