# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel that boots next has of the modules that this host runs with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..._ground.reading import Reading
from ..._parse.dkms_status import Entry

# Ubuntu's packages of NVIDIA's modules, one for each kernel, put them among the kernel's own.
_OURS = re.compile(r"kernel/(?!nvidia-)")


def ours(path: str) -> bool:
    """Whether a file of modules.dep came with the kernel."""
    return _OURS.match(path) is not None


def akin(name: str) -> str:
    """What the modules of one vendor's package have in common: nvidia of nvidia_current_uvm."""
    return name.partition("_")[0]


@dataclass(frozen=True)
class Objects:
    """The kernel objects that DKMS built of a module package for a kernel, by module name."""

    name: str
    version: str
    kernel: str
    modules: Reading[tuple[str, ...]]


@dataclass(frozen=True)
class KernelTree:
    """``release`` below /lib/modules: whether its headers are there, and of the modules in question
    the file that modprobe would load, relative to the tree; one without a file is left out."""

    release: str
    headers: Reading[bool] = field(default_factory=Reading)
    files: Reading[dict[str, str]] = field(default_factory=Reading)


@dataclass(frozen=True)
class KmodFacts:
    """``kernels``: those that the next boot may start, but for the running one; () where it is that
    one. Only where there is another one the rest was looked for.

    ``because``: who chooses where it is not the newest. ``foreign``: loaded modules that are not
    the kernel's own, and their files ("" where the running kernel has none any more). ``dkms``: ()
    where DKMS is not installed. ``system``: the IDs of os-release.
    """

    running: str = ""
    kernels: Reading[tuple[str, ...]] = field(default_factory=Reading)
    because: str = ""
    foreign: Reading[dict[str, str]] = field(default_factory=Reading)
    dkms: Reading[tuple[Entry, ...]] = field(default_factory=Reading)
    objects: tuple[Objects, ...] = ()
    trees: tuple[KernelTree, ...] = ()
    system: tuple[str, ...] = ()

    def built(self, name: str, version: str, kernel: str) -> Reading[tuple[str, ...]]:
        """The kernel objects of a module package for a kernel; missing where none was built."""
        for objects in self.objects:
            if (objects.name, objects.version, objects.kernel) == (name, version, kernel):
                return objects.modules
        return Reading(None, "nothing was built", missing=True)
