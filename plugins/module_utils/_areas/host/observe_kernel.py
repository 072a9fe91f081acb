# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather how the kernel runs: command line, IOMMU, CPU clocks, memory policy, its log."""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from ..._data import host_sysctls
from ..._evidence import ask
from ..._evidence.sources import Evidence, Missing, Unavailable
from ..._ground.reading import Reading
from ..._parse import dmesg
from ..machine.facts import MELLANOX, Machine
from .facts import KernelFacts

CMDLINE = "/proc/cmdline"
SYSCTLS = "/proc/sys"
PCI = "/sys/bus/pci/devices"
GROUPS = "/sys/kernel/iommu_groups"
CPUFREQ = "/sys/devices/system/cpu/cpufreq"
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
        cmdline=ask.text(evidence, CMDLINE),
        domains=_domains(evidence, machine),
        governors=_governors(evidence),
        sysctls={name: _sysctl(evidence, name) for name in host_sysctls.NAMES},
        secure_boot=_secure_boot(evidence),
        log=ask.command(evidence, "dmesg", dmesg.parse),
    )


def _sysctl(evidence: Evidence, name: str) -> Reading[str]:
    value = ask.text(evidence, f"{SYSCTLS}/{name.replace('.', '/')}")
    return value.map(lambda text: " ".join(text.split()))


def _domains(evidence: Evidence, machine: Machine) -> Reading[dict[str, str]]:
    """The domain type of every GPU and of every HCA of an RDMA vendor."""
    if machine.pci.value is None:
        return Reading(None, machine.pci.why)
    groups = ask.names(evidence, GROUPS)
    if not groups.value:
        # There and empty: the kernel uses no IOMMU. Not there: it cannot.
        return Reading({}) if groups.known else Reading(None, groups.why, groups.missing)
    found: dict[str, str] = {}
    wanted = [card for card in (*machine.cards, *machine.hcas) if card.driver != _HANDED_OVER]
    for function in wanted:
        if function.is_hca and function.vendor != MELLANOX:
            continue
        group = ask.link(evidence, f"{PCI}/{function.address}/iommu_group")
        if group.missing:
            continue
        # With "" for what cannot be told: that there are groups is known all the same.
        name = posixpath.basename(group.value or "")
        found[function.address] = ask.text(evidence, f"{GROUPS}/{name}/type").value or "" if name else ""
    if not found:
        return Reading(None, f"{GROUPS}: no GPU and no HCA is in any group")
    return Reading(found)


def _governors(evidence: Evidence) -> Reading[dict[str, int]]:
    try:
        policies = [name for name in evidence.list(CPUFREQ) if _POLICY.fullmatch(name)]
        if not policies:
            return Reading(None, f"{CPUFREQ}: no CPU clock is governed", missing=True)
        reported = [evidence.read(f"{CPUFREQ}/{policy}/scaling_governor").strip() for policy in policies]
    except Missing as exc:
        # The directory itself, not a file of a policy that is there.
        return Reading(None, str(exc), exc.what == CPUFREQ)
    except Unavailable as exc:
        return Reading(None, str(exc))
    if not all(reported):
        return Reading(None, f"{CPUFREQ}: a governor without a name")
    return Reading(dict(Counter(reported)))


def _secure_boot(evidence: Evidence) -> Reading[bool]:
    """The variable's last byte; missing where the firmware is no UEFI or has no Secure Boot."""
    firmware = ask.names(evidence, EFI)
    if firmware.value is None:
        why = "the firmware is no UEFI" if firmware.missing else firmware.why
        return Reading(None, why, firmware.missing)
    value = ask.data(evidence, SECURE_BOOT)
    if value.missing:
        # Without its variables (efivarfs not mounted, a real-time kernel) it tells nothing.
        others = ask.names(evidence, VARIABLES)
        if not others.value:
            return Reading(None, others.why or f"{VARIABLES}: no variable of the firmware in it")
    return value.map(_last_byte)


def _last_byte(data: bytes) -> bool:
    # Four bytes of attributes, then the value.
    if len(data) != 5 or data[4] > 1:
        raise ValueError(f"{SECURE_BOOT}: {data[:8].hex()} is not what a firmware writes there")
    return data[4] == 1
