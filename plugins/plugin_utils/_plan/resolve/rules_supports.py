# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of one shape: which versions of a part support what they meet on a host.

What hardware needs stands with its generation and its model (matrix/gpus.yml), the rest in matrix/supports.yml.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._parse.version_text import numbers
from ..matrix.model import CONFIDENCES, Fact, Matrix
from ..matrix.versions import ANY, within
from . import hardware
from .candidates import Candidate
from .collision import Alone, Found
from .platform import Platform

_BRANCH, _FLOOR, _CODE = "GPU_BRANCH", "GPU_DRIVER_FLOOR", "NCCL_CODE"
# The field of a generation or a model that a rule holds by.
_FIELDS = {_BRANCH: "driver", _FLOOR: "driver", "CUDA_ARCH": "cuda", "NCCL_GPU": "nccl", _CODE: "nccl_build"}
_SUBJECTS = {"cuda": "CUDA", "nccl": "NCCL"}


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
        found += _hardware(name, host, candidate, matrix)
        return min(found, key=lambda unmet: CONFIDENCES.index(unmet.confidence), default=None)

    return Alone(name, part, test)


def _unmet(host: Platform, candidate: Candidate, fact: Fact) -> Found | None:
    whom, wanted = _whom(host, candidate, fact), fact.get("version")
    if not whom or not within(candidate.version, fact.get("among", ANY)) or within(candidate.version, wanted):
        return None
    subject = _SUBJECTS.get(candidate.part, candidate.part)
    of_these = f" (of {fact.get('among')})" if fact.get("among") else ""
    # That nothing of a branch goes is no version.
    needs = f"no {subject}{of_these} goes with {whom}" if wanted == "none" else f"{whom} needs {subject} {wanted}"
    return Found(needs + (of_these if wanted != "none" else ""), str(candidate), fact.sure("version"), fact.source)


def _whom(host: Platform, candidate: Candidate, fact: Fact) -> str:
    """What of the host the entry speaks of; "" where it has none of it."""
    named = [gpu for gpu in host.gpus if gpu in fact.get("gpus", ())]
    if fact.get("gpus") and not named:
        return ""
    if fact.get("modules") and candidate.modules not in fact.get("modules"):
        return ""
    if fact.get("kernel"):
        if not host.release or not within(host.release, fact.get("kernel")):
            return ""
        named.append(f"kernel {host.kernel}")
    return ", ".join(named)


def _hardware(name: str, host: Platform, candidate: Candidate, matrix: Matrix) -> Iterator[Found]:
    """What the host's GPUs need of a part, by their generation, by their model where that differs."""
    field = _FIELDS.get(name, "")
    value = candidate.cuda if name == _CODE else candidate.version
    subject = "NCCL built with CUDA" if name == _CODE else _SUBJECTS.get(candidate.part, candidate.part)
    for gpu in host.gpus if field and numbers(value) else ():
        source = _says(name, gpu, field, matrix)
        if source is not None and not within(value, source[0].get(field)):
            fact, whom = source
            needs = f"{whom} needs {subject} {fact.get(field)}"
            yield Found(needs, str(candidate), _sure(name, candidate, fact), fact.said_by(field))


def _says(name: str, gpu: str, field: str, matrix: Matrix) -> tuple[Fact, str] | None:
    """A model's own driver is a rule beside its generation's."""
    if name == _FLOOR:
        mine = hardware.model(gpu, matrix)
        return (mine, gpu) if mine is not None and mine.get(field) else None
    if name == _BRANCH:
        fact = hardware.generation(gpu, "gpus", matrix)
        return (fact, f"{gpu} ({fact.name})") if fact is not None else None
    return hardware.said(gpu, field, matrix)


def _sure(name: str, candidate: Candidate, fact: Fact) -> str:
    """That a whole branch is below a model's floor is as sure as the entry; within the branch, as the field."""
    sure = fact.sure(_FIELDS[name])
    if name != _FLOOR:
        return sure
    branch = fact.get("driver").lstrip(">=").partition(".")[0]
    older = branch.isdigit() and candidate.branch.isdigit() and int(candidate.branch) < int(branch)
    return min((fact.sure(), sure), key=CONFIDENCES.index) if older else sure


DRIVER = (_rule(_BRANCH, "driver"), _rule(_FLOOR, "driver"))
KERNEL = _rule("DRIVER_KERNEL", "driver")
SOFTWARE = (_rule("CUDA_ARCH", "cuda"), _rule("NCCL_GPU", "nccl"), _rule(_CODE, "nccl"))
