# SPDX-License-Identifier: GPL-3.0-or-later
"""What a probe tells of containers on a host."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._container_desired import Desired
from .proc_limits import Limits

# How a container ended, and where an image came from.
RAN, FAILED, NO_SHELL = "ran", "failed", "no_shell"
BUILT, LOCAL, PULLED = "built", "local", "pulled"
# A device that opens, one that nobody tried to open, and an answer of libibverbs.
OK, UNOPENED = "ok", "unopened"


@dataclass(frozen=True)
class Engine:
    """``name``: docker, podman or containerd; ``program``: what it is told by."""

    name: str
    version: str
    program: str


@dataclass(frozen=True)
class Package:
    """A package of the image."""

    name: str
    version: str


@dataclass(frozen=True)
class Inside:
    """What one user sees inside. ``effective``: its capabilities as the kernel's bits.

    ``own_users``: user numbers are another's outside, so that no capability counts for the
    hardware. ``devices``: below /dev/infiniband, OK, UNOPENED or why it does not open.
    ``shm_kind``: the file system at /dev/shm, "" for none; ``shm``: bytes that it may hold, None
    where that is not told.
    ``interfaces``: name, and whether it is an RDMA device's. ``rdma``: names in
    /sys/class/infiniband. ``libraries``: files by their full path. ``drivers``: what
    /etc/libibverbs.d names. ``os``: ID, ID_LIKE and VERSION_ID. ``packages``: None where the image
    has no package manager that can be asked. ``gpus``: device files; ``smi``: lines of
    `nvidia-smi -L`, None where there is none; ``smi_rc``: its status.
    ``conf``: the lines of /etc/nccl.conf, None where there is none; ``conf_denied``: this user may
    not read it. ``environment``: what is set of NCCL and CUDA. ``cuda_json``: lines of
    /usr/local/cuda/version.json; ``cudart``: paths of libcudart, and of what pip notes of it;
    ``compat``: those of libcuda of the compatibility packages; ``libcuda``: libcuda.so.1 as the
    loader finds it, the first before all others, and the file that it leads to ("untold" where
    that cannot be seen), None where nobody looked. ``opens_by``: who asked libibverbs to open
    its devices, ``opens``: OK or the reason by device, ``opens_said``: complaints.
    """

    uid: int
    effective: int
    own_users: bool
    limits: Limits
    devices: dict[str, str] = field(default_factory=dict)
    shm: int | None = None
    shm_kind: str = ""
    interfaces: dict[str, bool] = field(default_factory=dict)
    rdma: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    os: dict[str, str] = field(default_factory=dict)
    packages: tuple[Package, ...] | None = None
    gpus: tuple[str, ...] = ()
    smi: tuple[str, ...] | None = None
    smi_rc: int = 0
    conf: tuple[str, ...] | None = None
    conf_denied: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    cuda_json: tuple[str, ...] = ()
    cudart: tuple[str, ...] = ()
    compat: tuple[str, ...] = ()
    libcuda: dict[str, str] | None = None
    opens_by: str = ""
    opens: dict[str, str] = field(default_factory=dict)
    opens_said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One container. ``who``: root or user; ``how``: RAN, FAILED or NO_SHELL; ``said``: the engine,
    where it did not run."""

    who: str
    user: int
    how: str
    said: str = ""
    inside: Inside | None = None


@dataclass(frozen=True)
class ContainerProbe:
    """All of it. ``wish``: what was asked for, as `Desired.kept`. ``no_engine``: why there is none;
    ``unusable``: what the engine that is there said (``engine`` has its name and no version then);
    ``no_image``: why no container could be started."""

    wish: Desired = field(default_factory=Desired)
    engine: Engine | None = None
    no_engine: str = ""
    unusable: str = ""
    image: str = ""
    origin: str = ""
    no_image: str = ""
    runs: tuple[Run, ...] = ()
