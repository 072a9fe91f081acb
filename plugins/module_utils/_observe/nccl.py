# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of NCCL."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nccl import (
    NcclFacts,
    not_given,
)
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_facts import NcclLog

LOG = "nccl_log"


def observe(evidence: Evidence, machine: Machine) -> NcclFacts:
    """What somebody gave of NCCL; a live host has no log that could be found."""
    return NcclFacts(log=_log(evidence))


def _log(evidence: Evidence) -> Reading[NcclLog]:
    if not evidence.recorded and LOG not in getattr(evidence, "given", ()):
        return not_given()
    try:
        evidence.run(LOG)
    except Unavailable as exc:
        return not_given() if "not in the bundle" in exc.reason else Reading(None, str(exc))
    # How the job ended says nothing against what it printed.
    return _ask.command(evidence, LOG, nccl_log.parse, ok=None)
