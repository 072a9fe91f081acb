# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is, as far as a stack depends on it, and which hosts are equal in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ....module_utils._areas.machine.facts import MELLANOX, NVIDIA
from ....module_utils._data.gpus import CARD
from ....module_utils._data.hcas import HCAS
from ....module_utils._expect import profiles
from ....module_utils._rails import hcas as _hcas
from ..matrix.model import Matrix
from ..matrix.versions import version

_SERIES = re.compile(r"\d+\.\d+")
_RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?")

# RDMA devices without an HCA of NVIDIA's. The simulated ones of the sandbox run anything.
OTHER_HCA = "RDMA device of another vendor"
# FDR, which the first clusters of GPUs had; 50 Gb/s and less are ports for management and storage.
_SLOWEST_GBPS = 56.0
_SIMULATED_HCA = "simulated HCA"


@dataclass(frozen=True)
class Platform:
    """One host, or a class of equal hosts.

    ``system``: as the matrix calls it (ubuntu24.04, rhel9.4), ``base`` without the version; ""
    where the matrix has no such system. ``family``: apt or dnf. ``gpus``, ``hcas``: the models
    there are, by name, or by PCI id where the tables do not know them. ``board``: the recognised
    hardware profile. ``engines``: container engines and their versions. ``secure_boot``: None
    where nobody could tell. ``offered``: the versions of packages in the host's own lists, where
    they were asked for. ``there``: what is installed, by part; empty where nobody could look.
    """

    system: str
    base: str
    family: str
    kernel: str
    arch: str
    distribution: str = ""
    gpus: tuple[str, ...] = ()
    hcas: tuple[str, ...] = ()
    board: str = ""
    fabric_manager: bool = False
    nvlsm: bool = False
    imex: bool = False
    secure_boot: bool | None = None
    engines: Mapping[str, str] = field(default_factory=dict)
    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    there: Mapping[str, str] = field(default_factory=dict)

    @property
    def looked(self) -> bool:
        """Whether the host's package lists were asked what its archive has of the driver."""
        return bool(self.offered)

    @property
    def series(self) -> str:
        """The kernel's major and minor number."""
        found = _SERIES.match(self.kernel)
        return found.group() if found else self.kernel

    @property
    def release(self) -> str:
        """The kernel's number without what a distribution adds: 6.12.117."""
        found = _RELEASE.match(self.kernel)
        return found.group() if found else self.kernel

    @property
    def may_have_switches(self) -> bool:
        """Whether NVSwitches may join the GPUs: cards and models without NVLink have none."""
        models = [profiles.gpu_model(gpu) for gpu in self.known_gpus]
        return models == [] or any(model.form != CARD and any(model.links) for model in models)

    def serves(self, part: str) -> bool:
        """Whether this host has what the fabric manager, nscq, imex or nvlsm serves."""
        return {
            "fabric_manager": self.fabric_manager,
            "nscq": self.fabric_manager or self.imex,
            "imex": self.imex,
            "nvlsm": self.nvlsm,
        }[part]

    @property
    def known_gpus(self) -> tuple[str, ...]:
        return tuple(gpu for gpu in self.gpus if ":" not in gpu)

    @property
    def rails(self) -> tuple[str, ...]:
        """The HCAs that could be rails: not another vendor's, nor a simulated one, nor a model too slow for one."""
        slow = {hca.name for hca in HCAS if 0 < hca.max_gbps < _SLOWEST_GBPS}
        return tuple(hca for hca in self.hcas if hca not in (OTHER_HCA, _SIMULATED_HCA) and hca not in slow)

    @property
    def name(self) -> str:
        """The class of hosts that this one belongs to."""
        system = self.system or self.distribution or "unknown"
        parts = [f"{system}-{self.series}-{self.arch}", self.board or "+".join(self.gpus)]
        parts.append("+".join(self.hcas))
        return "_".join(_slug(part) for part in parts if part)

    def is_like(self, patterns: list[str]) -> bool:
        """Whether one of the shell patterns fits the system."""
        return any(fnmatchcase(self.system, pattern) for pattern in patterns)


def platform(node: Mapping[str, Any], matrix: Matrix) -> Platform:
    """The platform of a host, from the facts of the module node_facts."""
    release = node.get("os") or {}
    given_id, given_version = str(release.get("id", "")), str(release.get("version", ""))
    system, base, family = _system(given_id, given_version, matrix)
    functions = [gpu for gpu in node.get("gpus") or () if gpu.get("vendor") == NVIDIA]
    models = [profiles.gpu_by_id(str(function["device"])) for function in functions]
    names = [
        model.model if model else f"{NVIDIA}:{entry['device']}" for model, entry in zip(models, functions, strict=True)
    ]
    board = profiles.recognise(models, str(node.get("product") or ""), len(node.get("nvswitches") or ()))
    return Platform(
        system=system,
        base=base,
        family=family,
        kernel=str(node.get("kernel", "")),
        arch=str(node.get("machine", "")),
        distribution=f"{given_id}{given_version}",
        gpus=tuple(sorted(set(names))),
        hcas=tuple(sorted(_hca_names(node))),
        board=board.name if board else "",
        # NVSwitches need one on whatever board they are.
        fabric_manager=bool(board.fabric_manager if board else node.get("nvswitches")),
        nvlsm=bool(board and board.nvlsm),
        imex=bool(board and board.imex),
        secure_boot=node.get("secure_boot"),
        engines=dict(node.get("engines") or {}),
        offered={name: tuple(found) for name, found in (node.get("offered") or {}).items()},
        there=dict(node.get("installed") or {}),
    )


def merged(platforms: list[Platform]) -> Platform:
    """One platform for equal hosts: the oldest kernel and engines that any of them has."""
    oldest = min(platforms, key=lambda platform: version(platform.kernel))
    engines: dict[str, str] = {}
    for platform in platforms:
        for engine, found in platform.engines.items():
            engines[engine] = min(engines.get(engine, found), found, key=version)
    secure = {platform.secure_boot for platform in platforms}
    names = {name for platform in platforms for name in platform.offered}
    offers = {name: [platform.offered.get(name, ()) for platform in platforms] for name in names}
    return Platform(
        **{
            **vars(oldest),
            "engines": engines,
            # What all of them can have.
            "offered": {
                name: tuple(version for version in each[0] if all(version in other for other in each))
                for name, each in offers.items()
            },
            "secure_boot": True if True in secure else None if None in secure else False,
        }
    )


def _system(given_id: str, given_version: str, matrix: Matrix) -> tuple[str, str, str]:
    for base, fact in matrix.all("systems.distributions").items():
        if given_id in fact.get("ids"):
            major, _mark, minor = given_version.partition(".")
            name = fact.get("name").format(version=given_version, major=major, minor=minor)
            return name, base, fact.get("family")
    return "", "", ""


def _hca_names(node: Mapping[str, Any]) -> set[str]:
    """Mellanox's by model. Beside them, others' need no stack of their own."""
    found = {str(hca["device"]) for hca in node.get("hcas") or () if hca.get("vendor") == MELLANOX}
    names = set()
    for device in found:
        model = _hcas.hca_by_id(device)
        names.add(model.name if model else f"{MELLANOX}:{device}")
    # What is RDMA in software comes and goes by a command: the plan must not change with it.
    devices = {*node.get("rdma_devices", ())} - {*node.get("soft_rdma_devices", ())}
    if names or not (devices or node.get("simulated")):
        return names
    return {_SIMULATED_HCA if node.get("simulated") else OTHER_HCA}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.+]+", "-", text.lower()).strip("-")
