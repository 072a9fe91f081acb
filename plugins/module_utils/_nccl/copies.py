# SPDX-License-Identifier: GPL-3.0-or-later
"""Other copies of NCCL on a host, and what leads a job to them or past /etc/nccl.conf."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.module_utils._data import host_units
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask, host_services
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_copies
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nccl_copies import (
    ConfFile,
    Copy,
    Setting,
    Unseen,
)

_PROPERTIES = "--property=Id,Environment"
_NAME = re.compile(r"NCCL_[A-Z0-9_]{1,100}|LD_LIBRARY_PATH")
MANAGER = "systemd"


@dataclass(frozen=True)
class Copies:
    """``copies``, ``settings`` and ``confs``: from the host's files; all three are known together.

    ``units``: what systemd gives to the services that start jobs, and to every service (MANAGER).
    ``unseen``: where nothing was looked for,
    so that nothing found is no proof that there is nothing.
    """

    copies: Reading[tuple[Copy, ...]] = field(default_factory=Reading)
    settings: Reading[tuple[Setting, ...]] = field(default_factory=Reading)
    confs: Reading[tuple[ConfFile, ...]] = field(default_factory=Reading)
    units: Reading[tuple[Setting, ...]] = field(default_factory=Reading)
    unseen: tuple[Unseen, ...] = ()


def observe(evidence: Evidence) -> Copies:
    """Search the host; nothing that is found is run."""
    found = _ask.command(evidence, "nccl_copies", nccl_copies.parse)
    confs = found.map(lambda told: told.confs)
    return Copies(
        copies=found.map(lambda told: told.copies),
        settings=found.map(lambda told: told.settings),
        confs=confs,
        units=_units(evidence),
        unseen=found.value.unseen if found.value is not None else (),
    )


def _units(evidence: Evidence) -> Reading[tuple[Setting, ...]]:
    """What systemd itself tells: drop-ins are merged, and what was set at run time is in it."""
    manager = _ask.command(evidence, "systemctl_show", host_services.show)
    names = [f"{one}.service" for one in host_units.JOBS]
    jobs = _ask.command(evidence, "systemctl_show", host_services.show, _PROPERTIES, *names)
    for one in (manager, jobs):
        if one.value is None:
            return Reading(None, one.why)
    found = [*_of(MANAGER, manager.value.all.get("Environment", "") if manager.value else "")]
    for name, block in (jobs.value.units if jobs.value else {}).items():
        found += _of(name, block.get("Environment", ""))
    return Reading(tuple(found))


def _of(unit: str, environment: str) -> list[Setting]:
    try:
        words = shlex.split(environment)
    except ValueError:
        words = environment.split()
    pairs = [word.partition("=") for word in words]
    return [Setting(unit, 0, name, value) for name, _eq, value in pairs if _NAME.fullmatch(name)]
