# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of memory, CPUs, disks, the BMC and the host's name: gathered by observe_*.py.

All of it stays on the host: no two hosts tell the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._ground.reading import Reading
from ..._parse.df import FileSystem
from ..._parse.ipmi_sdr import Sensor
from ..._parse.ipmi_sel import Event
from ..._parse.meminfo import Memory
from ..._parse.mounts import Mount
from ..._parse.redfish import Part


@dataclass(frozen=True)
class NumaNode:
    """A NUMA node with CPUs: its memory in KiB, and how many CPUs of it are online."""

    name: str
    memory: int
    cpus: int


@dataclass(frozen=True)
class Dimm:
    """A memory module (or all of a controller that knows none): corrected and uncorrected errors."""

    name: str
    label: str
    corrected: int
    uncorrected: int


@dataclass(frozen=True)
class Ecc:
    """``seconds``: for how long errors have been counted, None where nobody says."""

    dimms: tuple[Dimm, ...]
    seconds: int | None = None


@dataclass(frozen=True)
class ResourceFacts:
    """``load``: averages over 1, 5 and 15 minutes. ``waiting``: by cpu and memory, per cent of five
    minutes (PSI); missing where the kernel keeps none. ``present`` and ``online``: how many CPUs.
    ``smt``: the kernel's word for it (``on``, ``off``, ``notsupported``). ``throttled``: by CPU, how
    often its package slowed down for heat since boot, and how much of it in the pause of two looks;
    missing where the CPU does not count."""

    uptime_s: Reading[float] = field(default_factory=Reading)
    memory: Reading[Memory] = field(default_factory=Reading)
    load: Reading[tuple[float, ...]] = field(default_factory=Reading)
    waiting: dict[str, Reading[float]] = field(default_factory=dict)
    present: Reading[int] = field(default_factory=Reading)
    online: Reading[int] = field(default_factory=Reading)
    smt: Reading[str] = field(default_factory=Reading)
    nodes: Reading[tuple[NumaNode, ...]] = field(default_factory=Reading)
    throttled: Reading[dict[str, tuple[int, int]]] = field(default_factory=Reading)
    ecc: Reading[Ecc] = field(default_factory=Reading)


@dataclass(frozen=True)
class FloorFacts:
    """``values``: the texts that the table of floors names, by what it reads. ``parts``: of each kind that rows are
    repeated for, the names."""

    values: dict[str, Reading[str]] = field(default_factory=dict)
    parts: dict[str, Reading[tuple[str, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class DiskFacts:
    """``fstab``: what should be mounted; missing where the host has no such file. ``nvme``: state by
    controller; missing where there is none."""

    mounts: Reading[tuple[Mount, ...]] = field(default_factory=Reading)
    fstab: Reading[tuple[Mount, ...]] = field(default_factory=Reading)
    left: Reading[tuple[FileSystem, ...]] = field(default_factory=Reading)
    nvme: Reading[dict[str, str]] = field(default_factory=Reading)


@dataclass(frozen=True)
class BmcFacts:
    """``sensors`` and ``log`` by ipmitool; missing where the host has no BMC, or no ipmitool.
    ``parts``: what somebody put into a bundle of Redfish, a reading each document, none where nobody
    did. ``today``: ISO date by the host's clock."""

    sensors: Reading[tuple[Sensor, ...]] = field(default_factory=Reading)
    log: Reading[tuple[Event, ...]] = field(default_factory=Reading)
    parts: tuple[Reading[tuple[Part, ...]], ...] = ()
    today: Reading[str] = field(default_factory=Reading)


@dataclass(frozen=True)
class NameFacts:
    """The name that the host gives itself, and its addresses by the name service; empty where the
    name service knows none. ``held``: the addresses of its interfaces."""

    own: Reading[str] = field(default_factory=Reading)
    addresses: Reading[tuple[str, ...]] = field(default_factory=Reading)
    held: Reading[tuple[str, ...]] = field(default_factory=Reading)
