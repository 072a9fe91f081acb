# SPDX-License-Identifier: GPL-3.0-or-later
"""The area container as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._ask.container import query
from ..._expect.expectations import CAPABILITY, INVENTORY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._parse import _container_facts as told
from ..._parse._container_desired import Desired
from ..._parse._container_facts import ContainerProbe
from ..area import Area
from ..machine.facts import Machine
from . import ENTRIES, check_cuda, check_devices, check_gpu, check_limits, check_nccl, check_verbs, observe
from .check_view import CONTAINER, View, who, why
from .facts import ContainerFacts

_ENGINE, _IMAGE = "container.engine.usable", "container.image.runs"
_FIRST = (_ENGINE, _IMAGE)


def judge(facts: ContainerFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every container.* check; none where nobody asked for containers to be looked at."""
    desired, probe = facts.wish, facts.probe.value
    if desired is None:
        return []
    if probe is None:
        reason = facts.probe.why or "nobody looked"
        return [unknown(entry.id, CONTAINER, reason) for entry in ENTRIES]
    if probe.no_engine and not desired.engine:
        reason = f"no container engine on this host: {probe.no_engine}"
        return [skipped(entry.id, CONTAINER, reason) for entry in ENTRIES]
    found = [_engine(probe, desired)]
    if probe.no_engine or probe.unusable:
        return [*found, *_unseen(f"no container ran: {probe.no_engine or probe.unusable}", _ENGINE)]
    if probe.no_image:
        return [*found, _no_image(probe, desired), *_unseen("no container ran, for want of an image")]
    view = View(facts, machine, desired, probe, expect)
    return [*found, *_runs(probe), *_inside(view)]


def _inside(view: View) -> Iterator[Check]:
    yield from check_devices.judge(view)
    yield from check_verbs.judge(view)
    yield from check_limits.judge(view)
    yield from check_gpu.judge(view)
    yield from check_cuda.judge(view)
    yield from check_nccl.judge(view)


def _unseen(reason: str, *but: str) -> list[Check]:
    looked = but or _FIRST
    return [unknown(entry.id, CONTAINER, reason) for entry in ENTRIES if entry.id not in looked]


def _engine(probe: ContainerProbe, wish: Desired) -> Check:
    source = INVENTORY if wish.engine else CAPABILITY
    expected = wish.engine or "an engine that answers"
    if probe.engine is None:
        cause = f"{wish.engine} is not installed on this host"
        return failed(_ENGINE, wish.engine, "not installed", expected, source, cause=cause)
    name = probe.engine.name
    if probe.unusable:
        cause = f"{name} is installed and does not answer: {probe.unusable}"
        remedy = _REMEDIES.get(name, "")
        return failed(_ENGINE, name, probe.unusable, expected, source, cause=cause, remedy=remedy)
    return passed(_ENGINE, name, f"{name} {probe.engine.version} ({probe.engine.program})", expected, source)


_REMEDIES = {
    "docker": "`systemctl status docker`, and `journalctl -u docker -n 50` for what stopped it",
    "containerd": "`systemctl status containerd`, and `journalctl -u containerd -n 50` for why",
}


def _no_image(probe: ContainerProbe, wish: Desired) -> Check:
    remedy = ""
    if wish.image and not wish.pull:
        program = probe.engine.program.rpartition("/")[2] if probe.engine else "docker"
        pull = "ctr images pull" if program == "ctr" else f"{program} pull"
        remedy = f"`{pull} {wish.image}` on the host, or pull: true in ibready_expect.container"
    observed = probe.no_image
    cause = f"there is no image to start: {observed}"
    return failed(_IMAGE, probe.image, observed, "an image", CAPABILITY, cause=cause, remedy=remedy)


def _runs(probe: ContainerProbe) -> Iterator[Check]:
    expected = "a container that runs"
    for run in probe.runs:
        subject = who(run)
        if run.inside is not None and run.inside.uid != run.user:
            cause = "the image's own entrypoint, or the engine, made another user of it"
            yield failed(_IMAGE, subject, f"runs as user {run.inside.uid}", subject, CAPABILITY, cause=cause)
        elif run.how == told.RAN:
            yield passed(_IMAGE, subject, f"{probe.image} ({probe.origin})", expected, CAPABILITY)
        elif run.how == told.NO_SHELL:
            yield unknown(_IMAGE, subject, why(run), remedy="name an image with a shell")
        else:
            yield failed(_IMAGE, subject, run.said, expected, CAPABILITY, cause=why(run))


AREA = Area("container", observe.observe, judge, {"container_probe": query.ask})
