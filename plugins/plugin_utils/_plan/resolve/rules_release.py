# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about releases as such: does the matrix have it, has it a published hole, is it built on the host."""

from __future__ import annotations

from ..matrix.model import CONFIRMED, MEDIUM, Fact, Matrix
from ..matrix.packaged import dkms, packages
from ..matrix.versions import within
from . import series
from .candidates import Candidate
from .collision import Alone, Found
from .platform import Platform


def known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    """What is less than a whole release names no package; nobody can install it."""
    if candidate.absent or not candidate.unlisted:
        return None
    if series.whole(candidate.flavour if candidate.part == "rdma" else candidate.part, candidate.version):
        return Found(candidate.asked(), f"the matrix has {candidate.unlisted}", MEDIUM)
    return Found(candidate.asked(), "that is the beginning of a release, and the matrix has none of them")


def affected(part: str, version: str, fact: Fact) -> bool:
    """Whether a release of a part has this hole."""
    return fact.get("part") == part and any(within(version, each) for each in fact.get("affected"))


def hole(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    """What a release has that is mended in a later one. A site that names a release knows what it asks for."""
    has = {
        name: fact
        for name, fact in matrix.all("security.holes").items()
        if not candidate.absent and affected(candidate.part, candidate.version, fact)
    }
    if not has:
        return None
    return Found(
        f"{candidate} has {', and '.join(f'{name}: ' + fact.get('what') for name, fact in has.items())}",
        f"mended in {', and in '.join(dict.fromkeys(str(fact.get('mended')) for fact in has.values()))}",
        MEDIUM if candidate.pinned else CONFIRMED,
        "; ".join(dict.fromkeys(fact.source for fact in has.values())),
    )


def built(host: Platform, candidate: Candidate, matrix: Matrix) -> bool:
    """Whether DKMS builds this on the host, from sources that its packages bring."""
    stack = {candidate.part: candidate.fields}
    found = [] if candidate.absent else packages(candidate.part, stack, host.system, matrix)
    return any(dkms(fact, stack, host.family) for fact in found)


def secure_boot(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if not host.secure_boot or candidate.signed or not built(host, candidate, matrix):
        return None
    return Found("Secure Boot is on", f"{candidate} is built by DKMS")


_PARTS = ("rdma", "driver", "nvlsm", "nccl", "container_toolkit", "dcgm", "gdrcopy", "gds")
ALONE = (
    *(Alone("RELEASE_KNOWN", part, known) for part in _PARTS),
    *(Alone("SECURITY", part, hole) for part in _PARTS),
    *(Alone("SECURE_BOOT", part, secure_boot) for part in ("rdma", "driver", "gdrcopy", "gds")),
)
