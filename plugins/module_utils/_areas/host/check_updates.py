# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether automatic updates leave drivers and RDMA packages alone."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from ..._data import driver_packages
from ..._data.driver_packages import Packages
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts, UpdateFacts

_CHECK = "host.updates.held"
_EXPECTED = "no driver or RDMA package changes by itself"
_STARS = 4
_EVERYTHING = ("*", ".*", ".", "")
# More than names and blanks to fill: nobody here works such a pattern out.
_HARD = re.compile(r"[(|\[{+?]")


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.updates.* checks."""
    scope = (
        check_scope.with_kernel(machine)
        .then(check_scope.outside_container(machine))
        .then(check_scope.with_gpu_or_hca(machine))
    )
    return scope.judge(_CHECK, lambda: [_held(facts.updates, machine)])


def _held(updates: UpdateFacts, machine: Machine) -> Check:
    def judge(who: str) -> Check:
        if not who:
            return passed(_CHECK, HOST, f"off: {updates.why}", _EXPECTED, CAPABILITY)
        left = updates.left_alone
        if left.value is None:
            return unknown(_CHECK, HOST, f"{who} installs updates; {left.why}")
        wanted: dict[str, Packages] = {}
        if machine.has_gpus is not False:
            wanted["the NVIDIA driver"] = driver_packages.OF_GPUS
        if not check_scope.with_hca(machine).skip:
            wanted["the RDMA stack"] = driver_packages.OF_HCAS
        covered = {name: _covered(packages, left.value) for name, packages in wanted.items()}
        free = [name for name, safe in covered.items() if safe is False]
        if not free and None in covered.values():
            return unknown(_CHECK, HOST, f"{who}: cannot tell which packages it leaves alone")
        if not free:
            return passed(_CHECK, HOST, f"{who} leaves them alone", _EXPECTED, CAPABILITY)
        cause = f"{who} may update {' and '.join(free)} under running jobs"
        return failed(_CHECK, HOST, f"{who} is on", _EXPECTED, CAPABILITY, cause=cause)

    def missing() -> Check:
        return skipped(_CHECK, HOST, "neither apt nor dnf updates this host")

    return look(_CHECK, HOST, updates.who, judge, missing=missing)


def _covered(packages: Packages, patterns: tuple[str, ...]) -> bool | None:
    """Whether a pattern is meant for one of these; None where one that may be cannot be told."""
    found: list[bool | None] = []
    for pattern in patterns:
        plain = pattern.strip("^$").lower().replace("\\", "")
        glob = plain.replace(".*", "*")
        if plain in _EVERYTHING:
            found.append(True)
        elif _HARD.search(plain) or glob.count("*") > _STARS:
            found.append(None if any(word in plain for word in packages.words) else False)
        else:
            found.append(_meant(glob, packages))
    return True if True in found else None if None in found else False


def _meant(glob: str, packages: Packages) -> bool:
    """Whether the pattern names one of the packages, or all names that begin as theirs do."""
    if any(fnmatchcase(glob, other) for other in packages.others):
        return False
    return any(fnmatchcase(glob, name) or fnmatchcase(name.rstrip("*"), f"{glob}*") for name in packages.names)
