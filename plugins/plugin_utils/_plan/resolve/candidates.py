# SPDX-License-Identifier: GPL-3.0-or-later
"""What each part of a stack could be: one list a part, from the matrix and the site's wishes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ....module_utils._parse.version_text import fits
from ..matrix.model import Fact, Matrix
from ..matrix.versions import version
from . import archive, series
from .found import stays, what_stays
from .platform import Platform
from .policy import AUTO, DISTRIBUTION, NEWEST, NONE, Policy

# In the order in which they are settled: what most depends on, first.
PARTS = (
    *("rdma", "driver", "cuda", "peer_memory", "fabric_manager", "nscq", "imex", "nvlsm"),
    *("nccl", "container_toolkit", "dcgm", "gdrcopy", "gds"),
)
_OF_DRIVER = ("fabric_manager", "nscq", "imex")
_ASKED_FOR = ("dcgm", "gdrcopy", "gds")


@dataclass(frozen=True)
class Candidate:
    """One thing that a part could be. ``absent``: it is not installed at all.

    ``fact``: what the matrix says of it, None where it does not know it. ``unlisted``: what it knows in
    place of it. ``pinned``: the site asked for exactly this. ``stays``: nothing of it is changed; ``found``: its
    version as the host tells it.
    """

    part: str
    version: str = ""
    flavour: str = ""  # rdma; driver: of the distribution's archive, "" of NVIDIA's repository
    branch: str = ""  # driver
    modules: str = ""  # driver
    cuda: str = ""  # driver: what it brings; nccl: what it was built with
    method: str = ""  # peer_memory
    signed: bool = False  # driver: its modules come signed
    fact: Fact | None = field(default=None, compare=False, repr=False)
    unlisted: str = ""
    absent: bool = False
    pinned: bool = False
    stays: bool = False
    found: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The part as a lock says it; a driver's CUDA is a part of its own."""
        said = {"driver": ("branch", "version", "modules"), "nccl": ("version", "cuda")}.get(self.part, ())
        more = [name for name in ("version", "flavour") if name not in said and getattr(self, name)]
        return {name: getattr(self, name) for name in (*said, *more)}

    def asked(self, name: str = "") -> str:
        """What a rule says of a part that it knows nothing of."""
        return f"{name or self} is {'there' if self.stays else 'asked for'}"

    def __str__(self) -> str:
        if self.absent:
            return f"no {self.part}"
        words = (self.part, self.flavour, self.version, self.modules, self.method)
        build = f"built with CUDA {self.cuda}" if self.part == "nccl" and self.cuda else ""
        return " ".join(word for word in (*words, build) if word)


def candidates(part: str, platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    """All that a part could be under the policy; the solver puts them in order of preference."""
    there = what_stays(part, platform, policy, matrix)
    if there is not None:
        return [Candidate(part, **there)]
    choices = _choices(part, platform, policy, matrix)
    return [replace(choice, stays=True) for choice in choices] if stays(part, policy) else choices


def _choices(part: str, platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    if part == "rdma":
        return _rdma(platform, policy, matrix)
    if part == "driver":
        return _drivers(platform, policy, matrix)
    if not platform.gpus or policy.driver == NONE:
        return _without_driver(part, policy, matrix)
    if part in _OF_DRIVER:
        return _of_driver(part, platform, policy, matrix)
    if part == "cuda":
        return _cuda(platform, policy, matrix)
    if part == "peer_memory":
        methods: tuple[str, ...] = ("dmabuf", "peermem", NONE) if policy.peer_memory == AUTO else ()
        if stays("driver", policy) and not stays("rdma", policy):
            # Nobody would build its nvidia-peermem against another RDMA stack.
            methods = tuple(method for method in methods if method != "peermem")
        return [
            Candidate(part, method="" if method == NONE else method, absent=method == NONE, pinned=not methods)
            for method in methods or (policy.peer_memory,)
        ]
    if part == "nvlsm":
        return _nvlsm(platform, policy, matrix)
    if part == "nccl":
        return _nccl(policy, matrix)
    return _plain(part, policy, matrix)


def _without_driver(part: str, policy: Policy, matrix: Matrix) -> list[Candidate]:
    """Nothing that belongs to GPUs, but a site may want containers all the same."""
    if part == "container_toolkit" and policy.container_toolkit not in (AUTO, NONE):
        return _plain(part, policy, matrix)
    return [Candidate(part, absent=True)]


def _rdma(platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    flavour, wanted = policy.rdma_flavour, policy.rdma_version
    if flavour == NONE or (flavour == AUTO and not platform.hcas and not platform.nvlsm):
        return [Candidate("rdma", absent=True, pinned=flavour == NONE)]
    found = [
        Candidate(
            "rdma",
            version=fact.get("version", ""),
            flavour=fact.get("flavour"),
            fact=fact,
            pinned=wanted != AUTO,
        )
        for fact in matrix.all("rdma.releases").values()
        if flavour in (AUTO, fact.get("flavour")) and (wanted == AUTO or fits(fact.get("version", ""), wanted))
    ]
    if found:
        return found
    flavours = dict.fromkeys(fact.get("flavour") for fact in matrix.all("rdma.releases").values())
    unlisted = []
    for each in flavours if flavour == AUTO else (flavour,):
        all_of = matrix.all("rdma.releases").values()
        known = {fact.get("version"): fact for fact in all_of if fact.get("flavour") == each and fact.get("version")}
        fact, names = series.taken(each, wanted, known)
        unlisted += [Candidate("rdma", wanted, each, fact=fact, unlisted=names, pinned=True)] if fact else []
    return unlisted or [Candidate("rdma", wanted, "" if flavour == AUTO else flavour, pinned=True)]


def _drivers(platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    if policy.driver == NONE or not platform.gpus:
        return [Candidate("driver", absent=True, pinned=policy.driver == NONE)]
    if policy.driver_flavour == DISTRIBUTION:
        return _archived(platform, policy, matrix)
    found = []
    for branch, release, pinned in _driver_releases(policy.driver, matrix):
        fact = matrix.get("drivers.branches", branch)
        flavours = fact.get("modules") if fact else ("open",)
        if policy.driver_modules != AUTO:
            flavours = (policy.driver_modules,)
        found += [
            Candidate(
                "driver",
                release,
                branch=branch,
                modules=modules,
                cuda=fact.get("cuda", "") if fact else "",
                fact=fact,
                unlisted="" if fact and release in fact.get("releases", ()) else f"branch {branch}" if fact else "",
                pinned=pinned,
            )
            for modules in flavours
        ]
    return found


def _archived(platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    """What the distribution's archive has; where nothing of it is as wished, what a rule can refuse."""
    there = [
        (driver.branch, driver.release, driver.modules, driver.signed)
        for driver in archive.drivers(platform, matrix)
        if policy.driver_modules in (AUTO, driver.modules)
        and (policy.driver == AUTO or fits(driver.release, policy.driver))
    ]
    if not there:
        modules = "open" if policy.driver_modules == AUTO else policy.driver_modules
        asked = _driver_releases(policy.driver, matrix)
        there = [(branch, release, modules, False) for branch, release, _pinned in asked]
    return [
        Candidate(
            "driver",
            release,
            DISTRIBUTION,
            branch,
            modules,
            fact.get("cuda", "") if fact else "",
            fact=fact,
            pinned=policy.driver != AUTO,
            signed=signed,
        )
        for branch, release, modules, signed in there
        for fact in [matrix.get("drivers.branches", branch)]
    ]


def _driver_releases(wanted: str, matrix: Matrix) -> Iterable[tuple[str, str, bool]]:
    """(branch, release, whether the site asked for this)."""
    known = [
        (name, release) for name, fact in matrix.all("drivers.branches").items() for release in fact.get("releases", ())
    ]
    if wanted == AUTO:
        return [(branch, release, False) for branch, release in known]
    fitting = [(branch, release, True) for branch, release in known if fits(release, wanted)]
    # A release that nobody shipped in a known stack is judged by its branch.
    return fitting or [(wanted.partition(".")[0], wanted, True)]


def _of_driver(part: str, platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    wanted = getattr(policy, part)
    if wanted == NONE or (wanted == AUTO and not platform.serves(part)):
        return [Candidate(part, absent=True, pinned=wanted == NONE)]
    if wanted != AUTO:
        return [Candidate(part, wanted, pinned=True)]
    releases = dict.fromkeys(driver.version for driver in _drivers(platform, policy, matrix))
    return [Candidate(part, release) for release in releases]


def _nvlsm(platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    if policy.nvlsm == NONE or (policy.nvlsm == AUTO and not platform.serves("nvlsm")):
        return [Candidate("nvlsm", absent=True, pinned=policy.nvlsm == NONE)]
    return _plain("nvlsm", policy, matrix)


def _cuda(platform: Platform, policy: Policy, matrix: Matrix) -> list[Candidate]:
    if policy.cuda == NONE:
        return [Candidate("cuda", absent=True, pinned=True)]
    brought = [driver.cuda for driver in candidates("driver", platform, policy, matrix) if driver.cuda]
    built = [build for fact in matrix.all("nccl.releases").values() for build in fact.get("builds")]
    known = dict.fromkeys((*brought, *built))
    if policy.cuda == AUTO:
        return [Candidate("cuda", entry) for entry in known]
    fitting = [entry for entry in known if fits(entry, policy.cuda)]
    return [Candidate("cuda", entry, pinned=True) for entry in fitting or (policy.cuda,)]


def _nccl(policy: Policy, matrix: Matrix) -> list[Candidate]:
    if policy.nccl == NONE:
        return [Candidate("nccl", absent=True, pinned=True)]
    wanted, _mark, build = policy.nccl.partition("+cuda")
    found = [
        Candidate("nccl", name, cuda=entry, fact=fact, pinned=policy.nccl != AUTO)
        for name, fact in matrix.all("nccl.releases").items()
        if wanted == AUTO or fits(name, wanted)
        for entry in fact.get("builds")
        if not build or entry == build
    ]
    if found or wanted in matrix.all("nccl.releases"):
        return found or [Candidate("nccl", wanted, cuda=build, pinned=True)]
    fact, names = series.taken("nccl", wanted, matrix.all("nccl.releases"))
    builds = [build] if build else fact.get("builds") if fact else []
    return [Candidate("nccl", wanted, cuda=entry, fact=fact, unlisted=names, pinned=True) for entry in builds or [""]]


def _plain(part: str, policy: Policy, matrix: Matrix) -> list[Candidate]:
    """Container toolkit, DCGM, gdrcopy, nvidia-fs, nvlsm: a release of the list, or one of its series."""
    wanted = getattr(policy, part)
    if wanted == NONE or (wanted == AUTO and part in _ASKED_FOR):
        return [Candidate(part, absent=True)]
    section = f"{part}.releases" if part == "container_toolkit" else f"extras.{part}"
    known = matrix.all(section)
    found = [
        Candidate(part, name, fact=fact, pinned=wanted not in (AUTO, NEWEST))
        for name, fact in known.items()
        if (wanted in (AUTO, NEWEST) and not fact.get("by_name")) or fits(name, wanted)
    ]
    if found:
        return found
    fact, names = series.taken(part, wanted, known)
    span = f"{next(iter(known))} to {list(known)[-1]}"
    return [Candidate(part, wanted, fact=fact, unlisted=names or span, pinned=True)]


def newest(candidate: Candidate) -> tuple[int, ...]:
    """A key by which the newest comes first."""
    return tuple(-number for number in version(candidate.version).release)
