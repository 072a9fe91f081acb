# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of GPUDirect Storage: gathered by observe_gds.py."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._ground.reading import Reading
from ..._parse.cufile_json import CufileJson
from ..._parse.gdscheck import Gdscheck
from ..._parse.mounts import Mount


@dataclass(frozen=True)
class GdsConf:
    """cuFile's own file: ``read``, or why it is none that cuFile could read (``broken``)."""

    read: CufileJson | None = None
    broken: str = ""


@dataclass(frozen=True)
class GdsMount:
    """A mount point that the site wants by GPUDirect Storage. ``mount``: missing where nothing is mounted there.
    ``disks``: of ext4 and xfs, what lies below, as the kernel calls it, with the transport of an NVMe (pcie, rdma,
    tcp); "" of what is none."""

    point: str
    mount: Reading[Mount] = field(default_factory=Reading)
    disks: Reading[dict[str, str]] = field(default_factory=Reading)


@dataclass(frozen=True)
class Gds:
    """``sign``: why the host is looked at; missing where neither the site nor the host speaks of it.

    ``tool``: what gdscheck tells; missing where it is not installed. ``conf``: missing without a file.
    ``loaded``: the version of nvidia_fs in the kernel; missing where it is not loaded. ``hooked``: the modules that it
    hooked into. ``modules``: of those that it would, the loaded ones. ``addresses``: the interface of each of the
    host's; ``rdma``: RDMA devices and the interfaces upon them.
    """

    sign: Reading[str] = field(default_factory=Reading)
    tool: Reading[Gdscheck] = field(default_factory=Reading)
    conf: Reading[GdsConf] = field(default_factory=Reading)
    loaded: Reading[str] = field(default_factory=Reading)
    hooked: Reading[tuple[str, ...]] = field(default_factory=Reading)
    modules: Reading[tuple[str, ...]] = field(default_factory=Reading)
    mounts: tuple[GdsMount, ...] = ()
    addresses: Reading[dict[str, str]] = field(default_factory=Reading)
    rdma: Reading[tuple[str, ...]] = field(default_factory=Reading)
