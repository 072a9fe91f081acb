# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather how the kernel runs: command line, IOMMU, CPU clocks, memory policy, its log."""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from ansible_collections.ibready.cluster.plugins.module_utils._data import host_sysctls
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Missing,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.host import KernelFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import (
    MELLANOX,
    Machine,
)
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import to_int

CMDLINE = "/proc/cmdline"
SYSCTLS = "/proc/sys"
PCI = "/sys/bus/pci/devices"
GROUPS = "/sys/kernel/iommu_groups"
CPUFREQ = "/sys/devices/system/cpu/cpufreq"
NUMA_BALANCING = "/proc/sys/kernel/numa_balancing"
ZONE_RECLAIM = "/proc/sys/vm/zone_reclaim_mode"
EFI = "/sys/firmware/efi"
# The variable's name ends in the GUID of the UEFI specification's global variables.
VARIABLES = f"{EFI}/efivars"
SECURE_BOOT = f"{VARIABLES}/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_POLICY = re.compile(r"policy[0-9]{1,5}")
# Handed to a virtual machine: the domain is that machine's.
_HANDED_OVER = "vfio-pci"


def observe(evidence: Evidence, machine: Machine) -> KernelFacts:
    """Everything from files; the log from dmesg."""
    return KernelFacts(
        cmdline=_ask.text(evidence, CMDLINE),
        domains=_domains(evidence, machine),
        governors=_governors(evidence),
        numa_balancing=_ask.file(evidence, NUMA_BALANCING, to_int),
        zone_reclaim=_ask.file(evidence, ZONE_RECLAIM, to_int),
        sysctls={name: _sysctl(evidence, name) for name in host_sysctls.NAMES},
        secure_boot=_secure_boot(evidence),
        log=_ask.command(evidence, "dmesg", dmesg.parse),
    )


def _sysctl(evidence: Evidence, name: str) -> Reading[str]:
    value = _ask.text(evidence, f"{SYSCTLS}/{name.replace('.', '/')}")
    return value.map(lambda text: " ".join(text.split()))


def _domains(evidence: Evidence, machine: Machine) -> Reading[dict[str, str]]:
    """The domain type of every GPU and of every HCA of an RDMA vendor."""
    if machine.pci.value is None:
        return Reading(None, machine.pci.why)
    groups = _ask.names(evidence, GROUPS)
    if not groups.value:
        # There and empty: the kernel uses no IOMMU. Not there: it cannot.
        return Reading({}) if groups.known else Reading(None, groups.why, groups.missing)
    found: dict[str, str] = {}
    wanted = [one for one in (*machine.cards, *machine.hcas) if one.driver != _HANDED_OVER]
    for one in wanted:
        if one.is_hca and one.vendor != MELLANOX:
            continue
        group = _ask.link(evidence, f"{PCI}/{one.address}/iommu_group")
        if group.missing:
            continue
        # With "" for what cannot be told: that there are groups is known all the same.
        name = posixpath.basename(group.value or "")
        found[one.address] = (
            _ask.text(evidence, f"{GROUPS}/{name}/type").value or "" if name else ""
        )
    if not found:
        return Reading(None, f"{GROUPS}: no GPU and no HCA is in any group")
    return Reading(found)


def _governors(evidence: Evidence) -> Reading[dict[str, int]]:
    try:
        policies = [name for name in evidence.list(CPUFREQ) if _POLICY.fullmatch(name)]
        if not policies:
            return Reading(None, f"{CPUFREQ}: no CPU clock is governed", missing=True)
        told = [evidence.read(f"{CPUFREQ}/{one}/scaling_governor").strip() for one in policies]
    except Missing as exc:
        # The directory itself, not a file of a policy that is there.
        return Reading(None, str(exc), exc.what == CPUFREQ)
    except Unavailable as exc:
        return Reading(None, str(exc))
    if not all(told):
        return Reading(None, f"{CPUFREQ}: a governor without a name")
    return Reading(dict(Counter(told)))


def _secure_boot(evidence: Evidence) -> Reading[bool]:
    """The variable's last byte; missing where the firmware is no UEFI or has no Secure Boot."""
    firmware = _ask.names(evidence, EFI)
    if firmware.value is None:
        why = "the firmware is no UEFI" if firmware.missing else firmware.why
        return Reading(None, why, firmware.missing)
    value = _ask.data(evidence, SECURE_BOOT)
    if value.missing:
        # Without its variables (efivarfs not mounted, a real-time kernel) it tells nothing.
        others = _ask.names(evidence, VARIABLES)
        if not others.value:
            return Reading(None, others.why or f"{VARIABLES}: no variable of the firmware in it")
    return value.map(_last_byte)


def _last_byte(data: bytes) -> bool:
    # Four bytes of attributes, then the value.
    if len(data) != 5 or data[4] > 1:
        raise ValueError(f"{SECURE_BOOT}: {data[:8].hex()} is not what a firmware writes there")
    return data[4] == 1
