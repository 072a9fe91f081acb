# SPDX-License-Identifier: GPL-3.0-or-later
"""Other copies of NCCL on a host, and what leads a job to them or past /etc/nccl.conf."""

from __future__ import annotations

import fnmatch
import re
import shlex
from dataclasses import dataclass, field

from ..._areas.host import observe_services
from ..._data import host_units
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground import regular, source
from ..._ground.command import Output, run_program
from ..._ground.reading import Reading
from ..._parse import nccl_copies
from ..._parse.nccl_copies import ConfFile, Copy, Setting, Unseen
from . import _copies_child, _host_files

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

    @property
    def unread(self) -> str:
        """Why not all was read that may give jobs an environment, "" where it was."""
        for reading in (self.settings, self.units):
            if reading.value is None and not reading.missing:
                return reading.why or "nobody searched"
        return next((f"{entry.place}: {entry.why}" for entry in self.unseen if not entry.beyond), "")


def for_all(place: str) -> bool:
    """Whether jobs of every user get what is set there: by what starts them (systemd's word), or by their login."""
    return not place.startswith("/") or any(fnmatch.fnmatchcase(place, pattern) for pattern in _host_files.SHELL)


def search() -> Output:
    """What the search of the host's files tells (evidence `nccl_copies`), for _parse/nccl_copies."""
    return run_program("nccl_copies", source.argv_of(regular, _host_files, _copies_child), 30.0)


def observe(evidence: Evidence) -> Copies:
    """Search the host; nothing that is found is run."""
    found = ask.command(evidence, "nccl_copies", nccl_copies.parse)
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
    manager = ask.command(evidence, "systemctl_show", observe_services.show)
    jobs = observe_services.blocks(evidence, host_units.JOBS)
    for entry in (manager, jobs):
        if entry.value is None:
            return Reading(None, entry.why)
    own = manager.value.all.get("Environment") if manager.value else None
    blocks = jobs.value or ()
    if own is None:  # systemd always gives its services a PATH
        return Reading(None, "systemctl_show: its list ends early: no Environment of its own")
    # A service's Id comes behind its Environment, which it has also where it is not installed.
    if not all("Id" in block and "Environment" in block for block in blocks):
        return Reading(None, f"systemctl_show: its list ends early: no environment of all {len(blocks)} units")
    found = _of(MANAGER, own)
    for block in blocks:
        found += _of(block.get("Id", ""), block.get("Environment", ""))
    return Reading(tuple(found))


def _of(unit: str, environment: str) -> list[Setting]:
    try:
        words = shlex.split(environment)
    except ValueError:
        words = environment.split()
    pairs = [word.partition("=") for word in words]
    return [Setting(unit, 0, name, value) for name, _eq, value in pairs if _NAME.fullmatch(name)]
