# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of NCCL."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_variables import TOPO_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Missing,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nccl import (
    HostFacts,
    NcclFacts,
    not_given,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import asked, copies
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.build import (
    look_at,
    package,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import as_text
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.wish import Wish
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask, stack
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_facts import NcclLog

LOG = "nccl_log"


def observe(evidence: Evidence, machine: Machine, expect: Expectations) -> NcclFacts:
    """A log that somebody gave by itself, for it may be any host's; else the host."""
    log = _log(evidence)
    if LOG in getattr(evidence, "given", ()):
        return NcclFacts(log)
    return NcclFacts(log, _here(evidence, machine, expect))


def _here(evidence: Evidence, machine: Machine, expect: Expectations) -> HostFacts:
    told = _ask.command(evidence, "nccl_proof", asked.parse)
    answer = told.value or asked.Asked(Reading(None, told.why), Reading(None, told.why))
    wanted = expect.get("nccl")
    wish = wanted.value if wanted else Wish()
    if not wish.peers:
        wish = replace(wish, peers=getattr(evidence, "peers", ()))
    proof = answer.proof.value
    version = answer.library.value.version if answer.library.value else ""
    version = proof.version if proof is not None else version
    return HostFacts(
        host=look_at(evidence, machine, expect, wish.peers, version),
        wish=wish,
        conf=_conf(evidence),
        mode=_mode(evidence, SYSTEM_FILE),
        topology=_mode(evidence, TOPO_FILE).map(bool),
        asked=answer,
        package=package(stack.observe(evidence, machine)),
        copies=copies.observe(evidence),
    )


def _conf(evidence: Evidence) -> Reading[str]:
    """The file as its bytes are: NCCL drops no blank and no carriage return of it."""
    try:
        return Reading(as_text(evidence.read_bytes(SYSTEM_FILE)))
    except Unavailable as exc:
        return Reading(None, str(exc), isinstance(exc, Missing))


def _mode(evidence: Evidence, path: str) -> Reading[int]:
    try:
        return Reading(evidence.mode(path))
    except Unavailable as exc:
        return Reading(None, str(exc), isinstance(exc, Missing))


def _log(evidence: Evidence) -> Reading[NcclLog]:
    if not evidence.recorded and LOG not in getattr(evidence, "given", ()):
        return not_given()
    try:
        evidence.run(LOG)
    except Unavailable as exc:
        return not_given() if "not in the bundle" in exc.reason else Reading(None, str(exc))
    # How the job ended says nothing against what it printed.
    return _ask.command(evidence, LOG, nccl_log.parse, ok=None)
