# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RDMA stack is installed: told by ofed_info, else by its packages; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from ..._data import rdma_packages
from ..._expect.expectations import Expectations
from ..._ground.reading import Reading
from ..._parse.packages import Package
from ..._parse.version_text import numbers, train
from ..machine.facts import MELLANOX, Machine
from .facts import StackFacts

NO_RDMA = "no HCA on the PCI bus and no RDMA device"
# Any vendor's build whose seller cannot be told.
VENDOR = "vendor"


@dataclass(frozen=True)
class Stack:
    """``flavour``: inbox, mlnx_ofed, doca, ofed or vendor; "" where there is none at all.

    ``versions``: every version that it goes by, the best first. ``modules``: whether kernel modules
    belong to it; a vendor's user space is sold alone, too.
    """

    flavour: str
    versions: tuple[str, ...] = ()
    modules: bool = True

    @property
    def vendor(self) -> bool:
        return self.flavour not in ("", rdma_packages.INBOX)

    def __str__(self) -> str:
        return " ".join((self.flavour, *self.versions[:1])) or "none"


def has_rdma(facts: StackFacts, machine: Machine) -> bool | None:
    """Whether this host has an HCA or an RDMA device; None where nobody could look.

    An Ethernet controller of another vendor that gave no RDMA device is no HCA.
    """
    if facts.devices.value or machine.without_hardware:
        return True
    if any(hca.vendor == MELLANOX or hca.class_code[:4] == "0207" for hca in machine.hcas):
        return True
    looked = facts.devices.known or facts.devices.missing
    return False if looked and (machine.pci.known or machine.pci.missing) else None


def installed(facts: StackFacts) -> Reading[Stack]:
    """The stack that is installed, whatever is loaded."""
    metas = meta_flavours(facts)
    library = facts.package(*rdma_packages.LIBRARIES)
    kernel = kernel_package(facts)
    modules = kernel is not None or not _only_userspace(facts)
    if facts.ofed.value is not None:
        flavour = rdma_packages.BY_NAME.get(facts.ofed.value.name, VENDOR)
        if len(metas) == 1 and flavour == rdma_packages.DOCA:
            flavour = metas[0]  # a stack built from source calls itself internal as well
        versions = (facts.ofed.value.release, *_meta_versions(facts))
        return Reading(Stack(flavour, versions, modules))
    if facts.packages.value is None:
        return Reading(None, f"{facts.ofed.why}; {facts.packages.why}")
    if metas:
        more = (kernel.version,) if kernel else ()
        return Reading(Stack(metas[0], (*_meta_versions(facts), *more), modules))
    if library is None:
        return Reading(Stack(""))
    if is_vendors(library):
        return Reading(Stack(VENDOR, (library.version,), kernel is not None))
    return Reading(Stack(rdma_packages.INBOX, (library.version,)))


def meta_flavours(facts: StackFacts) -> list[str]:
    """The vendor stacks of which a meta package is installed."""
    names = [package.name for package in facts.packages.value or ()]
    return [
        flavour for flavour, starts in rdma_packages.METAS.items() if any(name.startswith(starts) for name in names)
    ]


def _metas(facts: StackFacts) -> list[Package]:
    starts = tuple(entry for some in rdma_packages.METAS.values() for entry in some)
    return [package for package in facts.packages.value or () if package.name.startswith(starts)]


def _meta_versions(facts: StackFacts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(meta.version for meta in _metas(facts)))


def _only_userspace(facts: StackFacts) -> bool:
    found = _metas(facts)
    return bool(found) and all(package.name.endswith(rdma_packages.USERSPACE) for package in found)


def kernel_package(facts: StackFacts) -> Package | None:
    """The vendor's package of kernel modules."""
    return next(
        (
            package
            for start in rdma_packages.KERNEL
            for package in facts.packages.value or ()
            if package.name.startswith(start)
        ),
        None,
    )


def is_vendors(package: Package) -> bool:
    """Whether a package that also comes with the distribution is a vendor's build."""
    first = numbers(package.version.partition(":")[2] or package.version)[:1]
    return rdma_packages.VENDOR_MARK in package.version or (first >= (rdma_packages.FIRST_VENDOR_NUMBER,))


def library_train(package: Package) -> str:
    """``2410`` of 2410mlnx54-1.2410068, to be compared with `train`; "" where it tells none."""
    if rdma_packages.OLD_SCHEME in package.version:
        return ""
    first = numbers(package.version.partition(":")[2] or package.version)[:1]
    return str(first[0]) if first else ""


def kernel_train(package: Package) -> str:
    """``2410`` of 24.10.OFED.24.10.1.1.4.1-1 and of 24.10-OFED.24.10.1.1.4.1."""
    found = numbers(package.version)[:2]
    if len(found) < 2:
        return ""
    # Releases are counted by year and month; those of the old days by series: 5.8.
    return f"{found[0]}{found[1]:02d}" if found[0] > 9 else f"{found[0]}{found[1]}"


def stack_train(stack: Stack) -> str:
    """The release that the stack's best version names, "" where it names none."""
    return train(stack.versions[0]) if stack.versions else ""


def wanted_stack(expect: Expectations) -> Mapping[str, Any]:
    """The stack that the inventory or the lock has for the host; empty without any."""
    stack, lock = expect.get("stack"), expect.get("lock")
    return (stack.value if stack else lock.value.get("stack") if lock else None) or {}


def planned(facts: StackFacts, expect: Expectations) -> bool:
    """Whether somebody wants a user space of RDMA on this host, or parts of it are there."""
    return bool(wanted_stack(expect).get("rdma")) or facts.package(*rdma_packages.LIBRARIES) is not None
