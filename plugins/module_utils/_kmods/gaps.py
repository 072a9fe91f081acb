# SPDX-License-Identifier: GPL-3.0-or-later
"""Which modules the kernel that boots next would lack: facts in, gaps out, no I/O.

What counts is what modprobe will find there, not what DKMS says of itself: its word for installed
is a link, and the files beside it may be gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils import _reboot
from ansible_collections.ibready.cluster.plugins.module_utils._data.kernel_headers import (
    FLAVOUR,
    HEADERS,
    VARIANTS,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.kmods import (
    KernelTree,
    KmodFacts,
    akin,
    ours,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.dkms import DkmsModule
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dkms_status import Entry

# It can be built; it cannot, without headers; DKMS lost its source; nobody here can build it.
UNBUILT, HEADERS_MISSING, BROKEN, LOST = "unbuilt", "headers", "broken", "lost"
# Module packages of the stack are wanted even if they were never built: DKMS names, beginnings.
STACK = ("nvidia", "mlnx-of", "gdrdrv")
_BROKEN = "broken"


@dataclass(frozen=True)
class Gap:
    """A module that a kernel lacks: why, and what to do. ``subject``: nvidia/580.95.05, mlx5_core.

    ``required``: the host runs with it, or it is of the stack. ``dkms``: what to build, None where
    DKMS has no part in it.
    """

    kind: str
    subject: str
    kernel: str
    cause: str
    following: str
    required: bool = True
    dkms: DkmsModule | None = None


@dataclass(frozen=True)
class Found:
    """``unknown``: what could not be told."""

    gaps: tuple[Gap, ...] = ()
    unknown: tuple[str, ...] = ()


def find(facts: KmodFacts, without: Sequence[str] = ()) -> Found:
    """Everything that the next kernel would lack. ``without``: names that it may lack."""
    if facts.kernels.value is None:
        return Found(unknown=(facts.kernels.why or "which kernel boots next is not known",))
    if not facts.kernels.value:
        return Found()
    lost = [one.why for one in (facts.dkms, facts.foreign) if one.value is None]
    gaps: list[Gap] = []
    for tree in facts.trees:
        if tree.files.value is None and not tree.files.missing:
            lost.append(tree.files.why)
            continue
        before = len(gaps)
        for module, required in wanted(facts):
            if module.name in without:
                continue
            gap, why = _of_dkms(facts, tree, _newer(facts, tree.release, module), required)
            gaps += [gap] if gap else []
            lost += [why] if why else []
        gaps += [one for one in _others(facts, tree) if one.subject not in without]
        if tree.files.value is None and len(gaps) == before:
            # It may lack the kernel's own modules as well, which nobody here counts.
            lost.append(tree.files.why)
    return Found(tuple(gaps), tuple(dict.fromkeys(one for one in lost if one)))


def wanted(facts: KmodFacts) -> list[tuple[DkmsModule, bool]]:
    """Of every module package the version that the running kernel has, else the newest; and whether
    the host depends on it. The RDMA stack's come first: others are built against them."""
    entries = facts.dkms.value or ()
    found = []
    for name in dict.fromkeys(one.name for one in entries):
        mine = [one for one in entries if one.name == name]
        here = [one.version for one in mine if one.kernel == facts.running and one.installed]
        version = here[0] if here else _reboot.newest([one.version for one in mine])
        found.append((DkmsModule(name, version), bool(here) or name.startswith(STACK)))
    return sorted(found, key=lambda one: (not one[0].name.startswith("mlnx-of"), one[0].name))


def _newer(facts: KmodFacts, kernel: str, module: DkmsModule) -> DkmsModule:
    """The newer version that this kernel has already, which nobody wants to lose to the one that
    runs; else the same."""
    there = [
        one.version
        for one in facts.dkms.value or ()
        if one.name == module.name and one.kernel == kernel and one.installed
    ]
    return DkmsModule(module.name, _reboot.newest([module.version, *there]))


def package(facts: KmodFacts, kernel: str) -> str:
    """The packages that bring a kernel's headers, in words."""
    flavour = re.fullmatch(FLAVOUR, kernel)
    release, _plus, variant = kernel.partition("+")
    for one in HEADERS:
        if not set(one.systems).intersection(facts.system):
            continue
        if variant in VARIANTS and not one.follows:
            return VARIANTS[variant].format(release)
        name = one.package.format(kernel)
        if not one.follows or flavour is None:
            return name
        return f"{name} (and {one.follows.format(flavour.group(1))}, which follows the kernel)"
    return f"the package with the headers of {kernel}"


def _of_dkms(
    facts: KmodFacts, tree: KernelTree, module: DkmsModule, required: bool
) -> tuple[Gap | None, str]:
    """The gap, if there is one; or why it cannot be told."""
    kernel = tree.release
    states = [one for one in facts.dkms.value or () if _is(one, module)]
    built = facts.built(module.name, module.version, kernel)
    if built.value is None and not built.missing:
        return None, built.why
    done = any(one.installed for one in states if one.kernel == kernel)
    files = tree.files.value or {}
    objects = built.value or _objects_here(facts, module)
    gone = [name for name in objects if name not in files or ours(files[name])]
    if done and objects and not gone:
        return None, ""
    if any(one.state == _BROKEN for one in states):
        cause = f"DKMS knows {module} and has lost its source (`dkms status`: broken)"
        following = f"install the package of {module.name} again, which brings its source"
        return Gap(BROKEN, str(module), kernel, cause, following, required), ""
    if tree.headers.value is None:
        return None, tree.headers.why
    if done:
        shown = ", ".join(gone[:4]) or "any of its modules"
        cause = f"DKMS says that {module} is installed for {kernel}, and {shown} is not to be found"
    elif built.value:
        cause = f"DKMS built {module} for {kernel}, and did not install it"
    else:
        cause = f"DKMS has not built {module} for {kernel}"
    if not tree.headers.value and not built.value:
        cause += f": the kernel's headers are missing (/lib/modules/{kernel}/build)"
        then = f"role reboot_gate or `dkms install {module} -k {kernel}` then builds it"
        following = f"install {package(facts, kernel)}; {then}"
        return Gap(HEADERS_MISSING, str(module), kernel, cause, following, required, module), ""
    following = f"`dkms install {module} -k {kernel}`"
    return Gap(UNBUILT, str(module), kernel, cause, following, required, module), ""


def _is(one: Entry, module: DkmsModule) -> bool:
    return (one.name, one.version) == (module.name, module.version)


def _objects_here(facts: KmodFacts, module: DkmsModule) -> tuple[str, ...]:
    return facts.built(module.name, module.version, facts.running).value or ()


def _others(facts: KmodFacts, tree: KernelTree) -> Iterator[Gap]:
    """Loaded modules that came neither with the kernel nor by DKMS: a package brings them for each
    kernel, or weak-modules links them."""
    by_dkms = {
        name
        for module, _required in wanted(facts)
        for name in (
            *_objects_here(facts, module),
            *(facts.built(module.name, module.version, tree.release).value or ()),
        )
    }
    files = tree.files.value or {}
    for name, path in (facts.foreign.value or {}).items():
        there = files.get(name, "")
        if name in by_dkms or (there and not ours(there)):
            continue
        if not path and akin(name) in {akin(one) for one in by_dkms}:
            # DKMS may give the file another name (Debian's nvidia-current), and was judged.
            continue
        if there:
            cause = (
                f"{tree.release} has its own {name} ({there}) in place of the one that is loaded"
                f" now ({path or 'its file is gone'})"
            )
        else:
            cause = f"{name} is loaded ({path or 'its file is gone'}), and {tree.release} has none"
        following = (
            f"install the package that brings {name} for {tree.release} (Ubuntu's"
            " linux-modules-nvidia-*, a vendor's kmod-* or *-modules), or keep the kernel as it is"
        )
        yield Gap(LOST, name, tree.release, cause, following)
