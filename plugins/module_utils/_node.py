# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is, read from files alone, before any driver or tool is there."""

from __future__ import annotations

import json
import os
import platform
import re
from typing import Any, Callable, TypeVar

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Missing,
    Unavailable,
)

NVIDIA = "10de"
# PCI vendors whose Ethernet controllers may do RDMA: Mellanox/NVIDIA, Broadcom, Intel, Chelsio.
RDMA_VENDORS = ("15b3", "14e4", "8086", "1425")
_PCI = "/sys/bus/pci/devices"
_INFINIBAND = "/sys/class/infiniband"
# Written by the sandbox into its nodes, and by nobody else.
SANDBOX_MARK = "/etc/ibready-sandbox.json"
# A mark that cannot be read must not pass for real hardware.
_MARK_UNREADABLE = "unreadable sandbox mark"

T = TypeVar("T")


def collect(evidence: Evidence) -> dict[str, Any]:
    """All facts of RETURN in the module node_facts; what cannot be read lands in unreadable."""
    unreadable: list[str] = []

    def attempt(read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except (Unavailable, ValueError) as exc:
            unreadable.append(str(exc))
            return otherwise

    no_devices: list[dict[str, Any]] = []
    no_os: dict[str, str] = {}
    no_names: list[str] = []
    devices = attempt(lambda: pci_devices(evidence), no_devices)
    return {
        "hostname": platform.node(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "os": attempt(lambda: os_release(evidence.read("/etc/os-release")), no_os),
        "python": platform.python_version(),
        "root": os.geteuid() == 0,
        "cpus": os.cpu_count(),
        "memory_mb": attempt(lambda: memory_mb(evidence.read("/proc/meminfo")), None),
        "gpus": [one for one in devices if is_gpu(one)],
        "hcas": [one for one in devices if is_hca(one)],
        "rdma_devices": attempt(lambda: _names(evidence, _INFINIBAND), no_names),
        "simulated": attempt(lambda: _simulated(evidence), _MARK_UNREADABLE),
        "unreadable": unreadable,
    }


def pci_devices(evidence: Evidence) -> list[dict[str, Any]]:
    """Every PCI function: address, class, vendor and device id (hex, no 0x), NUMA node or -1."""
    found = []
    for address in sorted(evidence.list(_PCI)):
        found.append(
            {
                "address": address,
                "class": _hex(evidence, address, "class"),
                "vendor": _hex(evidence, address, "vendor"),
                "device": _hex(evidence, address, "device"),
                "numa_node": _numa(evidence, address),
            }
        )
    return found


def is_gpu(device: dict[str, Any]) -> bool:
    """NVIDIA VGA (0300) or 3D (0302) controllers."""
    return device["vendor"] == NVIDIA and str(device["class"])[:4] in ("0300", "0302")


def is_hca(device: dict[str, Any]) -> bool:
    """InfiniBand controllers (0207), or Ethernet (0200) of a vendor with RDMA."""
    kind = str(device["class"])[:4]
    return kind == "0207" or (kind == "0200" and device["vendor"] in RDMA_VENDORS)


def os_release(text: str) -> dict[str, str]:
    """Id and version of os-release(5); raises ValueError where there is no ID."""
    pairs = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)"?$', text, flags=re.MULTILINE))
    if not pairs.get("ID"):
        raise ValueError("/etc/os-release: no ID line")
    return {"id": pairs["ID"], "version": pairs.get("VERSION_ID", "")}


def memory_mb(meminfo: str) -> int | None:
    """MemTotal of /proc/meminfo in MiB; raises ValueError where the line is missing."""
    match = re.search(r"^MemTotal:\s+(\d+) kB$", meminfo, flags=re.MULTILINE)
    if match is None:
        raise ValueError("/proc/meminfo: no MemTotal line")
    return int(match.group(1)) // 1024


def _hex(evidence: Evidence, address: str, name: str) -> str:
    text = evidence.read(f"{_PCI}/{address}/{name}").strip()
    if not re.match(r"\A0x[0-9a-fA-F]+\Z", text):
        raise ValueError(f"{_PCI}/{address}/{name}: {text[:40]!r} is not a hexadecimal number")
    return text[2:].lower()


def _numa(evidence: Evidence, address: str) -> int:
    try:
        return int(evidence.read(f"{_PCI}/{address}/numa_node"))
    except (Unavailable, ValueError):
        return -1


def _names(evidence: Evidence, path: str) -> list[str]:
    """The names in a directory that may rightly be absent: no RDMA driver is loaded yet."""
    try:
        return sorted(evidence.list(path))
    except Missing:
        return []


def _simulated(evidence: Evidence) -> str:
    try:
        mark = json.loads(evidence.read(SANDBOX_MARK))
    except Missing:
        return ""
    except ValueError:
        return _MARK_UNREADABLE
    what = mark.get("what") if isinstance(mark, dict) else None
    return str(what or "InfiniBand fabric")
