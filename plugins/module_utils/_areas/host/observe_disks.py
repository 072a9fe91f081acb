# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what is mounted where, what file systems have left, and the state of NVMe disks."""

from __future__ import annotations

import re

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import df, mounts
from .facts_machine import DiskFacts

MOUNTS = "/proc/self/mounts"
NVME = "/sys/class/nvme"
_CONTROLLER = re.compile(r"nvme[0-9]{1,4}")


def observe(evidence: Evidence) -> DiskFacts:
    """df is asked of the places that matter alone, for a file server that hangs would hold it."""
    return DiskFacts(
        mounts=ask.file(evidence, MOUNTS, mounts.parse),
        fstab=ask.file(evidence, "/etc/fstab", mounts.parse),
        # Status 1: not every place is there.
        left=ask.command(evidence, "df", df.parse, ok=(0, 1)),
        nvme=_nvme(evidence),
    )


def _nvme(evidence: Evidence) -> Reading[dict[str, str]]:
    names = ask.names(evidence, NVME)
    if names.value is None:
        return Reading(None, names.why, names.missing)
    found: dict[str, str] = {}
    for name in filter(_CONTROLLER.fullmatch, names.value):
        state = ask.text(evidence, f"{NVME}/{name}/state")
        if state.value is None:
            return Reading(None, state.why)
        found[name] = state.value
    return Reading(found) if found else Reading(None, "the host has no NVMe disk", missing=True)
