# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of NCCL."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ..._ask.nccl import copies, query
from ..._data.nccl_reading import SYSTEM_FILE
from ..._data.nccl_variables import TOPO_FILE
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._expect.expectations import Expectations
from ..._expect.nccl import Desired
from ..._ground.reading import Reading
from ..._nccl.conf import as_text, settings
from ..._nccl.release import NEWEST
from ..._parse import nccl_log
from ..._parse._nccl_facts import NcclLog
from ..machine.facts import Machine
from ..stack import observe as stack
from . import named_files, observe_rdma
from .facts import NOWHERE, HostFacts, NcclFacts, not_given
from .observe_host import look_at, package

LOG = "nccl_log"


def observe(evidence: Evidence, machine: Machine, expect: Expectations) -> NcclFacts:
    """A log that somebody gave by itself, for it may be any host's; else the host."""
    log = _log(evidence)
    rdma = observe_rdma.of_job(evidence) if log.known else ()
    if LOG in getattr(evidence, "given", ()):
        return NcclFacts(log, rdma=rdma)
    return NcclFacts(log, _here(evidence, machine, expect), rdma)


def asked(evidence: Evidence) -> query.Query:
    """The library's own word, and the linker's on which one it is."""
    reported = ask.command(evidence, "nccl_proof", query.parse)
    return reported.value or query.Query(Reading(None, reported.why), Reading(None, reported.why))


def _here(evidence: Evidence, machine: Machine, expect: Expectations) -> HostFacts:
    answer = asked(evidence)
    wanted = expect.get("nccl")
    desired = wanted.value if wanted else Desired()
    if not desired.peers:
        desired = replace(desired, peers=getattr(evidence, "peers", ()))
    proof = answer.proof.value
    version = answer.library.value.version if answer.library.value else ""
    version = proof.version if proof is not None else version
    here = HostFacts(
        host=look_at(evidence, machine, expect, desired.peers, version),
        wish=desired,
        conf=_conf(evidence),
        mode=ask.mode(evidence, SYSTEM_FILE),
        topology=ask.mode(evidence, TOPO_FILE).map(bool),
        asked=answer,
        package=package(stack.observe(evidence, machine)),
        copies=copies.observe(evidence),
        vendor=machine.vendor.value or "",
    )
    return replace(here, named=named_files.look(evidence, _written(here)))


def _written(here: HostFacts) -> Mapping[str, str]:
    """What the file sets, as the library took it; where that is not known, as the text has it."""
    if here.settings.value is not None or here.conf.value is None:
        return here.settings.value or {}
    return settings(here.conf.value, here.release or NEWEST)


def _conf(evidence: Evidence) -> Reading[str]:
    """The file as its bytes are: NCCL drops no blank and no carriage return of it. A link to nowhere is somebody's
    file all the same, and NCCL goes on without it."""
    found = ask.data(evidence, SYSTEM_FILE).map(as_text)
    target = ask.link(evidence, SYSTEM_FILE).value if found.missing else None
    return found if target is None else Reading(None, f"{NOWHERE} {target}, where no file is")


def _log(evidence: Evidence) -> Reading[NcclLog]:
    if not evidence.recorded and LOG not in getattr(evidence, "given", ()):
        return not_given()
    try:
        evidence.run(LOG)
    except Unavailable as exc:
        return not_given() if "not in the bundle" in exc.reason else Reading(None, str(exc))
    # How the job ended says nothing against what it printed.
    return ask.command(evidence, LOG, nccl_log.parse, ok=None)
