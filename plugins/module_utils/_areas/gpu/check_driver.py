# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the GPU driver of one host: facts in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.gpus import EITHER, OPEN_ONLY, Gpu as Model
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._parse import nvsmi_error
from ..._parse._nvsmi import Gpu
from ..._parse.version_text import fits
from .check_scope import Scope, Unsure, each, model, subject
from .facts import Module

_ANSWERS = "gpu.driver.answers"
_VERSIONS = "gpu.driver.versions"
_EXPECTED = "gpu.driver.expected"
_MODULES = "gpu.driver.modules"
_PERSISTENCE = "gpu.driver.persistence"
# What lasts, where switching the daemon's unit on would not do it.
_PERSISTENT = {
    "active": "`systemctl edit nvidia-persistenced`: an ExecStart without --no-persistence-mode, then restart it; "
    "until the next boot `nvidia-smi -pm 1` does",
    "masked": "`systemctl unmask nvidia-persistenced`, then `systemctl enable --now nvidia-persistenced`",
    "not installed": "install nvidia-persistenced in the driver's version, as role nvidia_driver does with the plan's "
    "driver, and enable it; until the next boot `nvidia-smi -pm 1` does",
}

# Errors that another check is about.
_ELSEWHERE = (
    nvsmi_error.MISMATCH,
    nvsmi_error.NO_DEVICE,
    nvsmi_error.LOST,
    nvsmi_error.HANDLE,
    nvsmi_error.NEEDS_RESET,
)
# Errors that say only that we may not or could not look.
_NO_LOOK = (nvsmi_error.NO_PERMISSION, nvsmi_error.NOT_INSTALLED)
_CAUSES = {
    nvsmi_error.NO_DRIVER: "the nvidia kernel module is not loaded",
    nvsmi_error.NO_LIBRARY: "the driver's library libnvidia-ml.so is not found: not installed, or not in the container",
    nvsmi_error.BLOCKED: "the operating system keeps nvidia-smi away from the GPUs",
    nvsmi_error.UNKNOWN: "the devices of the driver were taken from this container, or it failed",
}
_INSTALL = "install the NVIDIA driver from the vendor's repository, then `nvidia-smi` by hand"
_ABSENT = "not installed"


def judge(seen: Scope) -> Iterator[Check]:
    """The gpu.driver.* checks."""
    error = seen.facts.error
    if error is None or error.error not in _ELSEWHERE:
        yield _answers(seen)
    yield from _versions(seen)
    yield _expected(seen)
    yield _modules(seen)
    if seen.listed:
        yield from each(
            seen,
            _PERSISTENCE,
            "persistence mode",
            lambda gpu: gpu.persistence,
            lambda gpu, text: _persistence(seen, gpu, text),
            "Enabled",
        )


def _answers(seen: Scope) -> Check:
    smi, error = seen.facts.smi, seen.facts.error
    if smi.value is not None:
        said = f"driver {smi.value.driver or 'not shown'}, CUDA {smi.value.cuda or 'not shown'}"
        return passed(_ANSWERS, "nvidia-smi", said, "an answer", CAPABILITY)
    if error is not None and error.error not in _NO_LOOK:
        return failed(
            _ANSWERS,
            "nvidia-smi",
            error.line,
            "an answer",
            CAPABILITY,
            cause=_cause(error.error, seen.facts.module),
        )
    absent = _ABSENT in smi.why or (error is not None and error.error == nvsmi_error.NOT_INSTALLED)
    return unknown(_ANSWERS, "nvidia-smi", smi.why, remedy=_INSTALL if absent else "")


def _cause(error: str, module: Reading[Module]) -> str:
    """Where no module is loaded, nvidia-smi may say "Unknown Error" as well: Ubuntu's 580 does."""
    if error in (nvsmi_error.UNKNOWN, nvsmi_error.OTHER) and module.missing:
        error = nvsmi_error.NO_DRIVER
    return _CAUSES.get(error, error)


def _versions(seen: Scope) -> Iterator[Check]:
    error, module = seen.facts.error, seen.facts.module
    if error is not None and error.error == nvsmi_error.MISMATCH:
        loaded = module.value.version if module.value else "another"
        yield failed(
            _VERSIONS,
            "host",
            f"library {error.nvml or 'of another version'}, module {loaded}",
            "the same",
            CAPABILITY,
            cause="nvidia-smi says: version mismatch; the module in the kernel is still the old "
            "one, or the wrong libraries were installed",
        )
    elif seen.smi.driver:
        yield look(_VERSIONS, "host", module, lambda found: _same(seen.smi.driver, found.version))
    elif seen.facts.smi.known:
        yield unknown(_VERSIONS, "host", "nvidia-smi showed no driver version")


def _same(library: str, module: str) -> Check:
    reported = f"nvidia-smi {library}, module {module}"
    return outcome(library == module, _VERSIONS, "host", reported, "the same", CAPABILITY)


def _expected(seen: Scope) -> Check:
    wanted = seen.expect.get("driver")
    if wanted is None:
        return skipped(_EXPECTED, "host", "nobody expects a driver version")
    module = seen.facts.module
    # The module is what runs; nvidia-smi says the same where gpu.driver.versions passes.
    version = Reading(seen.smi.driver) if seen.smi.driver else module.map(lambda entry: entry.version)

    def judge(found: str) -> Check:
        return outcome(fits(found, str(wanted.value)), _EXPECTED, "host", found, wanted.value, wanted.source)

    return look(_EXPECTED, "host", version, judge)


def _models(seen: Scope) -> list[Model]:
    found = seen.machine.gpus.value or tuple(model(gpu) for gpu in seen.listed)
    return [item for item in found if item is not None]


def _modules(seen: Scope) -> Check:
    choosy = sorted({(model.modules, model.model) for model in _models(seen) if model.modules != EITHER})
    if not choosy:
        return skipped(_MODULES, "host", "no GPU here is known to need open or proprietary kernel modules")
    kinds = {kind for kind, _name in choosy}
    if len(kinds) > 1:
        names = ", ".join(name for _kind, name in choosy)
        why = "one needs open modules, another proprietary ones: no driver runs both"
        return failed(_MODULES, "host", names, "GPUs of one kind", CAPABILITY, cause=why)
    wanted, name = choosy[0]
    return look(_MODULES, "host", seen.facts.module, lambda found: _kind(found, wanted, name))


def _kind(module: Module, wanted: str, name: str) -> Check:
    if module.open is None:
        why = "/proc/driver/nvidia/version cannot be read, which tells the kind of the modules"
        return unknown(_MODULES, "host", why, observed=module.version)
    reported = "open" if module.open else "proprietary"
    if module.open == (wanted == OPEN_ONLY):
        return passed(_MODULES, "host", reported, f"{wanted} for {name}", CAPABILITY)
    cause = f"{name} runs with the {wanted} kernel modules only"
    return failed(_MODULES, "host", reported, wanted, CAPABILITY, cause=cause)


def _persistence(seen: Scope, gpu: Gpu, text: str) -> Check | None:
    if text == "Enabled":
        return None
    if text != "Disabled":
        raise ValueError(text)
    daemon = seen.facts.persistenced
    if daemon.value is None:
        raise Unsure(f"it is off, and nobody could look for nvidia-persistenced: {daemon.why}")
    cause = f"nvidia-persistenced is {daemon.value}"
    if daemon.value == "active":
        cause = "nvidia-persistenced runs with --no-persistence-mode"
    remedy = _PERSISTENT.get(daemon.value, "")
    return failed(_PERSISTENCE, subject(gpu), text, "Enabled", CAPABILITY, cause=cause, remedy=remedy)
