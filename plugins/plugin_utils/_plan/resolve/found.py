# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts that stay as they are on a host (``found``): what is there, and what the resolver has of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ....module_utils._data import rdma_packages
from ....module_utils._parse.version_text import fits, is_release, same_release
from ..matrix.model import Fact, Matrix
from .policy import AUTO, DEFAULT, FOUND, NONE, PREFIX, Policy

if TYPE_CHECKING:
    from .platform import Platform

# What may stay: parts whose wish may be `found`, and what belongs to a driver.
PARTS = (
    *("rdma", "driver", "fabric_manager", "nscq", "imex", "nvlsm"),
    *("nccl", "container_toolkit", "dcgm", "gdrcopy", "gds"),
)
# The parts whose wish may be `found`.
KEPT = ("rdma", "driver", "nccl", "container_toolkit", "dcgm", "gdrcopy", "gds")
# The wish that decides of a part, where it is not the one of its name. What belongs to a driver stays with it.
_WISHES = {"rdma": "rdma_flavour", **dict.fromkeys(("fabric_manager", "nscq", "imex", "nvlsm"), "driver")}
# Wishes that say more of a part, and nothing where that stays.
FOLLOWS = {
    **dict.fromkeys(("rdma_flavour", "rdma_version"), "rdma"),
    **dict.fromkeys(("driver_modules", "driver_flavour", "fabric_manager", "nscq", "imex", "nvlsm"), "driver"),
}
# What the plan names, and nobody installs: which parts it goes by.
_GOES_BY = {"cuda": ("driver", "nccl"), "peer_memory": ("driver", "rdma")}
# Where the host has what they serve, these have to be there to stay; others only where they are asked for by name.
_NEEDED = ("rdma", "driver")
_SECTIONS = {"nccl": "nccl.releases", "container_toolkit": "container_toolkit.releases"}
_DRIVER = re.compile(r"(\S+)(?: (open|proprietary))?(?: \(not loaded\))?")
_UPSTREAM = re.compile(r"(?:[0-9]+:)?([0-9]+(?:\.[0-9]+)*)")
_CUDA = re.compile(r"\+cuda([0-9.]+)")


def wish(part: str) -> str:
    """The name of the wish that decides whether a part stays."""
    return _WISHES.get(part, part)


def stays(part: str, policy: Policy) -> bool:
    """Whether the site wants a part left as it is.

    What only names a choice (the CUDA of jobs, the way of GPUDirect RDMA) stays where all that it goes by does.
    """
    if not part:
        return False
    if part in _GOES_BY:
        return all(stays(each, policy) or getattr(policy, wish(each)) == NONE for each in _GOES_BY[part])
    mine = getattr(policy, wish(part))
    return bool(mine == FOUND or (mine == AUTO and policy.default == FOUND))


def seen(part: str, host: Platform) -> str:
    """What the host has of a part, as node_facts tells of it; "" for nothing, and for what serves no hardware here."""
    serves = (host.hcas or host.nvlsm) if part == "rdma" else host.gpus or part == "container_toolkit"
    return str(host.there.get(part) or "") if serves else ""


def there(host: Platform, policy: Policy) -> dict[str, str]:
    """What the host has of each part that stays, "" where that is nothing."""
    return {part: seen(part, host) for part in PARTS if stays(part, policy)}


def noted(part: str, told: str) -> str:
    """What the lock keeps of that as ``found``: the version as the host tells it."""
    if part == "rdma":
        flavour, _space, version = told.partition(" ")
        return version or flavour
    match = _DRIVER.fullmatch(told) if part == "driver" else None
    return match.group(1) if match else told


def against(policy: Policy, told: Mapping[str, str], stack: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What speaks against a locked stack, one reason each. ``told``: what is there of the parts that stay."""
    for part in PARTS:
        locked = stack.get(part) or {}
        mine, noted_then = getattr(policy, wish(part)), locked.get("found", "")
        said = locked.get("version") or locked.get("flavour") or "none"
        if part in told and (noted(part, told[part]) != noted_then or (locked and not noted_then)):
            name = wish(part) if mine == FOUND else DEFAULT
            then = f"found {noted_then}" if noted_then else f"says {said}"
            yield f"{PREFIX}{name} is {FOUND}, and {told[part] or 'nothing'} is there of {part}; the lock {then}"
        elif part not in told and noted_then and mine not in (AUTO, NONE):
            yield f"{PREFIX}{wish(part)} is {mine}, the lock says {noted_then} as found"


def lacks(host: Platform, policy: Policy) -> Iterator[str]:
    """Why parts cannot stay, one reason each: nobody could look, or there is nothing."""
    for part in KEPT:
        if not stays(part, policy) or not (host.hcas if part == "rdma" else host.gpus):
            continue
        name = wish(part)
        said = name if getattr(policy, name) == FOUND else DEFAULT
        what = "RDMA stack" if part == "rdma" else part.replace("_", " ")
        if not host.there:
            yield f"{PREFIX}{said} is {FOUND}, and nobody could see which {what} is installed (node_facts: unreadable)"
        elif not seen(part, host) and (said == name or part in _NEEDED):
            yield (
                f"{PREFIX}{said} is {FOUND}, and no {what} is on the host; next: install it, or let the plan bring one "
                f"({PREFIX}{name}: its version), or do without ({PREFIX}{name}: none)"
            )


def what_stays(part: str, host: Platform, policy: Policy, matrix: Matrix) -> dict[str, Any] | None:
    """The fields of the one candidate of a part that stays; None where the plan may choose."""
    if part in _GOES_BY or not stays(part, policy):
        return None
    told = seen(part, host)
    if not told:
        return {"absent": True, "stays": True}
    read = {"rdma": _rdma, "driver": _driver}.get(part)
    found = read(told, matrix) if read else _plain(part, told, matrix)
    return {"stays": True, "pinned": True, **found}


def _rdma(told: str, matrix: Matrix) -> dict[str, Any]:
    """An RDMA stack by the matrix's release, which hosts call by the number of its kernel modules or packages."""
    flavour, _space, version = told.partition(" ")
    if flavour == rdma_packages.INBOX:
        return {"flavour": flavour, "found": noted("rdma", told), "fact": matrix.get("rdma.releases", flavour)}
    for fact in matrix.all("rdma.releases").values():
        release, modules = fact.get("version", ""), fact.get("nic_driver", "")
        same = is_release(version) and modules and same_release(version, modules)
        if fact.get("flavour") == flavour and release and (fits(version, release) or same):
            return {"flavour": flavour, "version": release, "found": noted("rdma", told), "fact": fact}
    return {"flavour": flavour, "version": version, "found": noted("rdma", told)}


def _driver(told: str, matrix: Matrix) -> dict[str, Any]:
    match = _DRIVER.fullmatch(told)
    text, modules = noted("driver", told), match.group(2) or "" if match else ""
    version = _upstream(text)
    branch = version.partition(".")[0]
    fact = matrix.get("drivers.branches", branch)
    cuda = fact.get("cuda", "") if fact else ""
    return {"version": version, "found": text, "branch": branch, "modules": modules, "cuda": cuda, "fact": fact}


def _plain(part: str, told: str, matrix: Matrix) -> dict[str, Any]:
    version = _upstream(told)
    cuda = _CUDA.search(told) if part == "nccl" else None
    return {
        "version": version,
        "found": told,
        "cuda": cuda.group(1) if cuda else "",
        "fact": _fact(part, version, matrix),
    }


def _fact(part: str, version: str, matrix: Matrix) -> Fact | None:
    section = _SECTIONS.get(part, f"extras.{part}")
    return matrix.get(section, version) if section in matrix.sections else None


def _upstream(text: str) -> str:
    """The vendor's own number in a package's version."""
    match = _UPSTREAM.match(text)
    return match.group(1) if match else text
