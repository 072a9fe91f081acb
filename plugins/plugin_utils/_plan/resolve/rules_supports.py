# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of one shape: from which version on a part supports what it meets on a host (matrix/supports.yml)."""

from __future__ import annotations

from collections.abc import Iterator

from ..matrix.model import CONFIDENCES, Fact, Matrix
from ..matrix.versions import ANY, within
from .candidates import Candidate
from .collision import Alone, Found
from .platform import Platform

_FLOOR = "GPU_DRIVER_FLOOR"


def _rule(name: str, part: str) -> Alone:
    """The rule of this name: the surest entry that the candidate does not fit."""

    def test(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
        if candidate.absent:
            return None
        found = [
            unmet
            for fact in matrix.all("supports.versions").values()
            if (fact.get("rule"), fact.get("part")) == (name, part) and (unmet := _unmet(host, candidate, fact))
        ]
        if name == _FLOOR:
            found += _floors(host, candidate, matrix)
        return min(found, key=lambda unmet: CONFIDENCES.index(unmet.confidence), default=None)

    return Alone(name, part, test)


def _unmet(host: Platform, candidate: Candidate, fact: Fact) -> Found | None:
    value = candidate.cuda if fact.get("field") == "cuda" else candidate.version
    whom = _whom(host, candidate, fact)
    wanted = fact.get("version")
    if not whom or not value or not within(value, fact.get("among", ANY)) or within(value, wanted):
        return None
    subject = {"cuda": "CUDA", "nccl": "NCCL"}.get(candidate.part, candidate.part)
    subject = "NCCL built with CUDA" if fact.get("field") == "cuda" else subject
    of_these = f" (of {fact.get('among')})" if fact.get("among") else ""
    # That nothing of a branch goes is no version.
    needs = f"no {subject}{of_these} goes with {whom}" if wanted == "none" else f"{whom} needs {subject} {wanted}"
    return Found(needs + (of_these if wanted != "none" else ""), str(candidate), fact.sure("version"), fact.source)


def _whom(host: Platform, candidate: Candidate, fact: Fact) -> str:
    """What of the host the entry speaks of; "" where it has none of it."""
    gpus, architectures = fact.get("gpus"), fact.get("architectures")
    named = [gpu for gpu in host.gpus if gpu in (gpus or ())]
    named += [f"{gpu} ({kind})" for gpu, kind in host.kinds if kind in (architectures or ())]
    if (gpus or architectures) and not named:
        return ""
    if fact.get("modules") and candidate.modules not in fact.get("modules"):
        return ""
    if fact.get("kernel"):
        if not host.release or not within(host.release, fact.get("kernel")):
            return ""
        named.append(f"kernel {host.kernel}")
    return ", ".join(named)


def _floors(host: Platform, candidate: Candidate, matrix: Matrix) -> Iterator[Found]:
    """What single GPU models need of a driver (matrix/gpus.yml)."""
    for gpu in host.gpus:
        fact = matrix.get("gpus.models", gpu)
        if fact is None or within(candidate.version, fact.get("driver")):
            continue
        # That a whole branch is below is as sure as the entry; within the branch, as the field.
        branch = fact.get("driver").lstrip(">=").partition(".")[0]
        older = branch.isdigit() and candidate.branch.isdigit() and int(candidate.branch) < int(branch)
        sure = min((fact.sure(), fact.sure("driver")), key=CONFIDENCES.index) if older else fact.sure("driver")
        yield Found(f"{gpu} needs driver {fact.get('driver')}", str(candidate), sure, fact.source)


DRIVER = (_rule("GPU_BRANCH", "driver"), _rule(_FLOOR, "driver"))
KERNEL = _rule("DRIVER_KERNEL", "driver")
SOFTWARE = (_rule("CUDA_ARCH", "cuda"), _rule("NCCL_GPU", "nccl"), _rule("NCCL_CODE", "nccl"))
