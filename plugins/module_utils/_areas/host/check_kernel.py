# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge how the kernel runs: IOMMU, CPU clocks, memory policy, Secure Boot."""

from __future__ import annotations

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._ground.text import few
from ..machine.facts import Machine
from . import boot_words, check_scope
from .check_modules import DRIVER_OF_GPUS, Presence
from .check_scope import HOST
from .facts import HostFacts, KernelFacts

_RIGHT_IOMMU = "off or passthrough"
_TRANSLATED = "DMA"  # DMA and DMA-FQ
_PASSTHROUGH = "identity"
_SHOWN = 3


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The checks of the kernel's settings."""
    kernel = facts.kernel
    real = check_scope.real(machine)
    bare = real.then(check_scope.bare_metal(machine))
    return [
        *bare.then(check_scope.with_gpu(machine)).judge("host.kernel.iommu", lambda: [_iommu(kernel, machine)]),
        *real.then(check_scope.outside_container(machine)).judge("host.kernel.arguments", lambda: [_arguments(kernel)]),
        *bare.judge("host.cpu.governor", lambda: [_governor(kernel.governors)]),
        *real.then(check_scope.outside_container(machine))
        .then(check_scope.with_gpu_or_hca(machine))
        .judge("host.boot.secure_boot", lambda: [_secure_boot(facts, machine)]),
    ]


def _iommu(kernel: KernelFacts, machine: Machine) -> Check:
    """What the devices really have counts; the command line and the log only where that is not
    to be seen."""
    check = "host.kernel.iommu"
    said = _said(kernel.cmdline.value or "", machine.arch)
    if kernel.domains.missing:
        return skipped(check, HOST, "this kernel has no IOMMU")
    if kernel.domains.value is not None:
        wrong = {address: kind for address, kind in kernel.domains.value.items() if kind.startswith(_TRANSLATED)}
        others = {
            address: kind
            for address, kind in kernel.domains.value.items()
            if kind != _PASSTHROUGH and address not in wrong
        }
        if others and not wrong:
            address, kind = sorted(others.items())[0]
            said_so = f"is {kind!r}, of which nobody knows" if kind else "cannot be told"
            return unknown(check, HOST, f"the type of the IOMMU domain of {address} {said_so}")
        if not wrong:
            observed = "passthrough" if kernel.domains.value else "off"
            return passed(check, HOST, observed, _RIGHT_IOMMU, CAPABILITY)
        kinds = "/".join(sorted(set(wrong.values())))
        observed = f"{kinds} domains for {few(sorted(wrong), _SHOWN)}"
        return failed(check, HOST, observed, _RIGHT_IOMMU, CAPABILITY, cause=_why(said, kernel))
    if said[0] == "on":
        return failed(check, HOST, said[1], _RIGHT_IOMMU, CAPABILITY, cause=_why(said, kernel))
    if said[0]:
        return passed(check, HOST, said[1], _RIGHT_IOMMU, CAPABILITY)
    default = kernel.log.value.iommu if kernel.log.value else ""
    if default == "Translated":
        observed = "the kernel's default domain is translated"
        return failed(check, HOST, observed, _RIGHT_IOMMU, CAPABILITY, cause=_why(said, kernel))
    if default:
        return passed(check, HOST, default.lower(), _RIGHT_IOMMU, CAPABILITY)
    why = kernel.domains.why or "no device to ask for its IOMMU domain"
    if kernel.cmdline.value is None:
        return unknown(check, HOST, f"{kernel.cmdline.why}; {why}")
    return unknown(check, HOST, f"the command line does not say; {why}")


def _arguments(kernel: KernelFacts) -> Check:
    """What somebody tried at a boot, and left there."""
    check, expected = "host.kernel.arguments", "nothing that holds back what the machine has"

    def judge(cmdline: str) -> Check:
        found = list(boot_words.held_back(cmdline))
        if not found:
            return passed(check, HOST, "none", expected, CAPABILITY)
        cause = f"the kernel goes without {few(list(dict.fromkeys(without for _word, without in found)), _SHOWN)}"
        shown = few([word for word, _without in found], _SHOWN)
        return failed(check, HOST, shown, expected, CAPABILITY, cause=cause)

    return look(check, HOST, kernel.cmdline, judge)


def _said(cmdline: str, arch: str) -> tuple[str, str]:
    """What the kernel command line asks for: ``on`` (translated), ``pt``, ``off`` or nothing, and
    the words that say so. The last word on a subject counts."""
    given: dict[str, str] = {}
    for word in cmdline.split():
        name, equals, value = word.partition("=")
        if equals and name in ("iommu", "intel_iommu", "amd_iommu", "iommu.passthrough"):
            given[name] = value
    words = " ".join(f"{name}={value}" for name, value in given.items())
    options = {name: value.split(",") for name, value in given.items()}
    # iommu= is read on x86 only.
    general = [] if arch == "aarch64" else options.get("iommu", [])
    if "pt" in general or given.get("iommu.passthrough") in ("1", "y", "Y", "on"):
        return "pt", words
    if "off" in [*general, *options.get("intel_iommu", []), *options.get("amd_iommu", [])]:
        return "off", words
    asked = [*options.get("intel_iommu", []), *options.get("amd_iommu", []), *general]
    if {"on", "force", "nopt"} & set(asked) or "iommu.passthrough" in given:
        return "on", words
    return "", ""


def _why(said: tuple[str, str], kernel: KernelFacts) -> str:
    if said[0] == "on":
        return f"the kernel command line says {said[1]} without iommu=pt"
    if said[0]:
        return f"the kernel did not follow its command line ({said[1]})"
    if kernel.cmdline.value is None:
        return ""
    return "this kernel translates by default, and its command line does not say iommu=pt"


def _governor(governors: Reading[dict[str, int]]) -> Check:
    check = "host.cpu.governor"

    def judge(found: dict[str, int]) -> Check:
        total = sum(found.values())
        if set(found) == {"performance"}:
            return passed(check, HOST, "performance", "performance", CAPABILITY)
        slow = ", ".join(f"{k} on {v}" for k, v in sorted(found.items()) if k != "performance")
        return failed(check, HOST, f"{slow} of {total} CPU clocks", "performance", CAPABILITY)

    def missing() -> Check:
        return skipped(check, HOST, "this kernel does not govern the CPU clocks (no cpufreq)")

    return look(check, HOST, governors, judge, missing=missing)


def _secure_boot(facts: HostFacts, machine: Machine) -> Check:
    """Secure Boot does no harm where the modules are loaded: their signatures were accepted."""
    check = "host.boot.secure_boot"
    expected = "keeps no driver out"

    def judge(on: bool) -> Check:
        if not on:
            return passed(check, HOST, "Secure Boot is off", expected, CAPABILITY)
        present = Presence(facts.modules)
        wanted = [DRIVER_OF_GPUS] if machine.has_gpus else []
        wanted += sorted({_driver(hca.driver) for hca in check_scope.hcas(machine) or ()})
        state = {name: present.has(name) for name in wanted}
        if all(state.values()):
            loaded = f"{', '.join(wanted)} loaded" if wanted else "no driver is wanted"
            return passed(check, HOST, f"on, {loaded}", expected, CAPABILITY)
        out = ", ".join(name for name, there in state.items() if not there)
        log = facts.kernel.log
        refused = log.value.refused if log.value else ()
        if refused:
            cause = f"the kernel refused a module whose signature it cannot check ({refused[-1]})"
            return failed(check, HOST, f"on, {out} not loaded", expected, CAPABILITY, cause=cause)
        whole = log.value is not None and not (log.value.beginning_lost or log.value.cut)
        if None in state.values() or not whole:
            why = log.why or "the kernel's log does not reach back to the boot"
            return unknown(check, HOST, f"on, {out} not loaded, and {why}")
        return passed(check, HOST, f"on; {out} not loaded, but not refused either", expected, CAPABILITY)

    def missing() -> Check:
        return skipped(check, HOST, "the firmware has no Secure Boot")

    return look(check, HOST, facts.kernel.secure_boot, judge, missing=missing)


def _driver(bound: str | None) -> str:
    return bound if bound in ("mlx5_core", "mlx4_core") else "mlx5_core"
