# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of containers; starts some, where the site asks for it."""

from __future__ import annotations

from dataclasses import asdict

from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.container import (
    ContainerFacts,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.build import look_at
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask, net
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    container_probe,
    proc_limits,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import (
    ContainerProbe,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish

PROBE = "container_probe"
DEVICES = "/dev/infiniband"
_FIRST = "/proc/1/limits"
_OTHER = "recorded of another container than ibready_expect.container asks for"


def observe(evidence: Evidence, machine: Machine, expect: Expectations) -> ContainerFacts:
    """Nothing where neither the site asks for it nor a bundle holds it."""
    said = expect.get("container")
    if said is None and not evidence.recorded:
        return ContainerFacts()
    wish: Wish = said.value if said is not None else Wish()
    probe = _ask.command(evidence, PROBE, container_probe.parse, wish.to_text())
    if said is None and "not in the bundle" in probe.why:
        return ContainerFacts()
    recorded = probe.value if evidence.recorded else None
    if recorded is not None:
        differs = _differing(wish, recorded)
        if differs:
            probe = Reading(None, f"{_OTHER} ({', '.join(differs)}): collect again")
        else:
            wish = recorded.wish
    runs = probe.value.runs if probe.value is not None else ()
    sets = any(
        name.startswith("NCCL_") for one in runs if one.inside for name in one.inside.environment
    )
    return ContainerFacts(
        wish=wish,
        probe=probe,
        devices=_ask.names(evidence, DEVICES).map(tuple),
        conf=_ask.text(evidence, SYSTEM_FILE),
        interfaces=net.observe(evidence).interfaces,
        limits=_ask.file(evidence, _FIRST, proc_limits.parse) if machine.simulated else Reading(),
        nccl=look_at(evidence, machine, expect, (), "") if sets else None,
    )


def _differing(wish: Wish, probe: ContainerProbe) -> list[str]:
    """The keys in which what was recorded is not what the site says now; of a site that says
    nothing, none. Which engine was found matters as much as which one was asked for."""
    if wish == Wish():
        return []
    mine, told = asdict(wish.kept()), asdict(probe.wish)
    found = probe.engine.name if probe.engine else told["engine"]
    return [
        key
        for key, value in mine.items()
        if key != "pull" and value != told[key] and not (key == "engine" and value == found)
    ]
