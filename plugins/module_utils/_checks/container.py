# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what containers get on one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    container_devices,
    container_gpu,
    container_limits,
    container_nccl,
    container_verbs,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.container_view import (
    CONTAINER,
    View,
    who,
    why,
)
from ansible_collections.ibready.cluster.plugins.module_utils._entries import container as entries
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    INVENTORY,
    Expectations,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.container import (
    ContainerFacts,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._parse import _container_facts as told
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import (
    ContainerProbe,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish

_ENGINE, _IMAGE = "container.engine.usable", "container.image.runs"
_FIRST = (_ENGINE, _IMAGE)


def judge(facts: ContainerFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every container.* check; none where nobody asked for containers to be looked at."""
    wish, probe = facts.wish, facts.probe.value
    if wish is None:
        return []
    if probe is None:
        reason = facts.probe.why or "nobody looked"
        return [unknown(one.id, CONTAINER, reason) for one in entries.ENTRIES]
    if probe.no_engine and not wish.engine:
        reason = f"no container engine on this host: {probe.no_engine}"
        return [skipped(one.id, CONTAINER, reason) for one in entries.ENTRIES]
    found = [_engine(probe, wish)]
    if probe.no_engine or probe.unusable:
        reason = f"no container ran: {probe.no_engine or probe.unusable}"
        return [*found, *_unseen(reason, _ENGINE)]
    if probe.no_image:
        return [*found, _no_image(probe, wish), *_unseen("no container ran, for want of an image")]
    view = View(facts, machine, wish, probe, expect)
    return [*found, *_runs(probe), *_inside(view)]


def _inside(view: View) -> Iterator[Check]:
    yield from container_devices.judge(view)
    yield from container_verbs.judge(view)
    yield from container_limits.judge(view)
    yield from container_gpu.judge(view)
    yield from container_nccl.judge(view)


def _unseen(reason: str, *but: str) -> list[Check]:
    looked = but or _FIRST
    return [unknown(one.id, CONTAINER, reason) for one in entries.ENTRIES if one.id not in looked]


def _engine(probe: ContainerProbe, wish: Wish) -> Check:
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
    observed = f"{name} {probe.engine.version} ({probe.engine.program})"
    return passed(_ENGINE, name, observed, expected, source)


_REMEDIES = {
    "docker": "`systemctl status docker`, and `journalctl -u docker -n 50` for what stopped it",
    "containerd": "`systemctl status containerd`, and `journalctl -u containerd -n 50` for why",
}


def _no_image(probe: ContainerProbe, wish: Wish) -> Check:
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
    for one in probe.runs:
        subject = who(one)
        if one.inside is not None and one.inside.uid != one.user:
            cause = "the image's own entrypoint, or the engine, made another user of it"
            observed = f"runs as user {one.inside.uid}"
            yield failed(_IMAGE, subject, observed, subject, CAPABILITY, cause=cause)
        elif one.how == told.RAN:
            yield passed(_IMAGE, subject, f"{probe.image} ({probe.origin})", expected, CAPABILITY)
        elif one.how == told.NO_SHELL:
            yield unknown(_IMAGE, subject, why(one), remedy="name an image with a shell")
        else:
            yield failed(_IMAGE, subject, one.said, expected, CAPABILITY, cause=why(one))
