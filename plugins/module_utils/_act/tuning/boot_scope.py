# SPDX-License-Identifier: GPL-3.0-or-later
"""On which hosts ACS, read requests and the CPU governor are ours to set; no I/O.

The same hosts on which the checks pci.bridge.acs, pci.hca.read_request and host.cpu.governor judge.
"""

from __future__ import annotations

from typing import Any

from ..._areas.machine.facts import MELLANOX, Machine
from ..._data.gpus import SUPERCHIP
from ..._data.pcie import PASSED_ON


def scope(asked: dict[str, Any], machine: Machine, policies: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Split what is asked for into what is for this host, and the rest with the reason."""
    config: dict[str, Any] = {}
    left: dict[str, str] = {}
    reasons = {
        "acs": _acs(machine),
        "read_request": _read_request(machine),
        "governor": _common(machine) or ("" if policies else "this kernel does not govern the CPU clocks (no cpufreq)"),
    }
    for knob, value in asked.items():
        if value and not reasons[knob]:
            config[knob] = value
        elif value:
            left[knob] = reasons[knob]
    return config, left


def _common(machine: Machine) -> str:
    if machine.container:
        return f"inside a container ({machine.container}): it belongs to the machine that runs it"
    if machine.virtual.value:
        return "a virtual machine: its hypervisor decides this"
    return ""


def _bus(machine: Machine) -> str:
    if machine.pci.value is None:
        return machine.pci.why or "nobody could read the PCI bus"
    if machine.virtual.value is None:
        return f"nobody can tell whether this is a virtual machine ({machine.virtual.why})"
    return _common(machine)


def _acs(machine: Machine) -> str:
    if _bus(machine) or not machine.has_gpus:
        return _bus(machine) or "no NVIDIA GPU on the PCI bus"
    if any(gpu and gpu.form == SUPERCHIP for gpu in machine.gpus.value or ()):
        return "on Grace, ACS is set as NVIDIA's guide says (rdma_topo), not cleared"
    handed = [function.address for function in machine.functions if function.watched and function.driver in PASSED_ON]
    if handed:
        return f"{', '.join(handed[:3])} handed to virtual machines, which ACS keeps apart"
    return ""


def _read_request(machine: Machine) -> str:
    if _bus(machine) or any(hca.vendor == MELLANOX for hca in machine.hcas):
        return _bus(machine)
    return "no HCA of NVIDIA on the PCI bus"
