# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the NVIDIA driver: GPU, branch, kernel modules, and what must be of its version."""

from __future__ import annotations

from ....module_utils._expect import profiles
from ..matrix.model import CONFIRMED, Matrix
from ..matrix.versions import version, within
from .candidates import Candidate
from .collision import Alone, Found, Pair
from .platform import Platform


def branch_known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or candidate.fact is not None:
        return None
    known = ", ".join(matrix.all("drivers.branches"))
    return Found(f"the driver {candidate.version} is asked for", f"known branches are {known}")


def gpu_known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    """A site that names a driver knows its GPU; otherwise nobody does."""
    strange = [gpu for gpu in host.gpus if gpu not in matrix.all("gpus.models")]
    if candidate.absent or not strange:
        return None
    sure = "medium" if candidate.pinned else CONFIRMED
    return Found(f"the host has GPU {', '.join(strange)}", "the matrix has no such model", sure)


def floor(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    for gpu in host.gpus:
        fact = matrix.get("gpus.models", gpu)
        if candidate.absent or fact is None or within(candidate.version, fact.get("driver")):
            continue
        # That a whole branch is below is as sure as the entry; within the branch, as the field.
        return Found(f"{gpu} needs driver {fact.get('driver')}", str(candidate), fact.sure("driver"))
    return None


def branch_drives(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    lacking = candidate.fact.get("lacks", ()) if candidate.fact else ()
    for gpu in host.known_gpus:
        architecture = profiles.gpu_model(gpu).architecture
        if architecture in lacking:
            sure = candidate.fact.sure("lacks") if candidate.fact else CONFIRMED
            return Found(f"{gpu} is a {architecture} GPU", f"branch {candidate.branch} has none", sure)
    return None


def gpu_modules(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    for gpu in host.gpus:
        fact = matrix.get("gpus.models", gpu)
        if candidate.absent or fact is None or candidate.modules in fact.get("modules"):
            continue
        only = " or ".join(fact.get("modules"))
        return Found(f"{gpu} needs {only} kernel modules", str(candidate), fact.sure("modules"))
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
    if candidate.absent or fact is None or host.is_like(fact.get("systems")):
        return None
    return Found(f"the host runs {host.system or host.distribution}", str(candidate), fact.sure())


def secure_boot(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or not host.secure_boot:
        return None
    return Found("Secure Boot is on", f"{candidate} is built by DKMS")


def fabric_manager_there(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    """Whoever brings the driver brings the fabric manager, too."""
    if driver.absent or not (host.fabric_manager and candidate.absent):
        return None
    return Found(f"the board is {host.board}", "no fabric manager is to be installed")


def no_fabric_manager_there(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or not host.imex:
        return None
    return Found(f"the board is {host.board}", f"{candidate} is asked for")


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
        return Found(f"CUDA {cuda.version} is asked for", "the matrix has no such release", "medium")
    if within(driver.version, fact.get("driver")):
        return None
    return Found(f"CUDA {cuda.version} needs driver {fact.get('driver')}", str(driver), fact.sure("driver"))


def cuda_minor(host: Platform, cuda: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if cuda.absent or not driver.cuda or version(cuda.version) <= version(driver.cuda):
        return None
    return Found(f"CUDA {cuda.version} is to be used", f"{driver} brings CUDA {driver.cuda}")


def cuda_gpu(host: Platform, cuda: Candidate, matrix: Matrix) -> Found | None:
    for architecture in host.architectures:
        fact = matrix.get("cuda.architectures", architecture)
        if cuda.absent or fact is None or within(cuda.version, fact.get("cuda")):
            continue
        return Found(f"CUDA for {architecture} GPUs ends: {fact.get('cuda')}", str(cuda), fact.sure("cuda"))
    return None


ALONE = (
    Alone("BRANCH_KNOWN", "driver", branch_known),
    Alone("GPU_KNOWN", "driver", gpu_known),
    Alone("GPU_BRANCH", "driver", branch_drives),
    Alone("GPU_DRIVER_FLOOR", "driver", floor),
    Alone("BRANCH_MODULES", "driver", branch_modules),
    Alone("GPU_MODULES", "driver", gpu_modules),
    Alone("DRIVER_SYSTEM", "driver", system),
    Alone("SECURE_BOOT", "driver", secure_boot),
    Alone("FM_NOT_HERE", "fabric_manager", no_fabric_manager_there),
    Alone("CUDA_ARCH", "cuda", cuda_gpu),
)
PAIRS = (
    Pair("FM_NEEDED", "fabric_manager", "driver", fabric_manager_there),
    Pair("NVLSM_NEEDED", "nvlsm", "driver", nvlsm_there),
    Pair("FM_EQ_DRIVER", "fabric_manager", "driver", same_version),
    Pair("NSCQ_EQ_DRIVER", "nscq", "driver", same_version),
    Pair("IMEX_EQ_DRIVER", "imex", "driver", same_version),
    Pair("CUDA_DRIVER", "cuda", "driver", cuda_driver),
    Pair("CUDA_MINOR", "cuda", "driver", cuda_minor),
)
