# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare what is installed with the lock: one check a component."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterator, Mapping

from ..._data import stack_components
from ..._expect.expectations import Expectations, Expected
from ..._ground.check import FAIL, Check, failed, outcome, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._parse.packages import Package, named
from ..._parse.version_text import fits
from ..machine.facts import MELLANOX, Machine, PciFunction
from .check_installed import NO_RDMA, Stack, has_rdma
from .facts import Driver, StackFacts

_ID = "stack.lock.match"
_MATRIX = "stack.lock.matrix"
_PLAN = "run playbooks/plan.yml"
_ABSENT = "not installed"
# Nobody but its own vendor brings a part that stays as it was found.
_FOUND_CAUSE = "it is a part that stays as it was found, and was changed since"
_FOUND_REMEDY = "keep it as it is now by `playbooks/plan.yml -e stack_relock=true`, or bring back what was there"


def judge(facts: StackFacts, machine: Machine, expect: Expectations, ours: Reading[Stack]) -> Iterator[Check]:
    """stack.lock.matrix, and stack.lock.match for every component that the lock names."""
    lock = expect.get("lock")
    yield _matrix(lock)
    wanted = expect.get("stack") or (_of_lock(lock.value) if lock else None)
    if wanted is None and lock is not None:
        yield _nothing(lock.value, machine)
        return
    if wanted is None:
        yield skipped(_ID, "host", "no lock: no plan was made for this host yet")
        return
    named = {name: value for name, value in wanted.value.items() if value not in (None, "", {})}
    if not named:
        yield skipped(_ID, "host", "the lock names no component")
    for name, value in named.items():
        if name == "rdma":
            check = _rdma(facts, machine, ours, value, wanted.source)
        elif name == "driver":
            check = _driver(facts, machine, value, wanted.source)
        else:
            check = _component(facts, str(name), value, wanted.source)
        kept = check.result == FAIL and _field(value, "found")
        yield replace(check, cause=_FOUND_CAUSE, remedy=_FOUND_REMEDY) if kept else check


def _of_lock(lock: dict[str, Any]) -> Expected | None:
    stack = lock.get("stack")
    return Expected(stack, f"lock, class {lock.get('class')}") if stack else None


def _nothing(lock: Mapping[str, Any], machine: Machine) -> Check:
    """Of a lock without a stack for this host: nothing was planned of it, or the plan has nothing to install."""
    if not lock.get("nothing"):
        return unknown(_ID, "host", "no plan of this host is in the lock", remedy=_PLAN)
    plan = f"the plan of class {lock.get('class')}"
    of = lock.get("of") or {}

    def compare(_found: tuple[PciFunction, ...]) -> Check:
        new = [
            what
            for what, planned, there in (
                ("an NVIDIA GPU", of.get("gpus"), bool(machine.cards)),
                ("an HCA", of.get("hcas"), any(hca.vendor == MELLANOX for hca in machine.hcas)),
            )
            if there and not planned
        ]
        if new:
            return unknown(
                _ID, "host", f"{plan} was made without {' and '.join(new)}, and it is there now", remedy=_PLAN
            )
        return none()

    def none() -> Check:
        return skipped(_ID, "host", f"{plan} has nothing to install: {lock['nothing']}")

    return none() if machine.without_hardware else look(_ID, "host", machine.pci, compare, missing=none)


def _matrix(lock: Expected | None) -> Check:
    if lock is None:
        return skipped(_MATRIX, "host", "no lock: no plan was made for this host yet")
    locked, current = str(lock.value.get("matrix", "")), str(lock.value.get("current", ""))
    if not locked or not current:
        return unknown(_MATRIX, "host", "nobody said which matrix the lock was made with", remedy=_PLAN)
    shown = [entry[:12] for entry in (locked, current)]
    return outcome(
        locked == current,
        _MATRIX,
        "host",
        shown[0],
        shown[1],
        "lock",
        cause="the matrix has changed since the lock was written",
    )


def _field(value: Any, key: str) -> str:
    """One field of a component; a component that is no dictionary is its version."""
    found = value.get(key) if isinstance(value, dict) else value
    if key != "version" and not isinstance(value, dict):
        found = None
    return "" if found is None or isinstance(found, (bool, dict, list)) else str(found)


def _rdma(facts: StackFacts, machine: Machine, ours: Reading[Stack], value: Any, source: str) -> Check:
    flavour, there = _field(value, "flavour"), _field(value, "found")
    version = _field(value, "version") or there
    expected = f"{flavour} {version}".strip()
    if has_rdma(facts, machine) is False:
        return skipped(_ID, "rdma", NO_RDMA)

    def compare(stack: Stack) -> Check:
        right = not flavour or stack.flavour == flavour
        if right and (not version or any(fits(entry, version) or entry == there for entry in stack.versions)):
            return passed(_ID, "rdma", stack, expected, source)
        cause = _changed(expected) if right else "another RDMA stack is installed than was planned"
        return failed(_ID, "rdma", stack, expected, source, cause=cause)

    return look(_ID, "rdma", ours, compare)


def _driver(facts: StackFacts, machine: Machine, value: Any, source: str) -> Check:
    version, branch = _field(value, "version"), _field(value, "branch")
    modules = _field(value, "modules")
    expected = " ".join(entry for entry in (version or branch, modules) if entry)
    if machine.without_hardware:
        return skipped(_ID, "driver", f"simulated node: {machine.without_hardware}")
    if machine.has_gpus is False:
        return skipped(_ID, "driver", "no NVIDIA GPU on the PCI bus")

    there = _driver_packages(facts)
    # Upgraded by hand, it is another one from the next boot on.
    strange = [package for package in there if version and not _of(package, version)]

    def compare(driver: Driver) -> Check:
        kind = "open" if driver.open else "proprietary"
        observed = f"{driver.version} {kind}"
        if strange:
            reported = f"{observed} is loaded, {strange[0].name} {strange[0].version} is installed"
            return failed(_ID, "driver", reported, expected, source, cause=_changed(expected))
        if not fits(driver.version, version or branch) and (version or branch):
            cause = _changed(expected)
        elif modules and modules != kind:
            cause = f"the {kind} kernel modules are loaded"
        else:
            return passed(_ID, "driver", observed, expected, source)
        return failed(_ID, "driver", observed, expected, source, cause=cause)

    def none() -> Check:
        if not there:
            return failed(_ID, "driver", "no driver is loaded", expected, source, cause=_ABSENT)
        shown = (strange or there)[0]
        reported = f"no driver is loaded, {shown.name} {shown.version} is installed"
        cause = _changed(expected) if strange else "it was not loaded since it was installed, or the kernel refused it"
        return failed(_ID, "driver", reported, expected, source, cause=cause)

    return look(_ID, "driver", facts.driver, compare, missing=none)


def _driver_packages(facts: StackFacts) -> list[Package]:
    names = stack_components.DRIVER_VERSIONED
    return [package for package in facts.packages.value or () if package.name.startswith(names)]


def _of(package: Package, version: str) -> bool:
    """Whether a package is of a driver's version; Enterprise Linux's kmod names it otherwise."""
    return fits(package.version, version) or "kmod" in package.name


def _component(facts: StackFacts, name: str, value: Any, source: str) -> Check:
    version = _field(value, "version")
    if not version:
        return skipped(_ID, name, "the lock names no version of it")
    names = stack_components.PACKAGES.get(name, (name.replace("_", "-"),))
    if name == "cuda" and facts.cuda.value is not None:
        return _compared(name, facts.cuda.value, version, source)

    def packages(found: tuple[Package, ...]) -> Check:
        mine = named(found, names)
        if not mine and name not in stack_components.PACKAGES:
            return unknown(_ID, name, f"nobody knows in which package {name} comes")
        if not mine and name == "cuda":
            return skipped(_ID, name, "no CUDA toolkit on the host: jobs bring their own")
        if not mine:
            return failed(_ID, name, _ABSENT, version, source, cause=_ABSENT)
        # CUDA toolkits of several releases may lie side by side; one of them must fit.
        best = next((package for package in mine if fits(package.version, version)), mine[0])
        return _compared(name, best.version, version, source)

    return look(_ID, name, facts.packages, packages)


def _compared(name: str, observed: str, version: str, source: str) -> Check:
    return outcome(fits(observed, version), _ID, name, observed, version, source, cause=_changed(version))


def _changed(expected: str) -> str:
    return f"it was changed since the lock was written, or never brought to {expected}"
