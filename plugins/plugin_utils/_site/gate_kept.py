# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what a site says of the health agent keeps its gate: refused here, before any node is told.

Settings that a node cannot use close the gates of all nodes at once, and under Slurm each job that
meets a closed gate drains its node.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...module_utils._agent.settings import SettingsError, from_dict

# What a look takes with some play: error counters are read twice (docs/health-agent.md, "What it costs").
_LOOK_S = 10.0
# Of an interval: the timer's delay is up to a quarter, and half may pass while a look of Slurm's stands
# for its own (timer_age).
_BETWEEN = 1.75
_ROADS = ("slurm_prolog", "npd", "nvhcd")


def refused(settings: Mapping[str, Any], wish: Mapping[str, Any]) -> str:
    """Why no gate would be kept with this, and the next step; "" where it would.

    ``settings``: what agent.json would hold. ``wish``: the role's variables that say who looks and
    who asks, without their prefix.
    """
    found = _nobody_looks(wish) or _settings(settings)
    return f"{found[0]}. Nothing was changed. Next: {found[1]}." if found else ""


def _nobody_looks(wish: Mapping[str, Any]) -> tuple[str, str] | None:
    timer, slurm = wish["timer"], wish["slurm"]
    roads = [f"health_agent_{road}" for road in _ROADS if wish[road]]
    if wish["slurm_prolog"] and not slurm:
        return (
            "health_agent_slurm_prolog goes with health_agent_slurm, which is false: no prolog would be written",
            "set health_agent_slurm to true, or health_agent_slurm_prolog to false",
        )
    if roads and not timer and not slurm:
        return (
            f"{' and '.join(roads)} go by the verdict that the timer or Slurm's health check keeps, and neither is"
            " wanted here: no job would ever start",
            "set health_agent_timer or health_agent_slurm to true",
        )
    if slurm and wish["slurm_interval"] < 1:
        return (
            f"with a HealthCheckInterval of {wish['slurm_interval']} Slurm makes no health check",
            "set health_agent_slurm_interval to seconds above 0, or health_agent_slurm to false",
        )
    states = [word.strip().upper() for word in str(wish["slurm_node_state"]).split(",")]
    if roads and not timer and "ANY" not in states:
        return (
            "Slurm's health check is all that keeps the verdict here, and with health_agent_slurm_node_state"
            f" {wish['slurm_node_state']} it passes over nodes in other states: their verdict grows old, and the next"
            " job is refused",
            "set health_agent_timer to true, or health_agent_slurm_node_state to ANY",
        )
    return None


def _settings(settings: Mapping[str, Any]) -> tuple[str, str] | None:
    try:
        known = from_dict(settings)
    except SettingsError as exc:
        return f"no node could use these settings: {exc}", "fix the variable of that name, health_agent_ before it"
    limit, need = known.gate_intervals * known.interval, _BETWEEN * known.interval + _LOOK_S
    if limit < need:
        return (
            f"looks {known.interval:g} s apart leave a verdict up to {need:g} s old, and the gate takes none that is"
            f" older than {limit:g} s: it would be closed now and then on good nodes",
            f"set health_agent_gate_intervals to {math.ceil(need / known.interval)} or more, or the interval higher",
        )
    return None
