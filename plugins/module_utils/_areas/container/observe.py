# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of containers; starts some, where the site asks for it."""

from __future__ import annotations

from dataclasses import asdict

from ..._data.nccl_reading import SYSTEM_FILE
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._expect.expectations import Expectations
from ..._ground.reading import Reading
from ..._parse import container_probe, proc_limits
from ..._parse._container_desired import Desired
from ..._parse._container_facts import ContainerProbe
from ..host import observe_net
from ..machine.facts import Machine
from ..nccl.observe_host import look_at
from ..stack.observe import NVIDIA, driver_version
from .facts import ContainerFacts

PROBE = "container_probe"
DEVICES = "/dev/infiniband"
_FIRST = "/proc/1/limits"
_OTHER = "recorded of another container than ibready_expect.container asks for"


def observe(evidence: Evidence, machine: Machine, expect: Expectations) -> ContainerFacts:
    """Nothing where neither the site asks for it nor a bundle holds it."""
    said = expect.get("container")
    if said is None and not evidence.recorded:
        return ContainerFacts()
    desired: Desired = said.value if said is not None else Desired()
    probe = ask.command(evidence, PROBE, container_probe.parse, desired.to_text())
    if said is None and "not in the bundle" in probe.why:
        return ContainerFacts()
    recorded = probe.value if evidence.recorded else None
    if recorded is not None:
        differs = _differing(desired, recorded)
        if differs:
            probe = Reading(None, f"{_OTHER} ({', '.join(differs)}): collect again")
        else:
            desired = recorded.wish
    runs = probe.value.runs if probe.value is not None else ()
    sets = any(name.startswith("NCCL_") for run in runs if run.inside for name in run.inside.environment)
    return ContainerFacts(
        wish=desired,
        probe=probe,
        devices=ask.names(evidence, DEVICES).map(tuple),
        conf=ask.text(evidence, SYSTEM_FILE),
        interfaces=observe_net.observe(evidence).interfaces,
        limits=ask.file(evidence, _FIRST, proc_limits.parse) if machine.simulated else Reading(),
        driver=ask.file(evidence, NVIDIA, driver_version).map(lambda driver: driver.version),
        nccl=look_at(evidence, machine, expect, (), "") if sets else None,
    )


def _differing(wish: Desired, probe: ContainerProbe) -> list[str]:
    """The keys in which what was recorded is not what the site says now; of a site that says
    nothing, none. Which engine was found matters as much as which one was asked for."""
    if wish == Desired():
        return []
    mine, reported = asdict(wish.kept()), asdict(probe.wish)
    found = probe.engine.name if probe.engine else reported["engine"]
    return [
        key
        for key, value in mine.items()
        if key != "pull" and value != reported[key] and not (key == "engine" and value == found)
    ]
