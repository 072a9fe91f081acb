# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge which kernel modules there are, and the device files of RDMA."""

from __future__ import annotations

from typing import Iterable

from ..._data.rdma_modules import CORE, DRIVERS, IPOIB, MLX4_IDS, RIVALS, UMAD, USERLAND, Needed
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..machine.facts import Machine, PciFunction
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts, ModuleFacts
from .reboot import WAITS

DRIVER_OF_GPUS = "nvidia"
_FOR_ALL = 0o666
_REBOOT = (
    "drain and reboot the host (site.yml with ibready_reboot_ok=true); if it is loaded again then, the initramfs is "
    "older than that file: build it anew"
)


class Presence:
    """Whether a module is in the kernel, loaded or built in, from the three places that tell."""

    def __init__(self, facts: ModuleFacts) -> None:
        self._facts = facts
        self.known = facts.listed.known or facts.known.known
        self.why = f"{facts.listed.why}; {facts.known.why}"

    def has(self, name: str) -> bool | None:
        """None where no list of modules could be read."""
        if name in (self._facts.listed.value or ()) or name in (self._facts.known.value or ()):
            return True
        return False if self.known else None

    def lacks(self, needed: Iterable[Needed]) -> list[Needed]:
        """What is missing; what shows its directory is built in."""
        return [entry for entry in needed if not self.has(entry.name) and not self._shows(entry.device)]

    def _shows(self, directory: str) -> bool:
        reading = self._facts.there.get(directory)
        return reading is not None and reading.value is True

    @property
    def none_at_all(self) -> bool:
        """Whether the kernel was seen without a single module."""
        return self._facts.listed.value == () and not self._facts.known.value


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The checks of modules and device files."""
    present = Presence(facts.modules)
    kernel = check_scope.with_kernel(machine)
    hca = kernel.then(check_scope.with_hca(machine))
    simulated = machine.simulates_hardware
    no_verbs = f"simulated node without verbs: {machine.simulated}" if simulated else ""
    verbs = kernel.then(check_scope.Scope(no_verbs))
    return [
        *kernel.judge("host.module.nouveau", lambda: [_rivals(present, facts.modules, machine)]),
        *hca.judge("host.module.rdma", lambda: [_rdma(present, machine)]),
        *hca.judge("host.module.rdma_user", lambda: [_user(present)]),
        *hca.judge("host.module.ipoib", lambda: [_ipoib(present, facts.modules)]),
        *verbs.judge("host.rdma.devices", lambda: _devices(facts.modules, machine)),
    ]


def _rivals(present: Presence, facts: ModuleFacts, machine: Machine) -> Check:
    check = "host.module.nouveau"
    expected = "no rival of NVIDIA's driver"
    bound = [f"{card.driver} holds {card.address}" for card in machine.cards if card.driver in RIVALS]
    loaded = [name for name in RIVALS if present.has(name)]
    # Where nobody can look for GPUs it still would not be loaded without one.
    if bound or (loaded and machine.has_gpus is not False):
        observed = "; ".join(bound) or f"{', '.join(loaded)} loaded"
        kept_out = facts.kept_out.value or {}
        out = [name for name in loaded if name in kept_out]
        if not out or len(out) < len(loaded):
            return failed(check, HOST, observed, expected, CAPABILITY)
        cause = f"{WAITS}{kept_out[out[0]].path} keeps {', '.join(out)} out, which was loaded before that"
        return failed(check, HOST, observed, expected, CAPABILITY, cause=cause, remedy=_REBOOT)
    scope = check_scope.with_gpu(machine)
    if scope.skip:
        return skipped(check, HOST, scope.skip)
    if not present.known or scope.why:
        return unknown(check, HOST, scope.why or present.why)
    return passed(check, HOST, f"no {' or '.join(RIVALS)}", expected, CAPABILITY)


def _rdma(present: Presence, machine: Machine) -> Check:
    """The core, and the RDMA driver of each HCA; of any HCA where the bus cannot be read."""
    check = "host.module.rdma"
    if not present.known:
        return unknown(check, HOST, present.why)
    found = check_scope.hcas(machine)
    drivers = sorted({_driver(function) for function in found or ()})
    needed = [entry.name for entry in CORE] + drivers
    missing = [lack.name for lack in present.lacks(CORE)]
    missing += [name for name in drivers if not present.has(name)]
    if machine.board is not None and machine.board.nvlsm:
        # NVLSM reaches the NVLink switches over it: the GPUs' fabric does not come up without.
        needed.append(UMAD)
        missing += [lack.name for lack in present.lacks(_named(UMAD))]
    if found is None and not any(present.has(name) for name in DRIVERS.values()):
        missing.append("the driver of an RDMA device")
    if not missing:
        return passed(check, HOST, f"{', '.join(needed)} there", "all there", CAPABILITY)
    cause = ""
    if present.none_at_all:
        cause = "not one module is loaded: a kernel without them, or no RDMA stack is installed"
    return failed(check, HOST, f"{', '.join(missing)} not loaded", ", ".join(needed), CAPABILITY, cause=cause)


def _user(present: Presence) -> Check:
    check = "host.module.rdma_user"
    if not present.known:
        return unknown(check, HOST, present.why)
    missing = present.lacks(USERLAND)
    names = ", ".join(entry.name for entry in USERLAND)
    if not missing:
        return passed(check, HOST, f"{names} there", names, CAPABILITY)
    lost = "; ".join(f"{entry.name} is not loaded: no {entry.what_for}" for entry in missing)
    observed = f"{', '.join(entry.name for entry in missing)} not loaded"
    return failed(check, HOST, observed, names, CAPABILITY, cause=lost)


def _ipoib(present: Presence, facts: ModuleFacts) -> Check:
    check = "host.module.ipoib"
    wanted = facts.ipoib.value
    if wanted is None:
        return unknown(check, HOST, facts.ipoib.why)
    if not wanted:
        return skipped(check, HOST, "no InfiniBand interface (ib*) is configured")
    there = present.has(IPOIB)
    if there is None:
        return unknown(check, HOST, present.why)
    if there:
        return passed(check, HOST, f"{IPOIB} there", IPOIB, CAPABILITY)
    cause = f"{', '.join(wanted)} is configured, and {IPOIB} is not loaded"
    return failed(check, HOST, f"{IPOIB} not loaded", IPOIB, CAPABILITY, cause=cause)


def _devices(facts: ModuleFacts, machine: Machine) -> list[Check]:
    """Every program must be able to open the files of the RDMA devices."""
    check = "host.rdma.devices"
    if facts.devices.value is None:
        return [unknown(check, HOST, facts.devices.why)]
    if not facts.devices.value:
        return [skipped(check, HOST, "no RDMA device (host.module.rdma tells why)")]
    if facts.verbs.value is None and not facts.verbs.missing:
        return [unknown(check, HOST, facts.verbs.why)]
    gone = [name for name, mode in facts.modes.items() if mode.missing]
    if machine.container and len(gone) == len(facts.modes):
        return [skipped(check, HOST, f"inside a container without them ({machine.container})")]
    checks = []
    for name, mode in facts.modes.items():
        path = f"/dev/infiniband/{name}"
        if mode.value is None:
            if not mode.missing:
                checks.append(unknown(check, path, mode.why))
            elif name in (facts.verbs.value or ()):
                checks.append(failed(check, path, "no such file", "rw for all (0666)", CAPABILITY))
        elif mode.value & _FOR_ALL != _FOR_ALL:
            cause = "a udev rule of the site, or a file made by hand, takes it from ordinary users"
            checks.append(failed(check, path, f"{mode.value:04o}", "rw for all (0666)", CAPABILITY, cause=cause))
    if not facts.verbs.value:
        named = ", ".join(facts.devices.value)
        checks.append(failed(check, HOST, f"no uverbs file for {named}", "one each", CAPABILITY))
    elif len(facts.verbs.value) < len(facts.devices.value):
        observed = f"{len(facts.verbs.value)} uverbs for {len(facts.devices.value)} RDMA devices"
        cause = "ib_uverbs did not take to every RDMA device: no program can use the rest"
        checks.append(failed(check, HOST, observed, "one each", CAPABILITY, cause=cause))
    if checks:
        return checks
    observed = f"{len(facts.verbs.value or ())} uverbs files open to all"
    return [passed(check, HOST, observed, "rw for all (0666)", CAPABILITY)]


def _driver(function: PciFunction) -> str:
    """The RDMA driver of an HCA: by what is bound to it, else by what would be."""
    by_device = "mlx4_core" if function.device in MLX4_IDS else "mlx5_core"
    return DRIVERS.get(function.driver or by_device, DRIVERS[by_device])


def _named(name: str) -> list[Needed]:
    return [entry for entry in USERLAND if entry.name == name]
