# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about NCCL, the container toolkit, and the system as a whole."""

from __future__ import annotations

from ..matrix.model import CONFIRMED, MEDIUM, Matrix
from ..matrix.versions import version, within
from . import rules_supports
from .candidates import Candidate
from .collision import Alone, Found, Pair
from .platform import Platform


def system_known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if host.system or candidate.absent:
        return None
    known = ", ".join(matrix.all("systems.distributions"))
    return Found(f"the host runs {host.distribution or 'nobody knows what'}", f"known are {known}")


def nccl_cuda(host: Platform, nccl: Candidate, cuda: Candidate, matrix: Matrix) -> Found | None:
    if nccl.absent or cuda.absent or not nccl.cuda:
        return None
    if nccl.cuda.partition(".")[0] == cuda.version.partition(".")[0]:
        return None
    return Found(str(nccl), str(cuda))


def nccl_minor(host: Platform, nccl: Candidate, cuda: Candidate, matrix: Matrix) -> Found | None:
    if nccl.absent or cuda.absent or not nccl.cuda:
        return None
    if version(nccl.cuda) <= version(cuda.version):
        return None
    return Found(str(nccl), f"{cuda} is to be used")


def nccl_build(host: Platform, nccl: Candidate, matrix: Matrix) -> Found | None:
    if nccl.absent or nccl.fact is not None:
        return None
    build, sure = (f" built with CUDA {nccl.cuda}", MEDIUM) if nccl.cuda else ("", CONFIRMED)
    return Found(nccl.asked(f"NCCL {nccl.version}{build}"), "the matrix has no such build", sure)


def engine(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent:
        return None
    for name, fact in matrix.all("container_toolkit.engines").items():
        found = host.engines.get(name, "")
        if not found or not within(candidate.version, fact.get("toolkit")):
            continue
        if not within(found, fact.get("engine")):
            needs = f"{name} {fact.get('engine')} is needed by {candidate}"
            return Found(needs, f"the host has {name} {found}", fact.sure())
    return None


ALONE = (
    Alone("SYSTEM_KNOWN", "rdma", system_known),
    Alone("SYSTEM_KNOWN", "driver", system_known),
    *rules_supports.SOFTWARE,
    Alone("NCCL_BUILD", "nccl", nccl_build),
    Alone("CDI_ENGINE", "container_toolkit", engine),
)
PAIRS = (
    Pair("NCCL_CUDA", "nccl", "cuda", nccl_cuda),
    Pair("NCCL_MINOR", "nccl", "cuda", nccl_minor),
)
