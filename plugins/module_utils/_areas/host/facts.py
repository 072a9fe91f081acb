# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of kernel, limits, modules and services: gathered by observe.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..._data.rdma_modules import ASKED_FOR
from ..._ground.reading import Reading
from ..._parse.dmesg import Dmesg
from ..._parse.proc_limits import Limits
from .facts_machine import BmcFacts, DiskFacts, FloorFacts, NameFacts, ResourceFacts


@dataclass(frozen=True)
class KernelFacts:
    """How the kernel runs.

    ``domains``: the IOMMU domain (``identity``, ``DMA-FQ``) of each GPU and HCA by PCI address, ""
    where it has one that cannot be told; empty without an IOMMU. ``governors``: how many CPU clocks
    each governor has; missing where the kernel governs none. ``sysctls``: those that are compared
    between hosts, by name. ``secure_boot`` is missing where the firmware has no such thing.
    """

    cmdline: Reading[str] = field(default_factory=Reading)
    domains: Reading[dict[str, str]] = field(default_factory=Reading)
    governors: Reading[dict[str, int]] = field(default_factory=Reading)
    sysctls: dict[str, Reading[str]] = field(default_factory=dict)
    secure_boot: Reading[bool] = field(default_factory=Reading)
    log: Reading[Dmesg] = field(default_factory=Reading)


@dataclass(frozen=True)
class KeptOut:
    """The line that keeps a module out. ``never``: also where it is asked for by its name."""

    path: str
    line: str
    never: bool = False


@dataclass(frozen=True)
class ModuleFacts:
    """What is in the kernel.

    ``listed``: modules by lsmod; ``known``: by /sys/module, which has built-in ones, too.
    ``there``: by directory, whether a part of the kernel shows itself there. ``devices``: RDMA
    devices;
    ``verbs``: their uverbs files; ``modes``: permissions below /dev/infiniband by name.
    ``ipoib``: configured InfiniBand interfaces. ``kept_out``: by module, what modprobe is told to keep out.
    ``rivals``: the rivals of NVIDIA's driver that the running kernel has a file of; missing where it
    has no list of its modules.
    """

    listed: Reading[tuple[str, ...]] = field(default_factory=Reading)
    known: Reading[tuple[str, ...]] = field(default_factory=Reading)
    there: dict[str, Reading[bool]] = field(default_factory=dict)
    devices: Reading[tuple[str, ...]] = field(default_factory=Reading)
    verbs: Reading[tuple[str, ...]] = field(default_factory=Reading)
    modes: dict[str, Reading[int]] = field(default_factory=dict)
    ipoib: Reading[tuple[str, ...]] = field(default_factory=Reading)
    kept_out: Reading[dict[str, KeptOut]] = field(default_factory=Reading)
    rivals: Reading[tuple[str, ...]] = field(default_factory=Reading)


@dataclass(frozen=True)
class Unit:
    """A systemd unit in systemd's own words: ``loaded``, ``active``, ``enabled``; pid 0: none.

    ``sub``: the finer state (``running``, ``auto-restart``), "" where it was not told.
    """

    name: str
    load: str
    active: str
    enabled: str
    pid: int = 0
    sub: str = ""


MANAGER = "systemd"


@dataclass(frozen=True)
class UnitLimit:
    """What a unit's files ask for: ``value`` as systemd understood it (None: it did not say), and
    the last line that sets it, with its file; "" where no file does."""

    value: int | None = None
    line: str = ""
    path: str = ""


@dataclass(frozen=True)
class LoginLimit:
    """What a login by ssh may lock, in bytes; the file and the line of pam_limits that say so, ""
    where it is sshd's own limit. ``low``: every file and line that has to change before a login may
    lock all. ``domain``: a user or group (@) that has less than everybody, "" for everybody."""

    memlock: int
    path: str = ""
    line: str = ""
    low: tuple[tuple[str, str], ...] = ()
    domain: str = ""


@dataclass(frozen=True)
class ServiceFacts:
    """What systemd runs, by subject, and the limits it gives: by default, and to each service that
    starts jobs, as the kernel shows them for its main process.

    ``asked``: by service and limit (MEMLOCK, NOFILE), what its unit asks for, and for the manager
    (``MANAGER``) what sets its default. ``login``: of everybody, then of who has less; missing where no sshd runs.
    ``sharp``: SHARP's manager, missing where this host is not to run it.
    """

    rdma: Reading[tuple[Unit, ...]] = field(default_factory=Reading)
    jobs: Reading[tuple[Unit, ...]] = field(default_factory=Reading)
    time: Reading[tuple[Unit, ...]] = field(default_factory=Reading)
    sharp: Reading[tuple[Unit, ...]] = field(default_factory=Reading)
    defaults: Reading[Limits] = field(default_factory=Reading)
    limits: dict[str, Reading[Limits]] = field(default_factory=dict)
    asked: dict[str, dict[str, UnitLimit]] = field(default_factory=dict)
    login: Reading[tuple[LoginLimit, ...]] = field(default_factory=Reading)
    synchronised: Reading[bool] = field(default_factory=Reading)


@dataclass(frozen=True)
class UpdateFacts:
    """Automatic updates: who installs them ("": nobody; missing: there is neither apt nor dnf), why
    nobody does, and what they leave alone."""

    who: Reading[str] = field(default_factory=Reading)
    why: str = ""
    left_alone: Reading[tuple[str, ...]] = field(default_factory=Reading)


@dataclass(frozen=True)
class SysctlLine:
    """A line of sysctl.d: ``key`` as a path below /proc/sys, and the line itself."""

    key: str
    value: str
    path: str
    line: str


@dataclass(frozen=True)
class UnitFiles:
    """``program``: what the package has the unit start. ``lines``: of its file and drop-ins, in systemd's order."""

    name: str
    program: str
    lines: tuple[SysctlLine, ...]


@dataclass(frozen=True)
class BootFacts:
    """What the next boot sets and starts by itself.

    ``sysctls``: in the order in which systemd reads them; the last of a key counts. ``running``: of
    the keys that are judged whoever made them. ``modules``: by name, a file that has it loaded.
    ``users``: by loaded module, those that need it. ``live``: what /sys/module says was loaded, of
    those that no device brings along. ``services``: units that a node
    needs again; ``units``: what their files will have them do. ``kubelet``:
    whether the host is a Kubernetes node.
    """

    sysctls: Reading[tuple[SysctlLine, ...]] = field(default_factory=Reading)
    running: dict[str, Reading[str]] = field(default_factory=dict)
    modules: Reading[dict[str, str]] = field(default_factory=Reading)
    users: Reading[dict[str, tuple[str, ...]]] = field(default_factory=Reading)
    live: dict[str, bool] = field(default_factory=dict)
    services: Reading[tuple[Unit, ...]] = field(default_factory=Reading)
    units: Reading[tuple[UnitFiles, ...]] = field(default_factory=Reading)
    kubelet: Reading[bool] = field(default_factory=Reading)


@dataclass(frozen=True)
class HostFacts:
    """The rooms of the host area."""

    kernel: KernelFacts = field(default_factory=KernelFacts)
    modules: ModuleFacts = field(default_factory=ModuleFacts)
    services: ServiceFacts = field(default_factory=ServiceFacts)
    updates: UpdateFacts = field(default_factory=UpdateFacts)
    resources: ResourceFacts = field(default_factory=ResourceFacts)
    floors: FloorFacts = field(default_factory=FloorFacts)
    disks: DiskFacts = field(default_factory=DiskFacts)
    bmc: BmcFacts = field(default_factory=BmcFacts)
    name: NameFacts = field(default_factory=NameFacts)
    boot: BootFacts = field(default_factory=BootFacts)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; of all modules only those that a check asks for."""
        found = asdict(self)
        for entry in ("listed", "known"):
            names = found["modules"][entry]["value"]
            if names is not None:
                found["modules"][entry]["value"] = [name for name in names if name in ASKED_FOR]
        return found
