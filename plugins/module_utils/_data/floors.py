# SPDX-License-Identifier: GPL-3.0-or-later
"""The lowest (or highest) value of a host that is no fault, and what fails past it (floors.yml).

A new row is all that a new floor needs: one check walks the table (_areas/host/check_floors.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import floors as rows

NEEDED, USUAL = "host.floor.needed", "host.floor.usual"
# What starts jobs (a unit of host_units.JOBS), the control groups of all that starts jobs, those of them that hold the
# jobs themselves, and a network interface with an address: a row with one of these words in braces is a row for each.
UNIT, GROUP, JOB, INTERFACE = "unit", "group", "job", "interface"
CGROUPS, SLICE = "/sys/fs/cgroup", "system.slice"
# By unit, the end of the group beside it that holds its jobs; without such a group its own holds them. Source: Slurm,
# Control Group v2 plugin: slurmstepd.scope, and NODE_slurmstepd.scope where a host runs several slurmd.
HOLD_JOBS = {"slurmd.service": "slurmstepd.scope", "pbs.service": ""}
CPUS = "/sys/devices/system/cpu/online"
# How a number is made of a file with several words; else it is the last of them, or the one in brackets.
SPAN, COUNT, QUOTA = "span", "count", "quota"


@dataclass(frozen=True)
class Floor:
    """``reads``: a file, where ``*`` takes the highest of all, or a field behind a blank (meminfo, limits).

    ``least``, ``most``: a number, or where ``of`` names another value, times that. ``bad``: words that are a fault.
    ``when``: the row counts only where that file holds this word. ``everywhere``: no kernel is without it.
    ``scope``: see check_floors. ``twice``: a value past the floor is read again after a pause.
    """

    reads: str
    fails: str
    least: float | None = None
    most: float | None = None
    of: str = ""
    bad: tuple[str, ...] = ()
    check: str = USUAL
    when: tuple[str, str] = ("", "")
    remedy: str = ""
    take: str = ""
    unit: str = ""
    scope: str = "real"
    everywhere: bool = False
    twice: bool = False
    source: str = ""


FLOORS: tuple[Floor, ...] = load(Floor, rows.FLOORS)
