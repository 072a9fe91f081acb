# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about GPUDirect Storage: which nvidia-fs goes with which CUDA, driver and kernel."""

from __future__ import annotations

from ....module_utils._data.gds import OPEN_ONLY
from ..matrix.model import Matrix
from ..matrix.versions import ANY, version, within
from .candidates import Candidate
from .collision import Alone, Found, Pair
from .platform import Platform
from .policy import DISTRIBUTION

_OPEN_ONLY = ".".join(map(str, OPEN_ONLY))
_UNSURE = "medium"


def kernel(host: Platform, gds: Candidate, matrix: Matrix) -> Found | None:
    wanted = gds.fact.get("kernel", ANY) if gds.fact else ANY
    if not host.kernel or within(host.kernel, wanted):
        return None
    return Found(f"{_named(gds)} is older than changes for this kernel", f"the host runs {host.kernel}", _UNSURE)


def cuda(host: Platform, gds: Candidate, chosen: Candidate, matrix: Matrix) -> Found | None:
    """Without a CUDA release nobody can name cuFile's packages; of another one it may serve."""
    if gds.absent:
        return None
    if chosen.absent:
        return Found(gds.asked(_named(gds)), "no CUDA is in the plan (stack_cuda), whose cuFile it would serve")
    wanted = gds.fact.get("cuda", ANY) if gds.fact else ANY
    if within(".".join(chosen.version.split(".")[:2]), wanted):  # The matrix has series, a site may ask for an update.
        return None
    return Found(f"{_named(gds)} came with CUDA {wanted.lstrip('=')}", f"{chosen} is to be used", _UNSURE)


def modules(host: Platform, gds: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if gds.absent or driver.modules != "proprietary" or host.arch != "x86_64":
        return None
    if version(gds.version) < version(_OPEN_ONLY):
        return None
    return Found(f"{_named(gds)} needs open kernel modules", str(driver))


def packaged(host: Platform, gds: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if gds.absent or driver.flavour != DISTRIBUTION:
        return None
    return Found(gds.asked(_named(gds)), f"the driver is that of the archive of {host.system}")


def _named(gds: Candidate) -> str:
    return f"nvidia-fs {gds.version}"


ALONE = (Alone("GDS_KERNEL", "gds", kernel),)
PAIRS = (
    Pair("GDS_DRIVER", "gds", "driver", packaged),
    Pair("GDS_MODULES", "gds", "driver", modules),
    Pair("GDS_CUDA", "gds", "cuda", cuda),
)
