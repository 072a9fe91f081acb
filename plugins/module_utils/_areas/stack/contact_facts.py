# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module node_facts tells of a host: gathered by contact.py."""

from __future__ import annotations

from typing import TypedDict


class _Ids(TypedDict):
    vendor: str
    device: str


# No class of Python's can have a field of that name.
_Class = TypedDict("_Class", {"class": str}, total=False)


class Function(_Ids, _Class, total=False):  # pylint: disable=inherit-non-class
    """A PCI function: class and ids without 0x, NUMA node or -1."""

    address: str
    numa_node: int


class Beside(TypedDict):
    """What somebody else set beside what ibready writes. ``kind``: sysctl, limit, container, manager, conffile, or more
    (``what`` is how many); ``where``: the file that says ``said`` of ``what``, "" of a service."""

    kind: str
    what: str
    said: str
    where: str


class NodeReported(TypedDict, total=False):
    """``node`` of node_facts."""

    hostname: str
    kernel: str
    machine: str
    os: dict[str, str]
    python: str
    root: bool
    cpus: int | None
    memory_mb: int | None
    gpus: list[Function]
    hcas: list[Function]
    nvswitches: list[str]
    nvlink_domain: str | None
    product: str
    secure_boot: bool | None
    installed: dict[str, str] | None
    engines: dict[str, str] | None
    offered: dict[str, list[str]]
    rdma_devices: list[str]
    soft_rdma_devices: list[str]
    beside: list[Beside]
    simulated: str
    unreadable: list[str]
