# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the RDMA stack: HCA, system, kernel, and what builds on it."""

from __future__ import annotations

from ....module_utils._data import gpudirect as gpudirect_data
from ..matrix.model import CONFIRMED, Fact, Matrix
from ..matrix.versions import ANY, NONE, version, within
from . import hardware
from .candidates import Candidate
from .collision import Alone, Found, Pair, no_architecture
from .platform import Platform

_INBOX = "inbox"


def needed(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if not (host.hcas and candidate.absent):
        return None
    return Found(f"the host has {', '.join(host.hcas)}", "no RDMA stack is to be installed")


def known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or candidate.fact is not None:
        return None
    releases = [
        fact.get("version")
        for fact in matrix.all("rdma.releases").values()
        if fact.get("flavour") == candidate.flavour and fact.get("version")
    ]
    return Found(candidate.asked(), f"the matrix has {', '.join(releases) or 'none of these'}")


def hca(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.fact is None or candidate.flavour == _INBOX:
        return None
    doubt = None
    for name in host.hcas:
        fact = hardware.generation(name, "hcas", matrix)
        if fact is None:
            continue
        wanted = fact.get(candidate.flavour)
        unsure = fact.get(f"{candidate.flavour}_unsure", NONE)
        if within(candidate.version, wanted) and not within(candidate.version, unsure):
            continue
        by = f"no {candidate.flavour}" if wanted == NONE else f"{candidate.flavour} {wanted}"
        found = Found(
            f"{by} drives {name}",
            str(candidate),
            "medium" if within(candidate.version, unsure) else fact.sure(candidate.flavour),
        )
        if found.confidence == CONFIRMED:
            return found
        doubt = doubt or found
    return doubt


def hca_known(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    strange = [name for name in host.hcas if ":" in name and hardware.generation(name, "hcas", matrix) is None]
    if candidate.absent or not strange:
        return None
    return Found(f"the host has HCA {', '.join(strange)}", "the matrix has neither the model nor its generation")


def system(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.fact is None:
        return None
    here = host.system or host.distribution
    systems = candidate.fact.get("systems")
    if host.is_like(candidate.fact.get("not_systems", [])):
        return Found(f"the host runs {here}", f"{candidate} is older than that, or never came for it")
    strange = no_architecture(host, candidate.flavour, matrix)
    if strange is not None or host.is_like(systems):
        return strange
    # Debian does not tell its point release, which the list may name.
    if any(one_of.startswith(f"{here}.") for one_of in systems):
        return None
    mine = [one_of for one_of in systems if host.base and one_of.startswith(host.base)]
    comes = f"{candidate} comes for {', '.join(mine or systems)}"
    return Found(f"the host runs {here}", comes, candidate.fact.sure("systems"), candidate.fact.source)


def tested(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    fact = candidate.fact
    if fact is None or candidate.flavour == _INBOX:
        return None
    systems = fact.get("tested_systems", list(fact.get("tested", {})))
    if not systems:
        return Found(f"the host runs {host.system}", f"nobody says what {candidate} was tested on")
    if not host.is_like(systems):
        return Found(f"the host runs {host.system}", f"{candidate} was tested on {', '.join(systems)}")
    return _kernel_tested(host, candidate, fact)


def _kernel_tested(host: Platform, candidate: Candidate, fact: Fact) -> Found | None:
    kernels = [str(kernel) for kernel in fact.get("tested", {}).get(host.system, ())]
    series = {".".join(kernel.split(".")[:2]) for kernel in kernels}
    if not kernels or host.series in series:
        return None
    shown = ", ".join(sorted(series, key=version))
    return Found(f"the kernel is {host.kernel}", f"{candidate} was tested on {host.system} with {shown}")


def prerelease(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    if candidate.fact is None or not candidate.fact.get("prerelease"):
        return None
    return Found(str(candidate), "seen as a pre-release only")


def patch(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    fact = matrix.get("rdma.patches", f"{candidate.flavour}-{candidate.version}")
    if fact is None or not host.is_like(fact.get("systems")):
        return None
    return Found(f"the host runs {host.system}", str(candidate), fact.sure())


def nvlsm(host: Platform, candidate: Candidate, rdma: Candidate, matrix: Matrix) -> Found | None:
    if candidate.absent or not rdma.absent:
        return None
    return Found(f"{candidate} is needed on {host.board}", "no RDMA stack is to be installed")


def reached(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
    """The GPUs that have no such way; nobody knows of those that are unknown themselves."""
    ways = [hardware.said(gpu, "gpudirect", matrix) for gpu in host.gpus]
    lacking = [each for each in ways if each and candidate.method not in each[0].get("gpudirect")]
    if candidate.absent or not lacking:
        return None
    fact, whom = lacking[0]
    sure, has = fact.sure("gpudirect"), " and ".join(fact.get("gpudirect")) or "no way of GPUDirect RDMA"
    other = f"{whom} {'has' if sure == CONFIRMED else 'may have'} {has}"
    return Found(f"{candidate.method} is to be used", other, sure, fact.said_by("gpudirect"))


def memory(host: Platform, candidate: Candidate, rdma: Candidate, matrix: Matrix) -> Found | None:
    """nvidia-peermem needs the symbols of a vendor's stack."""
    if candidate.method != "peermem":
        return None
    fact = matrix.all("cuda.gpudirect")["peermem"]
    if rdma.absent or rdma.flavour not in fact.get("rdma"):
        return Found("nvidia-peermem is to be used", f"the RDMA stack is {rdma}", fact.sure())
    return None


def dmabuf(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    if candidate.method != "dmabuf" or driver.absent:
        return None
    fact = matrix.all("cuda.gpudirect")["dmabuf"]
    wanted = "DMA-BUF is to be used"
    if driver.modules not in fact.get("modules"):
        return Found(wanted, f"{driver} kernel modules", fact.sure())
    if not within(host.series, fact.get("kernel", ANY)):
        return Found(wanted, f"the kernel is {host.kernel}", fact.sure())
    if driver.cuda and not within(driver.cuda, fact.get("cuda", ANY)):
        return Found(wanted, f"{driver} brings CUDA {driver.cuda}", fact.sure())
    return None


def gpudirect(host: Platform, candidate: Candidate, driver: Candidate, matrix: Matrix) -> Found | None:
    """HCAs and GPUs without a way from one to the other; a site that wants that says so, or its GPUs have none."""
    if (
        not candidate.absent
        or candidate.pinned
        or driver.absent
        or not host.rails
        or hardware.closed(host.gpus, matrix)
    ):
        return None
    there = f"the host has {', '.join(host.rails)} beside its GPUs, and kernel {host.kernel}"
    return Found(there, f"neither DMA-BUF nor nvidia-peermem goes with {driver} and the RDMA stack")


def seen(host: Platform, nccl: Candidate, memory: Candidate, matrix: Matrix) -> Found | None:
    """NCCL copies through the host where it does not look for the way that there is."""
    if nccl.absent or memory.method != "dmabuf" or not host.rails:
        return None
    first = min(sight.first for sight in gpudirect_data.SIGHTS if sight.sign == gpudirect_data.DMABUF)
    if version(nccl.version) >= version(".".join(map(str, first))):
        return None
    return Found(f"{nccl} is older than what looks for DMA-BUF", "HCAs reach GPU memory by DMA-BUF")


ALONE = (
    Alone("RDMA_NEEDED", "rdma", needed),
    Alone("RDMA_KNOWN", "rdma", known),
    Alone("HCA_RDMA", "rdma", hca),
    Alone("HCA_KNOWN", "rdma", hca_known),
    Alone("RDMA_SYSTEM", "rdma", system),
    Alone("RDMA_TESTED", "rdma", tested),
    Alone("RDMA_PRERELEASE", "rdma", prerelease),
    Alone("RDMA_PATCH", "rdma", patch),
    Alone("GPUDIRECT_GPU", "peer_memory", reached),
)
PAIRS = (
    Pair("NVLSM_NEEDS_RDMA", "nvlsm", "rdma", nvlsm),
    Pair("PEERMEM", "peer_memory", "rdma", memory),
    Pair("DMABUF", "peer_memory", "driver", dmabuf),
    Pair("GPUDIRECT", "peer_memory", "driver", gpudirect),
    Pair("NCCL_DMABUF", "nccl", "peer_memory", seen),
)
