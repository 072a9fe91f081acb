# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the NVIDIA driver: GPU, branch, kernel modules, and what must be of its version."""

from __future__ import annotations

from ..matrix.model import CONFIRMED, Matrix
from ..matrix.packaged import packages
from ..matrix.versions import version, within
from . import archive, hardware, rules_supports
from .candidates import Candidate
from .collision import Alone, Found, Pair, no_architecture
from .platform import Platform
from .policy import DISTRIBUTION


def branch_known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or candidate.fact is not None:
        return None
    known = ", ".join(matrix.all("drivers.branches"))
    floors = ", ".join(f"{major} {fact.get('driver')}" for major, fact in matrix.all("cuda.majors").items())
    return Found(
        candidate.asked(f"the driver {candidate.version}"),
        f"known branches are {known}; CUDA needs of them: {floors}",
    )


def gpu_known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    """A site that names a driver knows its GPU; otherwise nobody does."""
    strange = [gpu for gpu in host.gpus if hardware.said(gpu, "driver", matrix) is None]
    if candidate.absent or not strange:
        return None
    sure = "medium" if candidate.pinned else CONFIRMED
    return Found(f"the host has GPU {', '.join(strange)}", "the matrix has neither the model nor its generation", sure)


def gpu_modules(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    for gpu in host.gpus:
        said = hardware.said(gpu, "modules", matrix)
        if candidate.absent or said is None or candidate.modules in said[0].get("modules"):
            continue
        only = " or ".join(said[0].get("modules"))
        return Found(
            f"{said[1]} needs {only} kernel modules",
            str(candidate),
            said[0].sure("modules"),
            said[0].said_by("modules"),
        )
    return None


def branch_modules(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.fact is None or candidate.modules in candidate.fact.get("modules"):
        return None
    has = " and ".join(candidate.fact.get("modules"))
    return Found(
        f"{candidate.modules} kernel modules are asked for",
        f"branch {candidate.branch} has {has} ones only",
        candidate.fact.sure("modules"),
    )


def system(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    fact = matrix.get("systems.packages", "driver")
    if candidate.absent:
        return None
    if candidate.flavour == DISTRIBUTION:
        return None
    strange = no_architecture(host, "cuda", matrix)
    if strange is not None or fact is None or host.is_like(fact.get("systems")):
        return strange
    return Found(f"the host runs {host.system or host.distribution}", str(candidate), fact.sure())


def archived(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.flavour != DISTRIBUTION:
        return None
    there = list(archive.drivers(host, matrix))
    if any((driver.release, driver.modules) == (candidate.version, candidate.modules) for driver in there):
        return None
    listed = ", ".join(sorted({f"{driver.release} {driver.modules}" for driver in there}, reverse=True))
    return Found(
        candidate.asked(),
        f"the archive of {host.system or host.distribution} has {listed or 'no driver that the matrix knows'}",
    )


def packaged(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    """What belongs to a driver of the distribution has to come from there as well."""
    if driver.flavour != DISTRIBUTION or candidate.absent:
        return None
    stack = {
        "driver": {"branch": driver.branch, "version": driver.version, "flavour": driver.flavour},
        candidate.part: {"version": candidate.version},
    }
    if any(packages(candidate.part, stack, host.system, matrix)):
        return None
    return Found(str(candidate), f"the archive of {host.system} has no package of it")


def fabric_manager_there(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    """Whoever brings the driver brings the fabric manager, too."""
    if driver.absent or not (host.fabric_manager and candidate.absent):
        return None
    return Found(f"the board is {host.board}", "no fabric manager is to be installed")


def not_there(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    """What serves NVSwitches or a rack's NVLink, on a host that has none.

    An SXM module outside of a board that we know may have them: nobody is sure.
    """
    if candidate.absent or host.serves(candidate.part):
        return None
    here = f"the board is {host.board}" if host.board else f"the host has {', '.join(host.gpus)}"
    sure = CONFIRMED if host.board or not host.may_have_switches else "medium"
    return Found(here, candidate.asked(), sure)


def nvlsm_there(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if driver.absent or not (host.nvlsm and candidate.absent):
        return None
    return Found(f"the board is {host.board}", "no nvlsm is to be installed")


def same_version(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or driver.absent or version(candidate.version) == version(driver.version):
        return None
    return Found(str(candidate), str(driver))


def cuda_driver(host: Platform, cuda: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    fact = matrix.get("cuda.majors", cuda.version.partition(".")[0])
    if cuda.absent or driver.absent:
        return None
    if fact is None:
        return Found(cuda.asked(f"CUDA {cuda.version}"), "the matrix has no such release", "medium")
    if within(driver.version, fact.get("driver")):
        return None
    compat = fact.get("compat", "").format(dashed="-".join(cuda.version.split(".")[:2]))
    beside = f"; with it, on data centre GPUs, goes {compat} (forward compatibility)" if compat else ""
    return Found(f"CUDA {cuda.version} needs driver {fact.get('driver')}", f"{driver}{beside}", fact.sure("driver"))


def cuda_minor(host: Platform, cuda: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if cuda.absent or not driver.cuda or version(cuda.version) <= version(driver.cuda):
        return None
    return Found(f"CUDA {cuda.version} is to be used", f"{driver} brings CUDA {driver.cuda}")


ALONE = (
    Alone("GPU_KNOWN", "driver", gpu_known),
    *rules_supports.DRIVER,
    Alone("BRANCH_KNOWN", "driver", branch_known),
    Alone("BRANCH_MODULES", "driver", branch_modules),
    Alone("GPU_MODULES", "driver", gpu_modules),
    rules_supports.KERNEL,
    Alone("DRIVER_SYSTEM", "driver", system),
    Alone("DRIVER_ARCHIVE", "driver", archived),
    *(Alone("FM_NOT_HERE", part, not_there) for part in ("fabric_manager", "nscq", "imex", "nvlsm")),
)
PAIRS = (
    Pair("FM_NEEDED", "fabric_manager", "driver", fabric_manager_there),
    Pair("NVLSM_NEEDED", "nvlsm", "driver", nvlsm_there),
    Pair("FM_EQ_DRIVER", "fabric_manager", "driver", same_version),
    Pair("NSCQ_EQ_DRIVER", "nscq", "driver", same_version),
    Pair("IMEX_EQ_DRIVER", "imex", "driver", same_version),
    *(Pair("PART_ARCHIVE", part, "driver", packaged) for part in ("fabric_manager", "nscq", "imex", "nvlsm")),
    Pair("CUDA_DRIVER", "cuda", "driver", cuda_driver),
    Pair("CUDA_MINOR", "cuda", "driver", cuda_minor),
)
