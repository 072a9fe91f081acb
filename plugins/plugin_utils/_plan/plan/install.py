# SPDX-License-Identifier: GPL-3.0-or-later
"""From a stack to what a package manager is told: repositories, packages, pins; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ..matrix.model import Fact, Matrix
from ..matrix.packaged import applies, dkms
from ..matrix.versions import ANY, within

# The roles that install, in their order: the driver's modules are built against the RDMA stack's.
PARTS = ("rdma", "nvidia_driver", "nccl", "container_toolkit", "extras", "gds")
# The host's own archive, which no site has to name.
OWN = "distribution"
OFF = (
    "the host's package lists do not have the planned driver: the parts of the archive that hold it are switched off, "
    "or the lists are old; next: `apt-get update` on the host, or set stack_repositories.distribution.base to the "
    "mirror that it uses, and the parts that are off come from there"
)


# What a name leaves open: the branch, the kernel.
_OPEN = re.compile(r"\{\w+\}")


class InstallError(ValueError):
    """The stack cannot be installed; the message names what is missing and the next step."""


@dataclass(frozen=True)
class Target:
    """The system to install on, as a class of the lock names it (ubuntu24.04), and its family."""

    system: str
    base: str
    family: str
    arch: str
    folder: str  # of NVIDIA's CUDA repository

    @property
    def version(self) -> str:
        return self.system[len(self.base) :]


@dataclass(frozen=True)
class Bundled:
    """A bundle that all packages come from (docs/airgap.md).

    ``address``: of its folder as a node reads it; ``directory``: on the controller, from where it
    is brought to that address, "" where the node reads it elsewhere. ``public_key``: armored, sent
    with the plan, because who serves the folder could serve a key as well.
    """

    address: str
    fingerprint: str
    directory: str = ""
    public_key: str = ""


@dataclass(frozen=True)
class Sites:
    """What the site says of repositories (``stack_repositories``): by name, ``base`` and more.

    With a ``bundle``, none of them is asked.
    """

    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    bundle: Bundled | None = None

    def get(self, name: str, key: str) -> Any:
        return (self.given.get(name) or {}).get(key)


def target(system: str, arch: str, matrix: Matrix) -> Target:
    """The target of a system that the matrix knows; raises InstallError."""
    for base, fact in matrix.all("systems.distributions").items():
        if system.startswith(base):
            major, _mark, minor = system[len(base) :].partition(".")
            folder = fact.get("cuda").format(version=system[len(base) :], major=major, minor=minor)
            return Target(system, base, fact.get("family"), arch, folder)
    raise InstallError(f"{system} is no system of matrix/systems.yml")


def install(stack: Mapping[str, Any], to: Target, matrix: Matrix, sites: Sites, name: str = "") -> dict[str, Any]:
    """What ``ibready_plan.install`` holds; raises InstallError where a repository is unknown.

    ``name``: the class's, which is its folder in a bundle.
    """
    parts: dict[str, Any] = {}
    names: list[str] = []
    built: dict[str, bool] = {}
    for fact in matrix.all("packages.packages").values():
        if not applies(fact, stack, to.system):
            continue
        words = _words(stack, stack[fact.get("component")])
        part = parts.setdefault(fact.get("part"), {"packages": [], "pins": [], "conflicts": []})
        part["packages"] += [
            {"name": entry["name"].format(**words), "version": entry["version"].format(**words)}
            for entry in fact.get(to.family)
        ]
        names.append(fact.get("repository"))
        built[fact.get("part")] = built.get(fact.get("part"), False) or dkms(fact, stack, to.family)
    for part in parts:
        _own(parts[part], part, stack, to, matrix)
    found: dict[str, Any] = {"parts": {part: parts[part] for part in PARTS if part in parts}}
    kept = sorted(of_what_stays(stack, matrix))
    found.update({"stay": kept} if kept else {})
    found["dkms"] = [part for part in PARTS if built.get(part)]
    if sites.bundle is not None:
        found["bundle"] = {"directory": sites.bundle.directory, "class": name}
        found["repositories"] = [bundle_repository(sites.bundle, name, to.family)]
    else:
        # Of the host's own archive only the parts that are switched off have to come from somewhere.
        wanted = [item for item in dict.fromkeys(names) if item != OWN or sites.get(item, "base")]
        found["repositories"] = [_repository(item, stack, to, matrix, sites) for item in wanted]
    return found


def of_what_stays(stack: Mapping[str, Any], matrix: Matrix) -> set[str]:
    """The names (globs) of packages of the parts that stay as they were found, whoever's they are."""
    found: set[str] = set()
    for section in ("packages.packages", "packages.owned"):
        for fact in matrix.all(section).values():
            if not stack.get(fact.get("component"), {}).get("found"):
                continue
            named = [entry["name"] for family in ("apt", "dnf") for entry in fact.get(family, [])]
            found.update(_OPEN.sub("*", name) for name in [*named, *fact.get("names", [])])
    return found


def missing_bases(stack: Mapping[str, Any], system: str, matrix: Matrix, sites: Sites) -> list[str]:
    """The repositories that the stack needs and nobody gave a location of; the host's own archive needs none."""
    if sites.bundle is not None:
        return []
    needed = [
        fact.get("repository") for fact in matrix.all("packages.packages").values() if applies(fact, stack, system)
    ]
    return [name for name in dict.fromkeys(needed) if name != OWN and not sites.get(name, "base")]


def _words(stack: Mapping[str, Any], component: Mapping[str, Any]) -> dict[str, str]:
    driver = stack.get("driver") or {}
    cuda = (stack.get("cuda") or {}).get("version", "")
    words = {
        "branch": str(driver.get("branch", "")),
        "modules": str(driver.get("modules", "")),
        "cuda": cuda,
        "cuda_major": cuda.partition(".")[0],
        # Packages are of a series: 13-0, whatever update of it is asked for.
        "cuda_dashed": "-".join(cuda.split(".")[:2]),
        # The module that installs knows it.
        "kernel": "{kernel}",
    }
    return {**words, **{key: str(value) for key, value in component.items()}}


def _own(part: dict[str, Any], name: str, stack: Mapping[str, Any], to: Target, matrix: Matrix) -> None:
    for fact in matrix.all("packages.owned").values():
        if fact.get("part") != name or not applies(fact, stack, to.system):
            continue
        words = _words(stack, stack[fact.get("component")])
        pinned = fact.get("version", "").format(**words)
        part["pins"].append({"names": list(fact.get("names")), "version": pinned})
        part["conflicts"] += fact.get("conflicts", [])
        if fact.get("stream") and _like(to.system, fact.get("stream_systems", [])):
            stream = fact.get("streams", {}).get(words["modules"], words["modules"])
            part["modules"] = {"stream": fact.get("stream").format(stream=stream, **words)}


def _like(system: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(system, pattern) for pattern in patterns)


def _repository(name: str, stack: Mapping[str, Any], to: Target, matrix: Matrix, sites: Sites) -> dict[str, Any]:
    fact = matrix.all("repositories.repositories")[name]
    base = sites.get(name, "base")
    if not base:
        raise InstallError(
            f"nobody said where {fact.get('title')} is to be had; next: set "
            f"stack_repositories.{name}.base to your mirror, or to the address that the vendor's "
            f"installation guide names"
        )
    prints = sites.get(name, "fingerprints") or fact.get("fingerprints", [])
    if not prints:
        raise InstallError(
            f"no fingerprint of {fact.get('title')}'s signing key is known; next: read it with "
            f"`gpg --show-keys` from a key that you trust and set "
            f"stack_repositories.{name}.fingerprints"
        )
    words = _places(name, fact, stack, to)
    base = str(base).rstrip("/")
    found: dict[str, Any] = {
        "name": name,
        "kind": to.family,
        "url": f"{base}/{fact.get('path').format(**words)}",
        "key": sites.get(name, "key") or _address(base, _key(fact, to).format(**words)),
        "fingerprints": [str(entry).replace(" ", "").upper() for entry in prints],
    }
    if to.family == "apt":
        found["suite"] = sites.get(name, "suite") or fact.get("suite").format(**words)
        components = [entry["names"] for entry in fact.get("components", []) if fnmatchcase(to.system, entry["system"])]
        found.update({"components": list(components[0])} if components else {})
    else:
        # Others may offer the same names in other builds (matrix/packages.yml, owned).
        found["exclude"] = _not_from(name, stack, to, matrix)
    return found


def bundle_repository(bundle: Bundled, name: str, kind: str) -> dict[str, Any]:
    """The only repository of a class that is installed from a bundle. ``kind``: apt or dnf."""
    found: dict[str, Any] = {
        "name": "bundle",
        "kind": kind,
        "url": f"{bundle.address.rstrip('/')}/{name}/",
        "public_key": bundle.public_key,
        "fingerprints": [bundle.fingerprint],
        # The site's key signs the index, and with it the sum of every package.
        "gpgcheck": False,
        "alone": True,
    }
    if kind == "apt":
        found["suite"] = "./"
    return found


def _places(name: str, fact: Fact, stack: Mapping[str, Any], to: Target) -> dict[str, str]:
    version = str((stack.get("rdma") or {}).get("version", ""))
    major, _mark, minor = to.version.partition(".")
    words = {
        "version": version,
        "system": to.system,
        "base": to.base,
        "major": major,
        "minor": minor,
        "cuda": to.folder,
        "kind": "deb" if to.family == "apt" else "rpm",
    }
    for folder in fact.get("folders"):
        if fnmatchcase(to.system, folder["system"]) and within(version or "0", folder.get("versions", ANY)):
            words["folder"] = folder["folder"].format(**words)
            break
    else:
        raise InstallError(f"{fact.get('title')} has no folder for {to.system}")
    architectures = fact.get("arch_rpm") if to.family == "dnf" else None
    architectures = architectures or fact.get("arch")
    if to.arch not in architectures:
        raise InstallError(f"{fact.get('title')} has nothing for {to.arch} processors")
    words["arch"] = architectures[to.arch]
    return words


def _address(base: str, path: str) -> str:
    """A path below the base, or where it is an address of its own (a key that the host has), that."""
    return path if "://" in path else f"{base}/{path}"


def _key(fact: Fact, to: Target) -> str:
    for key in fact.get("keys", []):
        if fnmatchcase(to.system, key["system"]):
            return str(key["key"])
    return str(fact.get("key"))


def _not_from(name: str, stack: Mapping[str, Any], to: Target, matrix: Matrix) -> list[str]:
    """What the RDMA stack owns must not come from another vendor repository (mft, kernel-mft)."""
    if name in ("doca", "mlnx_ofed"):
        return []
    found: list[str] = []
    for fact in matrix.all("packages.owned").values():
        kept = stack.get("rdma", {}).get("found")
        if fact.get("part") == "rdma" and (kept or applies(fact, stack, to.system)):
            found += [name for name in fact.get("names") if name not in found]
    return found
