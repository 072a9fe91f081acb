# SPDX-License-Identifier: GPL-3.0-or-later
"""What kind of host this is: a virtual machine, a container, of which architecture."""

from __future__ import annotations

import re

from ..._data import hypervisors
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading

_ARCH = re.compile(r"[a-z0-9_]{2,20}")
# Distributions that end the kernel's release with it.
_IN_RELEASE = ("x86_64", "aarch64", "ppc64le")
# Written by a container's manager, and what each stands for; the first also names the kind.
_CONTAINERS = (
    ("/run/systemd/container", "container"),
    ("/run/.containerenv", "podman"),
    ("/.dockerenv", "docker"),
)


def first_processor(cpuinfo: str) -> dict[str, str]:
    """The first paragraph of /proc/cpuinfo; ValueError where it holds nothing."""
    paragraph = cpuinfo.replace("\r", "").lstrip("\n").split("\n\n", 1)[0]
    fields = {}
    for line in paragraph.split("\n"):
        key, colon, value = line.partition(":")
        if colon:
            fields[key.strip()] = value.strip()
    if not fields:
        raise ValueError("no processor in it")
    return fields


def virtual(cpu: Reading[dict[str, str]], vendor: Reading[str], product: Reading[str]) -> Reading[bool]:
    """Whether this is a virtual machine: the processor's own flag, else what the firmware says.

    Only x86 processors have such a flag; a hypervisor may hide it, but not its firmware's name.
    """
    made, named = (vendor.value or "").lower(), (product.value or "").lower()
    flags = (cpu.value or {}).get("flags", "").split()
    if "hypervisor" in flags:
        return Reading(True)
    if made.startswith(hypervisors.VIRTUAL_VENDORS) or named.startswith(hypervisors.VIRTUAL_PRODUCTS):
        return Reading(True)
    if flags:
        return Reading(False)
    if made.startswith(hypervisors.CLOUD_VENDORS):
        return Reading(hypervisors.METAL not in named)
    if made or named:
        return Reading(False)
    return Reading(None, f"{cpu.why or '/proc/cpuinfo: no flags'}; {vendor.why or product.why}")


def container(evidence: Evidence) -> str:
    """What kind of container we look from, "" outside of any."""
    for path, name in _CONTAINERS:
        mark = ask.text(evidence, path)
        if mark.value is not None:
            said = mark.value if path.startswith("/run/systemd") else ""
            return said.split("\n")[0][:40] or name
    return ""


def outside_containers(evidence: Evidence) -> bool:
    """Whether every mark of a container was looked for and is not there."""
    return all(ask.text(evidence, path).missing for path, _name in _CONTAINERS)


def arch(evidence: Evidence, cpu: Reading[dict[str, str]], kernel: Reading[str]) -> str:
    """As ``uname -m`` says it, "" where no file tells."""
    said = ask.text(evidence, "/proc/sys/kernel/arch").value or ""
    if _ARCH.fullmatch(said):
        return said
    for entry in _IN_RELEASE:
        if (kernel.value or "").endswith(entry):
            return entry
    processor = cpu.value or {}
    if "CPU implementer" in processor:
        return "aarch64"
    return "x86_64" if "lm" in processor.get("flags", "").split() else ""
