# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the host's driver runs the CUDA that an image was built for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator

from ..._data.cuda import BROUGHT, LEAST
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._parse._container_facts import Inside
from ..host import check_scope
from ..host.check_scope import Scope
from ..stack import cuda_rules
from . import image_cuda
from .check_view import CONTAINER, View
from .image_cuda import Told

_ID = "container.cuda.driver"
_GPU = re.compile(r"GPU [0-9]{1,3}: (.{1,200}?)(?: \(UUID: .*)?")
# Of Jetson it is libcuda.so.1.1, which tells of no driver.
_LIBRARY = re.compile(r"libcuda\.so\.([0-9]{3,4}(?:\.[0-9]{1,6}){1,3})")
# NVIDIA's runtime, where an image requires what the host is not.
_REFUSED = re.compile(r"unsatisfied condition: ([a-z]{1,20} ?[<>=!]{1,2} ?[0-9A-Za-z.]{1,40})")
# Where NVIDIA's framework images keep compatibility libraries until their entrypoint wants them.
_BY_ENTRYPOINT = "/lib.real/"
_NO_LIBCUDA = "the container has its GPUs and no libcuda.so.1 where the loader looks: no CUDA program starts"
_CAPABILITIES, _ENOUGH = "NVIDIA_DRIVER_CAPABILITIES", ("all", "compute")
_UNTOLD = "the image has compatibility libraries, and nothing tells of which CUDA its programs are"
_NONE = "the image shows no CUDA: no CUDA_VERSION, no version.json, no libcudart where frameworks have it"


def judge(view: View) -> Iterator[Check]:
    """container.cuda.driver"""
    scope = view.real.then(check_scope.with_gpu(view.machine))
    if view.built:
        scope = scope.then(Scope("the image is made of the host's own files: a job's image brings its CUDA along"))
    refused = [match.group(1) for run in view.probe.runs if (match := _REFUSED.search(run.said))]
    if refused and view.first is None and not (scope.skip or scope.why):
        yield _refused(view, refused[0])
    else:
        yield from view.scoped(_ID, scope, lambda inside: _judge(view, inside))


def _refused(view: View, condition: str) -> Check:
    driver = view.facts.driver.value
    host = f"the host's driver {driver} runs {cuda_rules.newest(driver)}" if driver else "nobody could read its driver"
    cause = f"the image requires {condition}, and NVIDIA's runtime does not start it on this host: {host}"
    remedy = "take an image of a CUDA that the driver runs, or give the host a newer driver (stack_driver)"
    expected = cuda_rules.newest(driver) if driver else "what the image requires"
    observed = f"{view.probe.image} refused: {condition}, on driver {driver or 'unknown'}"
    return failed(_ID, CONTAINER, observed, expected, CAPABILITY, cause=cause, remedy=_planned(view, remedy))


def _judge(view: View, inside: Inside) -> Check:
    if inside.libcuda is None:
        return unknown(_ID, CONTAINER, "nobody looked for CUDA when this was recorded: collect again")
    told, driver = image_cuda.read(inside), view.facts.driver
    if told.release is None:
        wrong = told.strange or told.wrong or (_UNTOLD if inside.compat else "")
        return unknown(_ID, CONTAINER, wrong) if wrong else skipped(_ID, CONTAINER, _NONE)
    if driver.value is None:
        absent = "no NVIDIA driver is loaded on the host: see gpu.driver.answers"
        return unknown(_ID, CONTAINER, absent if driver.missing else driver.why or "nobody read the host's driver")
    found = _Found(view, inside, told, told.release, driver.value)
    path, file = next(iter(inside.libcuda.items()), ("", ""))
    if not path or _release(file) == driver.value:
        check = _own(found)
    else:
        check = _other(found, path, _release(file))
    if check.result != "pass":
        return check
    if not path and found.gpus:
        return _without(found)
    doubt = told.strange or told.wrong
    return unknown(_ID, CONTAINER, doubt, observed=check.observed) if doubt else check


@dataclass(frozen=True)
class _Found:
    """An image of one CUDA release, and the driver of the host that it runs on."""

    view: View
    inside: Inside
    told: Told
    release: cuda_rules.Release
    driver: str

    @property
    def shown(self) -> str:
        cuda = f"CUDA {cuda_rules.text(self.release)} ({self.told.where})"
        return f"{self.view.probe.image}: {cuda} on driver {self.driver}"

    @property
    def gpus(self) -> list[str]:
        """As nvidia-smi names them; none where it did not list all of them."""
        lines = () if self.inside.smi_rc else self.inside.smi or ()
        return [match.group(1) for line in lines if (match := _GPU.fullmatch(line))]

    @property
    def host(self) -> dict[str, str]:
        """What a constraint of the image is held against."""
        own = BROUGHT.get(cuda_rules.branch(self.driver))
        brands = {cuda_rules.brand(gpu) for gpu in self.gpus}
        known = {"driver": self.driver, "cuda": cuda_rules.text(own) if own else ""}
        known["brand"] = brands.pop() if len(brands) == 1 else ""
        return {name: value for name, value in known.items() if value}

    def forward(self, library: str) -> tuple[bool | None, str]:
        """As cuda_rules.forward."""
        return cuda_rules.forward(self.driver, library, self.gpus, self.told.vouched(self.host))

    def passed(self, how: str) -> Check:
        observed = f"{self.shown}, {how}"
        if self.told.met(self.host) is False:
            observed += "; where NVIDIA's runtime is asked (--gpus), it refuses: the image requires another host"
        return passed(_ID, CONTAINER, observed, cuda_rules.newest(self.driver), CAPABILITY)

    def failed(self, cause: str, remedy: str) -> Check:
        if self.told.disabled:
            cause += "; NVIDIA_DISABLE_REQUIRE keeps NVIDIA's runtime from refusing it, so jobs start and then fail"
        expected = cuda_rules.newest(self.driver)
        return failed(_ID, CONTAINER, self.shown, expected, CAPABILITY, cause=cause, remedy=remedy)

    def unknown(self, why: str) -> Check:
        return unknown(_ID, CONTAINER, f"{self.shown}: {why}", observed=self.shown)

    def aside(self, path: str) -> str:
        """The next step where a libcuda of the image stands before the host's."""
        folder = path.rpartition("/")[0]
        searched = [name.rstrip("/") for name in self.inside.environment.get("LD_LIBRARY_PATH", "").split(":")]
        return (
            f"take {folder} out of LD_LIBRARY_PATH"
            if folder.rstrip("/") in searched
            else f"take {path} out of the image"
        )

    def newer(self) -> str:
        """The next step where the driver is too old: another image, or another driver."""
        own, least = cuda_rules.brings(self.driver), LEAST.get(self.release[0])
        steps = [f"take an image of CUDA {own[0]}.x or older"] if own else []
        if least:
            steps.append(f'give the host driver {least} or newer (stack_driver: "{cuda_rules.branch(least)}")')
        return _planned(self.view, ", or ".join(steps), self.release)


def _release(path: str) -> str:
    match = _LIBRARY.fullmatch(path.rpartition("/")[2])
    return match.group(1) if match else ""


def _own(found: _Found) -> Check:
    """The loader takes the libcuda of the host's driver."""
    how = cuda_rules.how(found.release, found.driver)
    if how == cuda_rules.OWN:
        return found.passed("which brings as much")
    if how == cuda_rules.MINOR:
        return found.passed("by minor version compatibility: code that is compiled at run time (PTX) may not load")
    if how == cuda_rules.UNSURE:
        return found.unknown(f"nobody knows the oldest driver of CUDA {found.release[0]}")
    needs = f"CUDA {found.release[0]} needs driver {LEAST[found.release[0]]} or newer"
    carried = [(path, _release(path)) for path in found.inside.compat]
    fits = [(path, version) for path, version in carried if version and cuda_rules.runs(found.release, version)]
    if not fits:
        return found.failed(f"{needs}, and the image has no compatibility libraries of it", found.newer())
    path, version = fits[0]
    folder, (holds, why) = path.rpartition("/")[0], found.forward(version)
    if holds is not False and any(_BY_ENTRYPOINT in path for path, _unused in fits):
        return found.unknown(f"its entrypoint, which was left out here, puts its libcuda {version} in the way, or not")
    if not holds:
        return found.failed(f"{needs}, and of its compatibility libraries ({version}): {why}", found.newer())
    cause = f"{needs}; the image's compatibility libraries ({version}) lie in {folder}, where the loader does not look"
    remedy = f"put {folder} first in LD_LIBRARY_PATH of the image or the job; or {found.newer()}"
    return found.failed(cause, remedy)


def _without(found: _Found) -> Check:
    """GPUs, and nothing of the driver that a CUDA program could load."""
    said = found.inside.environment.get(_CAPABILITIES)
    if said is not None and not set(_ENOUGH).intersection(word.strip() for word in said.split(",")):
        cause = f"{_NO_LIBCUDA}; {_CAPABILITIES}={said} asks for the driver without compute"
        return found.failed(cause, f"set {_CAPABILITIES}=compute,utility (or all) in the image or the job")
    remedy = f"set {_CAPABILITIES}=compute,utility, or write the CDI file anew (role container_runtime)"
    return found.failed(f"{_NO_LIBCUDA}; {_CAPABILITIES} without compute, or a CDI file without it", remedy)


def _other(found: _Found, path: str, version: str) -> Check:
    """The loader takes another libcuda than that of the host's driver."""
    taken = f"the loader takes {path} ({version})"
    if not version:
        return found.unknown(f"the loader takes {path}, and nothing tells of which driver that is")
    ours, theirs = cuda_rules.branch(found.driver), cuda_rules.branch(version)
    if theirs < ours:
        cause = f"{taken}, older than the host's driver: no call of CUDA succeeds with it (error 803)"
        return found.failed(cause, f"{found.aside(path)}: the host's own libcuda is newer")
    if theirs == ours:
        return found.unknown(f"{taken}, another release of the same branch as the driver's own")
    holds, why = found.forward(version)
    if holds is None:
        return found.unknown(f"{taken}: {why}")
    if not holds:
        host = cuda_rules.how(found.release, found.driver) in (cuda_rules.OWN, cuda_rules.MINOR)
        return found.failed(f"{taken}, and {why}", found.aside(path) if host else found.newer())
    if cuda_rules.runs(found.release, version):
        return found.passed(f"by forward compatibility: {path} is of {version}")
    if cuda_rules.how(found.release, version) == cuda_rules.UNSURE:
        return found.unknown(f"nobody knows the oldest driver of CUDA {found.release[0]}")
    return found.failed(f"{taken}, which runs {cuda_rules.newest(version)}", found.newer())


def _planned(view: View, steps: str, release: cuda_rules.Release | None = None) -> str:
    """The steps, and whether the host's lock brings the driver already."""
    lock = view.expect.get("lock")
    stack: Any = lock.value.get("stack") if lock is not None else None
    driver: Any = stack.get("driver") if isinstance(stack, dict) else None
    version: Any = driver.get("version") or driver.get("branch") if isinstance(driver, dict) else driver
    if not isinstance(version, str) or not version:
        return steps
    # A branch alone: its newest release.
    newest = version if "." in version else f"{version}.999"
    if release is None or cuda_rules.runs(release, newest):
        return f"{steps}; the host's lock says driver {version}: `site.yml` brings it where it is not loaded yet"
    return f"{steps}; driver {version} of the host's lock does not run it"
