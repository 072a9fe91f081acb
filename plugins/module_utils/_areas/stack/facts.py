# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of the installed stack: gathered by observe.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..._ground.reading import Reading
from ..._parse._beegfs_log import BeegfsLog
from ..._parse.beegfs_net import BeegfsNode
from ..._parse.ofed_info import OfedInfo
from ..._parse.ompi_info import OmpiInfo
from ..._parse.packages import Package
from ..._parse.ucx_info import UcxInfo
from .gds_facts import Gds
from .kmods_facts import KmodFacts


@dataclass(frozen=True)
class Dkms:
    """A module package that DKMS knows, and the kernels that it was built for.

    ``failed``: the lines that its build for the running kernel ended by, and ``why``, "" where
    nobody knows what they mean; of a build for another kernel nothing.
    """

    name: str
    version: str
    kernels: tuple[str, ...]
    failed: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver that is loaded; ``open``: its open kernel modules."""

    version: str
    open: bool


@dataclass(frozen=True)
class PeerMemory:
    """``modules``: those of nvidia-peermem's kind that are loaded. ``clients``: who registered
    with the RDMA stack. ``symbol``: whether a vendor stack exports what nvidia-peermem is built
    against; looked for only where nobody registered."""

    modules: Reading[tuple[str, ...]] = field(default_factory=Reading)
    clients: Reading[tuple[str, ...]] = field(default_factory=Reading)
    symbol: Reading[bool] = field(default_factory=Reading)


@dataclass(frozen=True)
class Beegfs:
    """``nodes``: the servers of every mounted file system, with the connections of now; missing
    where none is mounted. ``use_rdma``: what the client's file says; ``to_helper``: whether it has the client log by
    beegfs-helperd, as only BeeGFS 7 does. ``kernel``: what the client says in the kernel's log; ``helper``: in the
    helper's file, missing where there is none. ``since``: whether the kernel's log begins after the boot.
    ``half_read``: why the silence of a log that was read says nothing, "" where it does."""

    nodes: Reading[tuple[BeegfsNode, ...]] = field(default_factory=Reading)
    use_rdma: Reading[bool] = field(default_factory=Reading)
    to_helper: Reading[bool] = field(default_factory=Reading)
    kernel: Reading[BeegfsLog] = field(default_factory=Reading)
    helper: Reading[BeegfsLog] = field(default_factory=Reading)
    since: bool = False
    half_read: str = ""


@dataclass(frozen=True)
class Verbs:
    """The user space of RDMA beside libibverbs itself.

    ``rdmacm``: every librdmacm. ``named``: by provider, the file that has libibverbs load it.
    ``providers``: those that are there. ``drivers``: by RDMA device, the kernel driver below it.
    ``kubelet``: whether the host is a Kubernetes node. ``refused``: what libibverbs said where it
    took none of the devices that the kernel offers it, "" where it took one.
    """

    rdmacm: Reading[tuple[str, ...]] = field(default_factory=Reading)
    named: Reading[dict[str, str]] = field(default_factory=Reading)
    providers: Reading[tuple[str, ...]] = field(default_factory=Reading)
    drivers: Reading[dict[str, str]] = field(default_factory=Reading)
    kubelet: Reading[bool] = field(default_factory=Reading)
    refused: Reading[str] = field(default_factory=Reading)


@dataclass(frozen=True)
class Held:
    """``count``: how many of the installed packages ibready holds; ``loose``: those that are not held now."""

    count: int
    loose: tuple[str, ...] = ()


@dataclass(frozen=True)
class Brought:
    """``count``: how many packages ibready brought or holds; ``gone``: those that are not installed."""

    count: int
    gone: tuple[str, ...] = ()


@dataclass(frozen=True)
class OurFiles:
    """``count``: how many files of ibready's there are; ``wrong``: those in whose place is something else, and what."""

    count: int
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A library of the driver's by the name that programs ask for, and the file that the linker takes. ``release``: of
    which driver, "" where nothing tells. ``by``: the file that has the linker look there, "" for its own folders."""

    name: str
    path: str
    release: str = ""
    by: str = ""


@dataclass(frozen=True)
class Linker:
    """``preload``: the text of /etc/ld.so.preload; missing where there is none, as is usual."""

    taken: Reading[tuple[Loaded, ...]] = field(default_factory=Reading)
    preload: Reading[str] = field(default_factory=Reading)


@dataclass(frozen=True)
class Repository:
    """The file of a repository that ibready wrote. ``wrong``: what is not as it wrote it; ``unknown``: why nobody
    can tell."""

    path: str
    wrong: str = ""
    unknown: str = ""


@dataclass(frozen=True)
class StackFacts:
    """``packages``: those that some check asks for, by ``database`` (dpkg or rpm). ``held``: missing
    where ibready holds none, as ``brought``; ``repositories`` and ``files_of_ours`` where it wrote none.
    ``lacks``: what the package manager itself says that installed packages lack; missing where it cannot be asked.

    ``devices``: RDMA devices; ``fabric``: whether one has an InfiniBand port. ``mlx5``: version of
    the loaded mlx5_core, "" where it tells none, as the kernel's own does; missing where it is not
    loaded. ``files``: the file that modprobe would load, by module. ``verbs``: every libibverbs;
    ``userspace``: what it needs. ``nccl``: every libnccl in a folder of the linker's own.
    ``ompi``, ``ucx``: missing where Open MPI or ucx_info is not installed. ``ucx_conf``: what UCX's
    own file sets for every job, by name; missing where there is no file.
    """

    ofed: Reading[OfedInfo] = field(default_factory=Reading)
    packages: Reading[tuple[Package, ...]] = field(default_factory=Reading)
    database: str = ""
    held: Reading[Held] = field(default_factory=Reading)
    brought: Reading[Brought] = field(default_factory=Reading)
    lacks: Reading[tuple[str, ...]] = field(default_factory=Reading)
    files_of_ours: Reading[OurFiles] = field(default_factory=Reading)
    repositories: Reading[tuple[Repository, ...]] = field(default_factory=Reading)
    devices: Reading[tuple[str, ...]] = field(default_factory=Reading)
    fabric: Reading[bool] = field(default_factory=Reading)
    mlx5: Reading[str] = field(default_factory=Reading)
    files: Reading[dict[str, str]] = field(default_factory=Reading)
    dkms: Reading[tuple[Dkms, ...]] = field(default_factory=Reading)
    headers: Reading[bool] = field(default_factory=Reading)
    next: KmodFacts = field(default_factory=KmodFacts)
    verbs: Reading[tuple[str, ...]] = field(default_factory=Reading)
    userspace: Verbs = field(default_factory=Verbs)
    nccl: Reading[tuple[str, ...]] = field(default_factory=Reading)
    driver: Reading[Driver] = field(default_factory=Reading)
    linker: Linker = field(default_factory=Linker)
    peer: PeerMemory = field(default_factory=PeerMemory)
    cuda: Reading[str] = field(default_factory=Reading)
    ompi: Reading[OmpiInfo] = field(default_factory=Reading)
    ucx: Reading[UcxInfo] = field(default_factory=Reading)
    ucx_conf: Reading[dict[str, str]] = field(default_factory=Reading)
    beegfs: Beegfs = field(default_factory=Beegfs)
    gds: Gds = field(default_factory=Gds)

    def package(self, *names: str) -> Package | None:
        """The first of these that is installed, in this order."""
        installed = {package.name: package for package in self.packages.value or ()}
        return next((installed[name] for name in names if name in installed), None)

    def packaged(self, found: Package | None, files: Reading[tuple[str, ...]]) -> Reading[Package]:
        """The package of these files; missing where neither it nor one of them is there.

        A damaged database of packages tells twice alike that there is none: the disk is another witness."""
        if found is not None or self.packages.value is None:
            return Reading(found, self.packages.why)
        if files.value is None:
            return Reading(None, files.why or "nobody looked for its files")
        if not files.value:
            return Reading(None, "no package of it is installed", True)
        why = f"no package brought {files.value[0]}, or the list of packages is not whole"
        ask = "`dpkg -S`, `dpkg --audit`" if self.database == "dpkg" else "`rpm -qf`, `rpm --verifydb`"
        return Reading(None, f"{why}: ask {ask}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
