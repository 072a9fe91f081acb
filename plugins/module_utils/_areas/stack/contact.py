# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is, read before any driver or tool is there: from files, but for a rack's NVLink domain."""

from __future__ import annotations

import os
import re
import sys
from typing import Callable, TypeVar

from ..._data import stack_components
from ..._data.boards import BOARDS
from ..._data.drivers import USABLE
from ..._evidence import ask as _ask
from ..._evidence.sources import Evidence, Missing, Unavailable
from ..._parse import nvsmi_xml
from ..._parse.packages import Package, named
from ..machine import observe as machine
from ..machine.facts import MARK_UNREADABLE, Machine, PciFunction
from . import beside, observe as stack
from .check_installed import installed as rdma_installed
from .contact_facts import Function, NodeReported
from .facts import StackFacts

# What a plan may name and a table compares; engines are told apart.
_PARTS = (
    *("fabric_manager", "nscq", "imex", "nvlsm", "nccl", "container_toolkit", "cuda", "dcgm"),
    *("gdrcopy", "gds"),
)
_ENGINES = ("docker", "containerd", "podman", "cri-o")
_UPSTREAM = re.compile(r"(?:[0-9]{1,9}:)?([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})")
# Neither of them is zero in a domain.
_CLUSTER = re.compile(r"(?=[0-]*[1-9a-fA-F])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CLIQUE = re.compile(r"[1-9][0-9]{0,9}")
_INFINIBAND = "/sys/class/infiniband"
_FIRMWARE = "/sys/firmware/efi"
# The variable's GUID is that of the UEFI specification's global variables; its last byte is the
# value.
_SECURE_BOOT = f"{_FIRMWARE}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

T = TypeVar("T")


def collect(evidence: Evidence) -> NodeReported:
    """All facts of RETURN in the module node_facts; what cannot be read lands in unreadable."""
    unreadable: list[str] = []

    def attempt(read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except (Unavailable, ValueError) as exc:
            unreadable.append(str(exc))
            return otherwise

    no_os: dict[str, str] = {}
    no_names: list[str] = []
    pci = machine.pci_functions(evidence)
    if pci.value is None:
        unreadable.append(pci.why)
    functions = [entry for entry in pci.value or () if not entry.virtual]
    seen = machine.observe(evidence)
    known = stack.observe(evidence, seen)
    if known.packages.value is None:
        unreadable.append(known.packages.why)
    devices = attempt(lambda: _names(evidence, _INFINIBAND), no_names)
    parts = _parts(known)
    return {
        "hostname": os.uname().nodename,
        "kernel": os.uname().release,
        "machine": os.uname().machine,
        "os": attempt(lambda: os_release(evidence.read("/etc/os-release")), no_os),
        "python": sys.version.split()[0],
        "root": os.geteuid() == 0,
        "cpus": os.cpu_count(),
        "memory_mb": attempt(lambda: memory_mb(evidence.read("/proc/meminfo")), None),
        "gpus": [_shown(function) for function in functions if function.is_gpu],
        "hcas": [_shown(function) for function in functions if function.is_hca],
        "nvswitches": [function.device for function in functions if function.is_nvswitch],
        "nvlink_domain": "" if _in_no_rack(seen, parts) else nvlink_domain(evidence),
        "product": attempt(lambda: product(evidence), ""),
        "secure_boot": attempt(lambda: secure_boot(evidence), None),
        "installed": parts,
        "engines": _engines(known),
        "rdma_devices": devices,
        "soft_rdma_devices": attempt(lambda: _soft(evidence, devices), no_names),
        "beside": beside.collect(evidence),
        "simulated": attempt(lambda: machine.read_mark(evidence), MARK_UNREADABLE),
        "unreadable": unreadable,
    }


def nvlink_domain(evidence: Evidence) -> str | None:
    """``CLUSTER-UUID.CLIQUE`` of a rack's host, as NVIDIA labels the nodes of a cluster with it.

    None where nvidia-smi cannot tell (no driver yet), or tells of no domain, or of several.
    """
    told = _ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=USABLE)
    fabrics = [gpu.fabric or {} for gpu in (told.value.gpus if told.value else ())]
    found = {(entry.get("clusterUuid", ""), entry.get("cliqueId", "")) for entry in fabrics}
    if len(found) != 1:
        return None
    cluster, clique = found.pop()
    return f"{cluster}.{clique}" if _CLUSTER.fullmatch(cluster) and _CLIQUE.fullmatch(clique) else None


def _in_no_rack(seen: Machine, installed: dict[str, str]) -> bool:
    """Whether the host's NVLinks surely do not leave it: one that nobody recognised may be of a rack."""
    if seen.board is not None:
        return not seen.board.imex
    if installed.get("imex"):
        return False
    racks = {board.gpu for board in BOARDS if board.imex}
    return seen.pci.known and all(gpu is not None and gpu.model not in racks for gpu in seen.gpus.value or ())


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


def product(evidence: Evidence) -> str:
    """The product name of the firmware's tables, "" where there is none."""
    try:
        return evidence.read("/sys/class/dmi/id/product_name").strip()
    except Missing:
        return ""


def secure_boot(evidence: Evidence) -> bool:
    """Whether the firmware demands signed boot loaders and modules; False without UEFI."""
    try:
        evidence.list(_FIRMWARE)
    except Missing:
        return False
    try:
        return evidence.read_bytes(_SECURE_BOOT)[-1:] == b"\x01"
    except Missing:
        return False


def _shown(function: PciFunction) -> Function:
    return {
        "address": function.address,
        "class": function.class_code,
        "vendor": function.vendor,
        "device": function.device,
        "numa_node": function.numa_node,
    }


def _names(evidence: Evidence, path: str) -> list[str]:
    """The names in a directory that may rightly be absent: no RDMA driver is loaded yet."""
    try:
        return sorted(evidence.list(path))
    except Missing:
        return []


def _soft(evidence: Evidence, devices: list[str]) -> list[str]:
    """RDMA devices in software: those that no hardware carries."""
    found = []
    for name in devices:
        try:
            evidence.link(f"{_INFINIBAND}/{name}/device")
        except Missing:
            found.append(name)
    return found


def _parts(facts: StackFacts) -> dict[str, str]:
    """The version of each part, "" where it is not installed; {} where nobody could look."""
    if facts.packages.value is None:
        return {}
    found = {name: _version(facts.packages.value, name) for name in _PARTS}
    rdma = rdma_installed(facts).value
    found["rdma"] = str(rdma) if rdma is not None and rdma.flavour else ""
    found["driver"] = _driver(facts, facts.packages.value)
    return found


def _engines(facts: StackFacts) -> dict[str, str]:
    """The container engines that are installed, and their upstream versions."""
    packages = facts.packages.value or ()
    versions = {name: _UPSTREAM.match(_version(packages, name)) for name in _ENGINES}
    return {name: match.group(1) for name, match in versions.items() if match}


def _version(packages: tuple[Package, ...], part: str) -> str:
    mine = named(packages, stack_components.PACKAGES.get(part, (part,)))
    return mine[0].version if mine else ""


def _driver(facts: StackFacts, packages: tuple[Package, ...]) -> str:
    """The loaded driver, else the one that is installed."""
    if facts.driver.value is not None:
        kind = "open" if facts.driver.value.open else "proprietary"
        return f"{facts.driver.value.version} {kind}"
    modules = [package.name for package in packages if package.name.startswith(stack_components.DRIVER_MODULES)]
    kind = "" if not modules else " open" if any("open" in name for name in modules) else " proprietary"
    for name in stack_components.DRIVER_INSTALLED:
        for package in packages:
            if package.name == name or package.name.startswith(f"{name}-"):
                return f"{package.version}{kind} (not loaded)"
    return ""
