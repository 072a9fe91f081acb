# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the linker really loads: libraries of the loaded driver, and nothing into every process."""

from __future__ import annotations

import posixpath
from typing import Iterator

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..._ground.text import few
from ..._parse.version_text import numbers
from ..host import check_scope
from ..machine.facts import Machine
from . import cuda_rules
from .facts import Driver, Linker, Loaded
from .observe_linker import OWN, PRELOAD

_DRIVER, _PRELOAD = "stack.linker.driver", "stack.linker.preload"
_HOST, _SHOWN = "host", 3
_CUDA = "libcuda.so.1"


def judge(linker: Linker, driver: Reading[Driver], machine: Machine) -> Iterator[Check]:
    """stack.linker.*"""
    gpus = check_scope.with_kernel(machine).then(check_scope.with_gpu(machine))
    yield from gpus.judge(_DRIVER, lambda: [_libraries(linker, driver, machine)])
    yield from check_scope.outside_container(machine).judge(_PRELOAD, lambda: [_preload(linker)])


def _libraries(linker: Linker, driver: Reading[Driver], machine: Machine) -> Check:
    for reading in (driver, linker.taken):
        if reading.value is None:
            make = skipped if reading.missing else unknown
            return make(_DRIVER, _HOST, reading.why or "nobody looked")
    taken, release = linker.taken.value or (), driver.value.version if driver.value else ""
    if not taken:
        return skipped(_DRIVER, _HOST, "the linker knows no library of the driver: jobs run in containers")
    names = [model.names[0] for model in machine.gpus.value or () if model and model.names]
    odd = [one for one in taken if one.release and not _fits(one, release, names)]
    odd.sort(key=lambda one: one.name != _CUDA)
    expected = f"those of driver {release}"
    if odd:
        observed = few([f"{one.name} is {one.path} ({one.release})" for one in odd], _SHOWN)
        return failed(_DRIVER, _HOST, observed, expected, CAPABILITY, cause=_cause(odd[0]), remedy=_remedy(odd[0]))
    untold = {one.name: one.path for one in taken if not one.release}
    if len(untold) == len(taken) or _CUDA in untold:
        return unknown(_DRIVER, _HOST, f"nothing tells of which release {few([*untold.values()], _SHOWN)} is")
    return passed(_DRIVER, _HOST, f"{len(taken)} libraries", expected, CAPABILITY)


def _fits(one: Loaded, driver: str, gpus: list[str]) -> bool:
    """The driver's own, or one of forward compatibility: newer, and in the folder that its packages have."""
    if numbers(one.release) == numbers(driver):
        return True
    newer = cuda_rules.branch(one.release) > cuda_rules.branch(driver)
    compat = posixpath.dirname(one.path).endswith("/compat")
    return newer and compat and cuda_rules.forward(driver, one.release, gpus, ())[0] is not False


def _cause(one: Loaded) -> str:
    by = f", to which {one.by} leads it" if one.by else ""
    breaks = "no CUDA call succeeds with it (error 803)" if one.name == _CUDA else "programs that use it fail"
    return f"the linker takes {one.name} from {posixpath.dirname(one.path)}{by}: {breaks}"


def _remedy(one: Loaded) -> str:
    folder = posixpath.dirname(one.path)
    if folder in OWN:
        return (
            f"remove the package or file of driver {one.release} that {one.path} is of (`dpkg -S`, `rpm -qf`), then "
            "run `ldconfig`"
        )
    return f"take {folder}, which holds {one.name}, out of {one.by}, then run `ldconfig`" if one.by else ""


def _preload(linker: Linker) -> Check:
    expected, preload = "nothing that is loaded into every process", linker.preload
    if not preload.known and linker.taken.value is None:
        make = skipped if linker.taken.missing else unknown
        return make(_PRELOAD, PRELOAD, linker.taken.why or "nobody looked")
    if preload.value is None and not preload.missing:
        return unknown(_PRELOAD, PRELOAD, preload.why or "nobody looked")
    lines = (preload.value or "").split("\n")
    words = [word for line in lines for word in line.partition("#")[0].replace(":", " ").split()]
    if not words:
        return passed(_PRELOAD, PRELOAD, "no library in it" if preload.known else "no such file", expected, CAPABILITY)
    cause = f"{PRELOAD} loads it into every program, also into each rank and into NCCL's threads"
    return failed(_PRELOAD, PRELOAD, few(words, _SHOWN), expected, CAPABILITY, cause=cause)
