# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what is left of earlier: link-downs in the kernel's log, of interfaces, and what the agent remembers."""

from __future__ import annotations

from typing import Any, Mapping

from ..._data.ib_counters import LINK_DOWNED
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground import strict
from ..._ground.reading import Reading
from ..._ground.text import to_int
from ..._parse import link_events
from ..._parse.ibstat import Ca, Port
from ..._rails import link_history
from ..._rails.ib_ports import Device, History, Rise, port_name
from ..._rails.link_history import Downs
from ..machine.facts import Machine

# What the health agent writes (_agent/memory.py).
MEMORY = "/var/lib/ibready/agent/ports.json"
_BOOT = "/proc/sys/kernel/random/boot_id"
_NET = "/sys/class/net"
# Since Linux 4.16; before that ups and downs are counted together.
_DOWNS, _CHANGES = "carrier_down_count", "carrier_changes"


def read(
    evidence: Evidence,
    machine: Machine,
    ports: list[tuple[Ca, Port]],
    devices: Mapping[str, Device],
    counters: Mapping[str, Reading[dict[str, int]]],
    netdevs: Mapping[str, str],
    up_s: float,
) -> dict[str, History]:
    """By "device/port", of these ports; ``netdevs``: what `rdma link` says of their interfaces.

    A log of another machine's kernel tells nothing of this one.
    """
    if machine.surely_simulated or not ports:
        return {}
    log: Reading[tuple[link_events.LinkEvent, ...]] = Reading(None, "inside a container", True)
    if not machine.holds_part:
        log = ask.command(evidence, "dmesg", link_events.parse)
    memory = ask.file(evidence, MEMORY, strict.loads)
    boot = ask.text(evidence, _BOOT).value or "" if memory.known else ""
    found = {}
    for ca, port in ports:
        name = port_name(ca, port)
        netdev = _netdev(evidence, ca, port, netdevs)
        values = counters.get(name, Reading()).value or {}
        downs = [link_history.of_counter(LINK_DOWNED, values[LINK_DOWNED], up_s)] if LINK_DOWNED in values else []
        carrier = _carrier(evidence, netdev) if netdev else None
        if carrier is not None:
            downs.append(link_history.of_counter(f"{netdev} {_DOWNS}", carrier, up_s))
        mine = [event for event in log.value or () if _is_of(event, ca, port, devices[ca.name], netdev)]
        logged = link_history.of_log(mine, up_s)
        if logged is not None:
            downs.append(logged)
        found[name] = _remembered(memory, name, boot, values, up_s, tuple(downs))
    return found


def _remembered(
    memory: Reading[Any], name: str, boot: str, values: dict[str, int], up_s: float, downs: tuple[Downs, ...]
) -> History:
    """These, with what the agent's memory tells of the port."""
    if memory.value is None:
        return History(downs, {}, "" if memory.missing else memory.why)
    try:
        samples = link_history.samples_of(memory.value, name)
    except ValueError as exc:
        return History(downs, {}, f"{MEMORY}: {exc}")
    counted = link_history.of_memory(samples, boot, up_s, values)
    rises = {counter: link_history.rise(samples, boot, up_s, values, counter) for counter in values}
    shown = {counter: Rise(count, seconds) for counter, (count, seconds) in rises.items() if count}
    return History(downs if counted is None else (*downs, counted), shown)


def _is_of(event: link_events.LinkEvent, ca: Ca, port: Port, device: Device, netdev: str) -> bool:
    """Whether a line is about this port: by its device's name, its interface, or its PCI function."""
    if event.device:
        return event.device == ca.name and event.port in (0, port.num)
    if event.netdev and netdev:
        return event.netdev == netdev
    return len(ca.ports) == 1 and bool(event.address) and event.address == device.address


def _netdev(evidence: Evidence, ca: Ca, port: Port, netdevs: Mapping[str, str]) -> str:
    """The interface of the port itself, "" where it has none or nobody can tell which."""
    listed = ask.names(evidence, f"/sys/class/infiniband/{ca.name}/device/net").value or []
    mine = [name for name in listed if ask.text(evidence, f"{_NET}/{name}/dev_port").value == str(port.num - 1)]
    if mine:
        return mine[0]
    return netdevs.get(port_name(ca, port), "")


def _carrier(evidence: Evidence, netdev: str) -> int | None:
    """How often an interface that has its carrier lost it; None where that cannot be told."""
    if ask.text(evidence, f"{_NET}/{netdev}/carrier").value != "1":
        return None
    downs = ask.file(evidence, f"{_NET}/{netdev}/{_DOWNS}", to_int).value
    if downs is not None:
        return downs
    changes = ask.file(evidence, f"{_NET}/{netdev}/{_CHANGES}", to_int).value
    return None if changes is None else changes // 2
