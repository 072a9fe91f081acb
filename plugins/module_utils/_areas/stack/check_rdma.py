# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the RDMA stack: which it is, whether it is one, and whether the loaded one is it."""

from __future__ import annotations

from typing import Iterator

from ..._data import rdma_packages
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._parse.packages import Package
from ..._parse.version_text import is_release, same_release, train
from ..machine.facts import MELLANOX, Machine, PciFunction
from .check_installed import (
    NO_RDMA,
    Stack,
    has_rdma,
    installed,
    is_vendors,
    kernel_package,
    kernel_train,
    library_train,
    meta_flavours,
    planned,
    stack_train,
)
from .facts import StackFacts

_HOST = "host"
_ONE_STACK = "one RDMA stack"


def judge(facts: StackFacts, machine: Machine, expect: Expectations) -> Iterator[Check]:
    """stack.rdma.*"""
    rdma = has_rdma(facts, machine)
    ours = installed(facts)
    yield _version(facts, rdma, ours, planned(facts, expect))
    yield _single(facts, rdma)
    yield _loaded(facts, machine, ours)
    yield _userspace(facts, machine, rdma, ours)


def _version(facts: StackFacts, rdma: bool | None, ours: Reading[Stack], needed: bool) -> Check:
    check_id = "stack.rdma.version"
    if ours.value is not None and ours.value.flavour:
        return passed(check_id, _HOST, ours.value)
    if rdma is False:
        return skipped(check_id, _HOST, NO_RDMA)
    if facts.mlx5.value is not None and is_release(facts.mlx5.value):
        return passed(check_id, _HOST, f"modules {facts.mlx5.value}, no package")
    if ours.value is not None and facts.userspace.kubelet.value and not needed:
        return skipped(check_id, _HOST, "no RDMA stack on this Kubernetes node: its containers bring their own")
    if ours.value is not None:
        return failed(check_id, _HOST, "no RDMA stack is installed", "an RDMA stack", CAPABILITY)
    if facts.mlx5.value is not None:
        return passed(check_id, _HOST, "the kernel's own modules")
    return unknown(check_id, _HOST, ours.why)


def _single(facts: StackFacts, rdma: bool | None) -> Check:
    check_id = "stack.rdma.single"
    if rdma is False:
        return skipped(check_id, _HOST, NO_RDMA)

    def packages(found: tuple[Package, ...]) -> Check:
        wrong = _two_vendors(facts) or _two_builds(facts) or _two_releases(facts)
        if wrong:
            return failed(check_id, _HOST, wrong[0], _ONE_STACK, CAPABILITY, cause=wrong[1])
        return look(check_id, _HOST, facts.verbs, libraries)

    def libraries(found: tuple[str, ...]) -> Check:
        if len(found) > 1:
            cause = "a program takes the libibverbs that the linker finds first, whichever it is"
            return failed(check_id, _HOST, ", ".join(found), "one libibverbs", CAPABILITY, cause=cause)
        if not found:
            return skipped(check_id, _HOST, "no libibverbs to compare: see stack.rdma.verbs")
        return passed(check_id, _HOST, found[0], _ONE_STACK)

    return look(check_id, _HOST, facts.packages, packages)


def _two_vendors(facts: StackFacts) -> tuple[str, str] | None:
    flavours = meta_flavours(facts)
    if len(flavours) < 2:
        return None
    return " and ".join(flavours), "MLNX_OFED was not removed before DOCA-OFED was installed"


def _libraries(facts: StackFacts) -> list[Package]:
    """The libraries of the host's own architecture, the one that every program loads first."""
    mine = [package for package in facts.packages.value or () if package.name in rdma_packages.LIBRARIES]
    mine.sort(key=lambda entry: rdma_packages.LIBRARIES.index(entry.name))
    return [entry for entry in mine if entry.arch in (mine[0].arch, "all", "noarch")]


def _two_builds(facts: StackFacts) -> tuple[str, str] | None:
    libraries = _libraries(facts)
    vendors = [library for library in libraries if is_vendors(library)]
    own = [library for library in libraries if not is_vendors(library)]
    if not vendors or not own:
        return None
    shown = ", ".join(f"{package.name} {package.version}" for package in (vendors[0], own[0]))
    return shown, "an upgrade replaced only a part of the vendor's user space by the distribution's"


def _two_releases(facts: StackFacts) -> tuple[str, str] | None:
    kernel = kernel_package(facts)
    if kernel is None or facts.ofed.value is None:
        return None
    reported = train(facts.ofed.value.release)
    if not reported or reported == kernel_train(kernel):
        return None
    shown = f"ofed_info {facts.ofed.value.version}, {kernel.name} {kernel.version}"
    return shown, "an upgrade of the RDMA stack stopped half way"


def _loaded(facts: StackFacts, machine: Machine, ours: Reading[Stack]) -> Check:
    check_id, subject = "stack.rdma.loaded", "mlx5_core"
    if machine.without_hardware:
        return skipped(check_id, subject, f"simulated node: {machine.without_hardware}")
    if machine.pci.known and not any(_is_mlx5(function) for function in machine.functions):
        return skipped(check_id, subject, "no HCA of mlx5_core on the PCI bus")
    if machine.pci.missing and facts.mlx5.missing:
        return skipped(check_id, subject, "no PCI bus and no mlx5_core")
    if facts.mlx5.missing:
        expected = "loaded"
        cause = Cause(
            "the module is not loaded: it does not fit the kernel, or it is blocked",
            "`modprobe -v mlx5_core` says why; `dkms status`, build what is missing; take a blacklist of it out of "
            "/etc/modprobe.d",
        )
        return failed(check_id, subject, "not loaded", expected, CAPABILITY, cause=cause)
    if facts.mlx5.value is None:
        return unknown(check_id, subject, facts.mlx5.why)
    if ours.value is None:
        return unknown(check_id, subject, ours.why, observed=facts.mlx5.value or "no version")
    return _compare(check_id, subject, facts, facts.mlx5.value, ours.value)


def _is_mlx5(function: PciFunction) -> bool:
    """Whether mlx5_core drives this function, or nobody does yet."""
    return function.is_hca and function.vendor == MELLANOX and function.driver in ("mlx5_core", "", None)


def _compare(check_id: str, subject: str, facts: StackFacts, loaded: str, stack: Stack) -> Check:
    if not stack.vendor or not stack.modules:
        where = "a driver container's" if is_release(loaded) else "the kernel's own"
        return passed(check_id, subject, f"{where} {loaded}".rstrip(), stack)
    release = next((version for version in stack.versions if is_release(version)), "")
    if not is_release(loaded):
        on_disk = (facts.files.value or {}).get("mlx5_core", "")
        cause = Cause("the vendor's modules are not built for the running kernel", "fix stack.kmod.built first")
        if on_disk and not on_disk.startswith("kernel/"):
            cause = Cause(
                "the kernel's own module was loaded before the vendor's (an old initramfs)",
                "build the initramfs anew (`update-initramfs -u` or `dracut -f`), then reboot the drained host",
            )
        observed = f"the kernel's own {loaded}".rstrip()
        return failed(check_id, subject, observed, stack, CAPABILITY, cause=cause)
    if release and not same_release(loaded, release):
        cause = Cause(
            "the stack was upgraded and neither openibd nor the host restarted since",
            "drain the host, then `systemctl restart openibd` or reboot it: what is installed is well",
        )
        return failed(check_id, subject, loaded, stack, CAPABILITY, cause=cause)
    return passed(check_id, subject, loaded, stack, CAPABILITY)


def _userspace(facts: StackFacts, machine: Machine, rdma: bool | None, ours: Reading[Stack]) -> Check:
    check_id, subject = "stack.rdma.userspace", "libibverbs"
    if rdma is False:
        return skipped(check_id, subject, NO_RDMA)
    found = next((entry for entry in _libraries(facts) if entry.name in rdma_packages.CORE), None)
    library = facts.packaged(found, facts.verbs)
    if library.missing:
        return skipped(check_id, subject, "no libibverbs: see stack.rdma.verbs")
    if library.value is None:
        return unknown(check_id, subject, library.why, observed=(facts.verbs.value or ("",))[0])
    return _match(check_id, subject, facts, machine, library.value, ours)


def _match(
    check_id: str,
    subject: str,
    facts: StackFacts,
    machine: Machine,
    library: Package,
    ours: Reading[Stack],
) -> Check:
    observed = f"{library.name} {library.version}"
    kernel = kernel_package(facts)
    stack = ours.value or Stack("")
    wanted = kernel_train(kernel) if kernel else stack_train(stack) if stack.modules else ""
    if not wanted and not machine.without_hardware:
        if facts.mlx5.value is None:
            if not is_vendors(library):
                return passed(check_id, subject, observed, "the kernel's own modules")
            return unknown(check_id, subject, facts.mlx5.why or "no mlx5_core", observed=observed)
        # A driver container's modules fit any user space that the containers bring along.
        wanted = train(facts.mlx5.value) if is_vendors(library) else ""
    if not is_vendors(library):
        if wanted:
            expected = f"the vendor's build of {wanted}"
            cause = "the distribution's user space lies above the vendor's kernel modules"
            return failed(check_id, subject, observed, expected, CAPABILITY, cause=cause)
        return passed(check_id, subject, observed, "the distribution's")
    if not wanted:
        cause = "a vendor's user space lies above the kernel's own modules"
        return failed(check_id, subject, observed, "the distribution's", CAPABILITY, cause=cause)
    if library_train(library) not in ("", wanted):
        cause = "user space and kernel modules are of two releases of the vendor's stack"
        return failed(check_id, subject, observed, wanted, CAPABILITY, cause=cause)
    return passed(check_id, subject, observed, wanted, CAPABILITY)
