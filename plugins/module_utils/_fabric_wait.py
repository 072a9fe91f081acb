# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether HCAs and the fabric manager are back: what is still missing, in words."""

from __future__ import annotations

from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data.drivers import USABLE
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask
from ansible_collections.ibready.cluster.plugins.module_utils._observe.host_services import units
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvsmi_xml

INFINIBAND = "/sys/class/infiniband"
MANAGER = "nvidia-fabricmanager.service"
_AT_BOOT = ("enabled", "enabled-runtime")
# How nvidia-smi words that a GPU has yet to be taken into the NVLink fabric.
_NOT_YET = ("in progress", "not started")


def active_ports(evidence: Evidence) -> list[str]:
    """``mlx5_0/1`` of every port whose logical state is Active."""
    found = []
    for device in _ask.names(evidence, INFINIBAND).value or ():
        for port in _ask.names(evidence, f"{INFINIBAND}/{device}/ports").value or ():
            if _state(evidence, device, port) == "ACTIVE":
                found.append(f"{device}/{port}")
    return found


def _state(evidence: Evidence, device: str, port: str) -> str:
    """The word in ``4: ACTIVE``; "" where there is no such port."""
    text = _ask.text(evidence, f"{INFINIBAND}/{device}/ports/{port}/state").value or ""
    return text.partition(":")[2].strip() or text


def manager_wanted(evidence: Evidence) -> bool:
    """Whether the fabric manager runs, or is to start with the host."""
    told = units(evidence, [MANAGER]).value
    return any(one.active == "active" or one.enabled in _AT_BOOT for one in told or ())


def missing(evidence: Evidence, ports: Sequence[str], manager: bool) -> list[str]:
    """What is not yet as it was: a sentence each, [] when all is back."""
    late = []
    for one in ports:
        device, _slash, port = one.partition("/")
        state = _state(evidence, device, port)
        if state != "ACTIVE":
            late.append(f"{one} is {state.capitalize()}" if state else f"{one} is not there")
    if manager:
        late += _manager(evidence)
    return late


def _manager(evidence: Evidence) -> list[str]:
    told = units(evidence, [MANAGER])
    if told.value is None:
        return [f"the fabric manager cannot be asked for ({told.why})"]
    if not any(one.active == "active" for one in told.value):
        state = told.value[0].active if told.value else "not there"
        return [f"the fabric manager is {state}"]
    gpus = _ask.command(evidence, "nvsmi_xml", nvsmi_xml.parse, ok=USABLE)
    if gpus.value is None:
        return [f"the GPUs' fabric state cannot be asked for ({gpus.why})"]
    late = [
        one.bus_id
        for one in gpus.value.gpus
        if (one.fabric or {}).get("state", "").lower() in _NOT_YET
    ]
    return [f"{', '.join(late)} not yet in the NVLink fabric"] if late else []
