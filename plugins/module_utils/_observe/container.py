# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of containers; starts some, where the site asks for it."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)
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
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import Wish

PROBE = "container_probe"
DEVICES = "/dev/infiniband"
_FIRST = "/proc/1/limits"


def observe(evidence: Evidence, machine: Machine, expect: Expectations) -> ContainerFacts:
    """Nothing where neither the site asks for it nor a bundle holds it."""
    wish = _wish(evidence, expect)
    if wish is None:
        return ContainerFacts()
    probe = _ask.command(evidence, PROBE, container_probe.parse, wish.to_text())
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


def _wish(evidence: Evidence, expect: Expectations) -> Wish | None:
    """What the site says; of a bundle that holds a probe, nothing has to be said."""
    wanted = expect.get("container")
    if wanted is not None:
        wish: Wish = wanted.value
        return wish
    if not evidence.recorded:
        return None
    try:
        evidence.run(PROBE, Wish().to_text())
    except Unavailable as exc:
        return None if "not in the bundle" in exc.reason else Wish()
    return Wish()
