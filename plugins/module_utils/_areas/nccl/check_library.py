# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge which NCCL library processes of this host load."""

from __future__ import annotations

from typing import Sequence

from ..._data.nccl_library import SONAME
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._nccl.release import release, without_code
from .facts import HostFacts

_VERSION = "nccl.library.version"
_CACHE = "ld.so.cache"
_NO_CACHE = "run `ldconfig`, which writes /etc/ld.so.cache anew, then verify again"
NO_LIBRARY = f"no {SONAME} on this host: jobs bring their own"


def unasked(check_id: str, here: HostFacts) -> Check:
    """The linker did not tell which library it takes; without its cache it cannot."""
    why = here.asked.library.why or "nobody looked"
    return unknown(check_id, SONAME, why, remedy=_NO_CACHE if _CACHE in why else "")


def version(here: HostFacts, architectures: Sequence[str] = ()) -> Check:
    """The library that a process loads by its name is the package's."""
    library, package = here.asked.library, here.package
    if library.value is None:
        if library.missing:
            return skipped(_VERSION, SONAME, NO_LIBRARY)
        return unasked(_VERSION, here)
    observed = f"{library.value.version or 'of no known version'}, {library.value.path}"
    says = here.asked.proof.value.version if here.asked.proof.value else library.value.version
    if says != library.value.version and library.value.version:
        observed = f"{observed}, says of itself that it is {says}"
        cause = "the file was put together from two releases"
        return failed(_VERSION, SONAME, observed, library.value.version, CAPABILITY, cause=cause)
    build = f"{library.value.version}+cuda{library.value.cuda}"
    if cause := without_code(build, architectures):
        remedy = "install a newer NCCL, as the plan has it (site.yml)"
        return failed(_VERSION, SONAME, observed, "code for this host's GPUs", CAPABILITY, cause=cause, remedy=remedy)
    if package.value is None:
        if package.missing:
            return skipped(_VERSION, SONAME, f"it came by no package: {observed}")
        return unknown(_VERSION, SONAME, package.why or "nobody looked", observed=observed)
    expected = package.map(release)
    if expected.value is None or not says:
        why = expected.why or "the file does not tell its version"
        return unknown(_VERSION, SONAME, why, observed=observed)
    if release(says) == expected.value:
        return passed(_VERSION, SONAME, observed, package.value, CAPABILITY)
    cause = "another copy lies ahead of the package's on the linker's path"
    return failed(_VERSION, SONAME, observed, package.value, CAPABILITY, cause=cause)
