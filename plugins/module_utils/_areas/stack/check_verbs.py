# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether programs of the host can use its RDMA devices: libibverbs, providers, librdmacm."""

from __future__ import annotations

from typing import Iterator

from ..._data.container import PROVIDERS
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..machine.facts import MELLANOX, Machine
from .check_installed import NO_RDMA, Stack, has_rdma, planned
from .facts import StackFacts

_ID = "stack.rdma.verbs"
_VERBS, _CM = "libibverbs", "librdmacm"
_PACKAGES = {_VERBS: ("libibverbs1", "libibverbs"), _CM: ("librdmacm1", "librdmacm1t64", "librdmacm")}
_PROVIDERS = ("ibverbs-providers", "libibverbs")
_SUSE = "on SUSE `zypper install -f`"
_ALL = "libibverbs, librdmacm and the provider of every RDMA device"


def judge(facts: StackFacts, machine: Machine, expect: Expectations, ours: Reading[Stack]) -> list[Check]:
    """stack.rdma.verbs"""
    rdma = has_rdma(facts, machine)
    if rdma is False:
        return [skipped(_ID, _VERBS, NO_RDMA)]
    if rdma is None:
        return [unknown(_ID, _VERBS, facts.devices.why or machine.pci.why or "nobody could look for HCAs")]
    if facts.verbs.value is None:
        return [unknown(_ID, _VERBS, facts.verbs.why or "nobody looked")]
    if not facts.verbs.value:
        return [_without(facts, machine, expect)]
    checks = [*_librdmacm(facts, ours), *_providers(facts, machine)]
    return checks or [passed(_ID, _VERBS, _observed(facts, machine), _ALL, CAPABILITY)]


def _without(facts: StackFacts, machine: Machine, expect: Expectations) -> Check:
    if machine.holds_part:
        return skipped(_ID, _VERBS, f"no libibverbs inside a container ({machine.holds_part})")
    if facts.packages.value is None:
        return unknown(_ID, _VERBS, f"no libibverbs; {facts.packages.why}")
    package = facts.package(*_PACKAGES[_VERBS])
    if package is None and facts.userspace.kubelet.value and not planned(facts, expect):
        return skipped(_ID, _VERBS, "no libibverbs on this Kubernetes node: containers bring their own")
    cause = "no package of it is installed: NCCL and MPI find no RDMA device and go over TCP"
    if package is not None:
        cause = f"{package.name} {package.version} is installed, and its file is gone"
    return failed(_ID, _VERBS, "no libibverbs.so.1", _ALL, CAPABILITY, cause=cause, remedy=_bring(_VERBS, facts))


def _librdmacm(facts: StackFacts, ours: Reading[Stack]) -> Iterator[Check]:
    """A vendor's stack has it; of the distribution's it is a package that few hosts need."""
    found, stack = facts.userspace.rdmacm, ours.value
    package = facts.package(*_PACKAGES[_CM])
    if found.value is None:
        yield unknown(_ID, _CM, found.why or "nobody looked")
    elif not found.value and (package is not None or (stack is not None and stack.vendor)):
        cause = f"{stack} has it, and its package is not installed"
        if package is not None:
            cause = f"{package.name} {package.version} is installed, and its file is gone"
        yield failed(_ID, _CM, "no librdmacm.so.1", _ALL, CAPABILITY, cause=cause, remedy=_bring(_CM, facts))


def _wanted(facts: StackFacts, machine: Machine) -> dict[str, list[str]]:
    """By provider, the devices and HCAs that need it."""
    found: dict[str, list[str]] = {}
    for device, driver in (facts.userspace.drivers.value or {}).items():
        if driver in PROVIDERS:
            found.setdefault(PROVIDERS[driver], []).append(device)
    for hca in machine.hcas:
        name = PROVIDERS.get(hca.driver or "", "")
        if name and (hca.vendor == MELLANOX or hca.class_code[:4] == "0207") and not found.get(name):
            found[name] = [hca.address]
    return found


def _providers(facts: StackFacts, machine: Machine) -> Iterator[Check]:
    space = facts.userspace
    whole = True
    if space.drivers.value is None:
        yield unknown(_ID, _VERBS, space.drivers.why or "nobody looked")
        return
    for name, devices in sorted(_wanted(facts, machine).items()):
        for reading in (space.providers, space.named):
            if reading.value is None:
                yield unknown(_ID, name, reading.why or "nobody looked")
                return
        lost = []
        if name not in (space.providers.value or ()):
            lost.append(f"no lib{name}-rdmav*.so")
        if name not in (space.named.value or {}):
            lost.append(f"nothing in /etc/libibverbs.d names {name}")
        if lost:
            whole = False
            cause = f"libibverbs passes by {', '.join(devices[:4])}: it has no provider for it"
            remedy = _reinstall(facts, name, lost)
            yield failed(_ID, name, "; ".join(lost), _ALL, CAPABILITY, cause=cause, remedy=remedy)
    if whole and facts.devices.value and space.refused.value is None and not space.refused.missing:
        yield unknown(_ID, _VERBS, space.refused.why or "nobody asked libibverbs")
    if whole and facts.devices.value and space.refused.value:
        cause = "the kernel offers RDMA devices, and libibverbs takes none: provider and library do not fit"
        yield failed(_ID, _VERBS, space.refused.value, _ALL, CAPABILITY, cause=cause)


def _observed(facts: StackFacts, machine: Machine) -> str:
    wanted = ", ".join(sorted(_wanted(facts, machine))) or "none needed that is known"
    cm = (facts.userspace.rdmacm.value or ("none",))[0]
    return f"{(facts.verbs.value or ('',))[0]}, librdmacm: {cm}, providers: {wanted}"


def _rpm(facts: StackFacts) -> bool:
    return facts.database == "rpm"


def _bring(library: str, facts: StackFacts) -> str:
    if _rpm(facts):
        return (
            f"`dnf install {library}`, of one that is installed `dnf reinstall {library}` ({_SUSE}); then `ibv_devinfo`"
        )
    package = facts.package(*_PACKAGES[library])
    name = package.name if package else f"{library}1"
    return f"`apt-get install --reinstall {name}`, of the same source as the other packages of RDMA; then `ibv_devinfo`"


def _reinstall(facts: StackFacts, name: str, lost: list[str]) -> str:
    owner = _PROVIDERS[1] if _rpm(facts) else _PROVIDERS[0]
    if _rpm(facts):
        return f"`dnf reinstall {owner}` ({_SUSE}), then `ibv_devinfo`"
    # dpkg leaves a configuration file that somebody deleted deleted, unless it is told not to.
    confmiss = " -o Dpkg::Options::=--force-confmiss" if any("libibverbs.d" in entry for entry in lost) else ""
    return f"`apt-get install --reinstall{confmiss} {owner}`, then `ibv_devinfo`"
