# SPDX-License-Identifier: GPL-3.0-or-later
"""Which modules the kernel that boots next would lack: facts in, gaps out, no I/O.

What counts is what modprobe will find there, not what DKMS says of itself: its word for installed
is a link, and the files beside it may be gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, Sequence

from ..._data.kernel_headers import FLAVOUR, HEADERS, VARIANTS
from ..._parse.dkms_status import DkmsModule, Entry
from ..host import reboot
from .kmods_facts import KernelTree, KmodFacts, akin, ours

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
    lost = [entry.why for entry in (facts.dkms, facts.foreign) if entry.value is None]
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
        gaps += [other for other in _others(facts, tree) if other.subject not in without]
        if tree.files.value is None and len(gaps) == before:
            # It may lack the kernel's own modules as well, which nobody here counts.
            lost.append(tree.files.why)
    return Found(tuple(gaps), tuple(dict.fromkeys(entry for entry in lost if entry)))


def wanted(facts: KmodFacts) -> list[tuple[DkmsModule, bool]]:
    """Of every module package the version that the running kernel has, else the newest; and whether
    the host depends on it. The RDMA stack's come first: others are built against them."""
    entries = facts.dkms.value or ()
    found = []
    for name in dict.fromkeys(entry.name for entry in entries):
        mine = [entry for entry in entries if entry.name == name]
        here = [entry.version for entry in mine if entry.kernel == facts.running and entry.installed]
        version = here[0] if here else reboot.newest([entry.version for entry in mine])
        found.append((DkmsModule(name, version), bool(here) or name.startswith(STACK)))
    return sorted(found, key=lambda item: (not item[0].name.startswith("mlnx-of"), item[0].name))


def _newer(facts: KmodFacts, kernel: str, module: DkmsModule) -> DkmsModule:
    """The newer version that this kernel has already, which nobody wants to lose to the one that
    runs; else the same."""
    there = [
        dkm.version
        for dkm in facts.dkms.value or ()
        if dkm.name == module.name and dkm.kernel == kernel and dkm.installed
    ]
    return DkmsModule(module.name, reboot.newest([module.version, *there]))


def package(facts: KmodFacts, kernel: str) -> str:
    """The packages that bring a kernel's headers, in words."""
    flavour = re.fullmatch(FLAVOUR, kernel)
    release, _plus, variant = kernel.partition("+")
    for header in HEADERS:
        if not set(header.systems).intersection(facts.system):
            continue
        if variant in VARIANTS and not header.follows:
            return VARIANTS[variant].format(release)
        name = header.package.format(kernel)
        if not header.follows or flavour is None:
            return name
        return f"{name} (and {header.follows.format(flavour.group(1))}, which follows the kernel)"
    return f"the package with the headers of {kernel}"


def _of_dkms(facts: KmodFacts, tree: KernelTree, module: DkmsModule, required: bool) -> tuple[Gap | None, str]:
    """The gap, if there is one; or why it cannot be told."""
    kernel = tree.release
    states = [dkm for dkm in facts.dkms.value or () if _is(dkm, module)]
    built = facts.built(module.name, module.version, kernel)
    if built.value is None and not built.missing:
        return None, built.why
    done = any(state.installed for state in states if state.kernel == kernel)
    files = tree.files.value or {}
    objects = built.value or _objects_here(facts, module)
    gone = [name for name in objects if name not in files or ours(files[name])]
    if done and objects and not gone:
        return None, ""
    if any(state.state == _BROKEN for state in states):
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
    return Gap(UNBUILT, str(module), kernel, cause, f"`dkms install {module} -k {kernel}`", required, module), ""


def _is(entry: Entry, module: DkmsModule) -> bool:
    return (entry.name, entry.version) == (module.name, module.version)


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
        if not path and akin(name) in {akin(by_dkm) for by_dkm in by_dkms}:
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
