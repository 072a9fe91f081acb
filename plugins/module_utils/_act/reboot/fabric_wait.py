# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether HCAs and the fabric manager are back: what is still missing, in words."""

from __future__ import annotations

from typing import Sequence

from ..._areas.host.observe_services import units
from ..._data.drivers import USABLE
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._parse import nvsmi_xml

INFINIBAND = "/sys/class/infiniband"
MANAGER = "nvidia-fabricmanager.service"
_AT_BOOT = ("enabled", "enabled-runtime")
# How nvidia-smi words that a GPU has yet to be taken into the NVLink fabric.
_NOT_YET = ("in progress", "not started")


def active_ports(evidence: Evidence) -> list[str]:
    """``mlx5_0/1`` of every port whose logical state is Active."""
    found = []
    for device in ask.names(evidence, INFINIBAND).value or ():
        for port in ask.names(evidence, f"{INFINIBAND}/{device}/ports").value or ():
            if _state(evidence, device, port) == "ACTIVE":
                found.append(f"{device}/{port}")
    return found


def _state(evidence: Evidence, device: str, port: str) -> str:
    """The word in ``4: ACTIVE``; "" where there is no such port."""
    text = ask.text(evidence, f"{INFINIBAND}/{device}/ports/{port}/state").value or ""
    return text.partition(":")[2].strip() or text


def manager_wanted(evidence: Evidence) -> bool:
    """Whether the fabric manager runs, or is to start with the host."""
    reported = units(evidence, [MANAGER]).value
    return any(unit.active == "active" or unit.enabled in _AT_BOOT for unit in reported or ())


def missing(evidence: Evidence, ports: Sequence[str], manager: bool) -> list[str]:
    """What is not yet as it was: a sentence each, [] when all is back."""
    late = []
    for entry in ports:
        device, _slash, port = entry.partition("/")
        state = _state(evidence, device, port)
        if state != "ACTIVE":
            late.append(f"{entry} is {state.capitalize()}" if state else f"{entry} is not there")
    if manager:
        late += _manager(evidence)
    return late


def _manager(evidence: Evidence) -> list[str]:
    reported = units(evidence, [MANAGER])
    if reported.value is None:
        return [f"the fabric manager cannot be asked for ({reported.why})"]
    if not any(unit.active == "active" for unit in reported.value):
        state = reported.value[0].active if reported.value else "not there"
        return [f"the fabric manager is {state}"]
    gpus = ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=USABLE)
    if gpus.value is None:
        return [f"the GPUs' fabric state cannot be asked for ({gpus.why})"]
    late = [gpu.bus_id for gpu in gpus.value.gpus if (gpu.fabric or {}).get("state", "").lower() in _NOT_YET]
    return [f"{', '.join(late)} not yet in the NVLink fabric"] if late else []
