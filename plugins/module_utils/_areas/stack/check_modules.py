# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether drivers are there for the running kernel, and packages installed to the end."""

from __future__ import annotations

from typing import Iterator

from ..._data import stack_components
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._ground.text import few
from ..._parse.packages import Package
from ..machine.facts import Machine
from .check_installed import Stack
from .facts import Dkms, StackFacts

_BUILT = "stack.kmod.built"
_WHOLE = "stack.packages.whole"
# Beginnings of the names that DKMS knows a driver by; nvidia-fs is built on it, and is none (stack.gds.module).
_DKMS = {"nvidia": ("nvidia",), "mlx5_core": ("mlnx-ofed-kernel", "mlnx-ofa_kernel")}
_SHOWN = 4
# apt mends nothing while what lacks something is held. What nobody held before is not to be held afterwards.
_BRING = (
    "note what `apt-mark showhold` says, then `apt-mark unhold {0}`, `apt-get --fix-broken install`, and "
    "`apt-mark hold` those that were held; or run site.yml, which does so"
)
_BRING_RPM = "run site.yml, which brings back what it brought; else `dnf install` what is named"
_ASK = "run `apt-get check` and mend what it says: until then apt installs nothing"
_PACKAGES = {
    "nvidia": stack_components.DRIVER_MODULES,
    "mlx5_core": ("mlnx-of", "kmod-mlnx-of"),
}


def judge(facts: StackFacts, machine: Machine, ours: Reading[Stack]) -> Iterator[Check]:
    """stack.kmod.built and stack.packages.whole."""
    yield _nvidia(facts, machine)
    yield _mlx5(facts, machine, ours)
    yield look(_WHOLE, "host", facts.packages, lambda found: _packages(found, facts.lacks, facts.database))


def _nvidia(facts: StackFacts, machine: Machine) -> Check:
    if machine.without_hardware:
        return skipped(_BUILT, "nvidia", f"simulated node: {machine.without_hardware}")
    if machine.has_gpus is False:
        return skipped(_BUILT, "nvidia", "no NVIDIA GPU on the PCI bus")
    if machine.has_gpus is None:
        return unknown(_BUILT, "nvidia", machine.gpus.why)
    return _built("nvidia", facts, machine, facts.driver.known)


def _mlx5(facts: StackFacts, machine: Machine, ours: Reading[Stack]) -> Check:
    if machine.without_hardware:
        return skipped(_BUILT, "mlx5_core", f"simulated node: {machine.without_hardware}")
    if ours.value is None:
        return unknown(_BUILT, "mlx5_core", ours.why)
    if not ours.value.vendor or not ours.value.modules:
        return skipped(_BUILT, "mlx5_core", "no vendor's modules: they come with the kernel")
    return _built("mlx5_core", facts, machine, False)


def _built(name: str, facts: StackFacts, machine: Machine, loaded: bool) -> Check:
    """``loaded``: from wherever, which is enough where nothing of it is installed here."""
    kernel = machine.kernel.value or ""
    expected = f"a module for {kernel}"
    mine = [dkm for dkm in facts.dkms.value or () if dkm.name.startswith(_DKMS[name]) and dkm.name != "nvidia-fs"]
    packages = [package for package in facts.packages.value or () if package.name.startswith(_PACKAGES[name])]

    def files(found: dict[str, str]) -> Check:
        path = found.get(name, "")
        # The kernel brings an mlx5_core of its own; depmod names it where there is no other.
        if path and not (name == "mlx5_core" and path.startswith("kernel/")):
            return passed(_BUILT, name, path, expected, CAPABILITY)
        if facts.dkms.value is None:
            return unknown(_BUILT, name, facts.dkms.why)
        if not mine and not packages:
            if facts.packages.value is None:
                return unknown(_BUILT, name, facts.packages.why)
            if loaded:
                return passed(_BUILT, name, "loaded from outside of /lib/modules", expected)
        return failed(_BUILT, name, _seen(mine, path), expected, CAPABILITY, cause=_why(mine, kernel, facts.headers))

    def none() -> Check:
        if loaded and not mine and not packages and facts.packages.known:
            return passed(_BUILT, name, "loaded from outside of /lib/modules", expected)
        return unknown(_BUILT, name, facts.files.why)

    return look(_BUILT, name, facts.files, files, missing=none)


def _seen(mine: list[Dkms], path: str) -> str:
    built = sorted({kernel for entry in mine for kernel in entry.kernels})
    if built:
        return f"built for {', '.join(built)}"
    return f"only the kernel's own {path}" if path else "none"


def _why(mine: list[Dkms], kernel: str, headers: Reading[bool]) -> str:
    if not mine:
        return "no module is installed for this kernel: a package of modules for another one"
    names = ", ".join(f"{entry.name}/{entry.version}" for entry in mine)
    if any(kernel in entry.kernels for entry in mine):
        return f"DKMS built {names} for this kernel, but did not install it"
    unbuilt = f"DKMS did not build {names} for this kernel"
    if headers.value is False:
        return f"{unbuilt}: its headers are not installed"
    for entry in mine:
        if entry.failed or entry.why:
            means = f": {entry.why}" if entry.why else ""
            says = f"; make.log says {'; '.join(entry.failed)}" if entry.failed else ""
            return f"{unbuilt}{means}{says}"
    return f"{unbuilt}: its headers were missing, or it failed"


def _packages(found: tuple[Package, ...], lacks: Reading[tuple[str, ...]], database: str) -> Check:
    broken = [f"{package.name} {package.version}".strip() for package in found if not package.whole]
    expected = "every package installed to the end" + ("" if lacks.missing else ", with all that it needs")
    if broken:
        return failed(_WHOLE, "host", ", ".join(broken), expected, CAPABILITY)
    if lacks.value:
        needy = " ".join(dict.fromkeys(_needy(line) for line in lacks.value))
        step = _BRING_RPM if database == "rpm" else _BRING.format(needy)
        cause = "a package that others need was removed by force, or one was installed without what it needs"
        return failed(_WHOLE, "host", few(lacks.value, _SHOWN, "; "), expected, CAPABILITY, cause=cause, remedy=step)
    if lacks.value is None and not lacks.missing:
        return unknown(_WHOLE, "host", lacks.why or "nobody asked", remedy=_ASK)
    return passed(_WHOLE, "host", f"{len(found)} packages of the stack", expected, CAPABILITY)


def _needy(line: str) -> str:
    """The package that lacks something, of apt's line."""
    return line.partition(" :")[0]
