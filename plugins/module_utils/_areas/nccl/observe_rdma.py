# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA devices that recorded texts show of the hosts that a job ran on."""

from __future__ import annotations

from typing import Iterator

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._parse import ibstat, lspci
from ..._parse.ibstat import Ca
from ..._parse.lspci import Device, Lspci
from ..ib import observe_reported
from ..machine.facts import RDMA_VENDORS
from .facts import Rdma

_ACTIVE = "Active"


def of_job(evidence: Evidence) -> tuple[Rdma, ...]:
    """By the texts beside the log, and by those of the hosts that it names; of a live host its bus tells."""
    if not evidence.recorded:
        return ()
    return tuple(found for each in (evidence, *getattr(evidence, "beside", ())) for found in _seen(each))


def _seen(evidence: Evidence) -> Iterator[Rdma]:
    host = getattr(evidence, "host", "")
    said = ask.command(evidence, "ibstat", ibstat.parse, ok=None)
    every: dict[str, tuple[Ca, ...]] = {"ibstat": said.value.cas if said.value else ()}
    for tool, cas in {**every, **observe_reported.ask(evidence).cas}.items():
        if cas:
            active = sum(port.state == _ACTIVE for ca in cas for port in ca.ports)
            yield Rdma(tool, tuple(ca.name for ca in cas), active, host)
    bus = ask.command(evidence, "lspci", lspci.parse, ok=None).value
    if bus is not None:
        hcas = tuple(device.bus_id for device in bus.devices if device.kind == lspci.HCA)
        if hcas or _has_none(bus):
            yield Rdma("lspci", hcas, host=host)


def _has_none(bus: Lspci) -> bool:
    """Whether the whole bus is shown, and each network controller is of a vendor that makes no RDMA devices."""
    whole = not (bus.cut or bus.unread) and any("bridge" in device.class_name for device in bus.devices)
    return whole and all(
        device.vendor_id and device.vendor_id not in RDMA_VENDORS for device in bus.devices if _is_network(device)
    )


def _is_network(device: Device) -> bool:
    return device.class_id.startswith("02") or device.class_name in ("Ethernet controller", "Network controller")
