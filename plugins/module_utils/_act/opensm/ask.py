# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the ports that subnet managers run on, and ask who answers there."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Mapping, Sequence

from ..._areas.ib import observe as observe_ib
from ..._areas.machine import observe as machine
from ..._evidence.sources import Evidence
from ..._parse.ibstat import Ca, Port
from ..._rails.ib_ports import LAST_UNICAST_LID, IbFacts, SmAnswer, is_infiniband, port_name
from . import partitions
from .fabrics import AUTO, OpensmError

MASTER, STANDBY = "SMINFO_MASTER", "SMINFO_STANDBY"
LINK_UP = "LinkUp"
_OWN_UNIT = "ibready-opensm@"


@dataclass(frozen=True)
class Seen:
    """One fabric from one host's port. ``guid``: of the port. ``master`` and ``own``: GUID and
    state of the subnet manager that the port goes by, and of the one on the port itself; "" where
    none answered. ``unasked``: why nobody could be asked."""

    port: str
    guid: str
    lid: int
    state: str
    physical: str
    master: str = ""
    priority: int = 0
    own: str = ""
    unasked: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def facts(evidence: Evidence) -> IbFacts:
    """The host's HCAs, without what leads to NVLink switches."""
    return observe_ib.observe(evidence, machine.observe(evidence)).on_fabric()


def look(evidence: Evidence, wanted: Mapping[str, str]) -> dict[str, Seen]:
    """By fabric, what its port shows. ``wanted``: "mlx5_0/1" or auto by fabric; OpensmError."""
    ib = facts(evidence)
    return {name: _seen(evidence, *choose(ib, port, name)) for name, port in wanted.items()}


def choose(ib: IbFacts, wanted: str, fabric: str) -> tuple[Ca, Port]:
    """The port that is meant; auto is the first InfiniBand port with a link."""
    ports = [(ca, port) for ca in ib.cas for port in ca.ports if is_infiniband(port) and not ib.device(ca.name).virtual]
    if not ports:
        raise OpensmError(
            f"fabric {fabric}: this host shows no InfiniBand port"
            f" ({ib.ibstat_unknown or '; '.join(ib.error_lines) or 'ibstat names none'}). Next: run"
            " role rdma first, or take the host out of subnet_manager_hosts"
        )
    named = [port for port in ports if wanted in (AUTO, port_name(*port))]
    up = [entry for entry in named if entry[1].physical_state == LINK_UP]
    if not named:
        raise OpensmError(
            f"fabric {fabric}: this host has no InfiniBand port {wanted}, but"
            f" {', '.join(port_name(*port) for port in ports)}. Next: correct subnet_manager_fabrics"
        )
    if not up:
        reported = ", ".join(f"{port_name(*entry)} is {entry[1].physical_state}" for entry in named)
        raise OpensmError(
            f"fabric {fabric}: {reported}: no subnet manager can be run on a port without a link. Next:"
            " see to the cable, or name another port"
        )
    return up[0]


def _seen(evidence: Evidence, ca: Ca, port: Port) -> Seen:
    name = port_name(ca, port)
    try:
        guid = partitions.guid(port.port_guid)
    except ValueError as exc:
        raise OpensmError(f"{name} shows no port GUID. Next: see `ibstat {ca.name}`") from exc
    lid = port.lid or 0
    answer = observe_ib.ask_sm(evidence, ca.name, port.num)
    return Seen(
        name,
        guid,
        lid,
        port.state,
        port.physical_state,
        master=_guid(answer),
        priority=answer.sm.priority if answer.sm else 0,
        own=at(evidence, name, lid),
        unasked=answer.unavailable,
    )


def by_guid(evidence: Evidence, guid: str) -> Seen | None:
    """What the port of this GUID shows; None where the host has none like it."""
    for ca in facts(evidence).cas:
        for port in ca.ports:
            if guid and port.port_guid and partitions.guid(port.port_guid) == guid:
                return _seen(evidence, ca, port)
    return None


def _guid(answer: SmAnswer) -> str:
    """The GUID of the one that answered as master."""
    if answer.sm is None or answer.sm.state_name not in ("", MASTER):
        return ""
    try:
        return partitions.guid(answer.sm.guid)
    except ValueError:
        return answer.sm.guid


def at(evidence: Evidence, port: str, lid: int) -> str:
    """The state of the subnet manager at a LID, asked through this host's port; "" for none."""
    if not 0 < lid <= LAST_UNICAST_LID:
        return ""
    device, _slash, number = port.rpartition("/")
    answer = observe_ib.ask_sm(evidence, device, int(number), str(lid))
    return answer.sm.state_name if answer.sm else ""


def others(proc: str = "/proc") -> list[str]:
    """opensm processes that are not of our units: "opensm@0x1.service (process 12)"."""
    found = []
    for pid in sorted((name for name in os.listdir(proc) if name.isdigit()), key=int):
        try:
            with open(f"{proc}/{pid}/comm", encoding="utf-8", errors="replace") as stream:
                comm = stream.read().strip()
            with open(f"{proc}/{pid}/cgroup", encoding="utf-8", errors="replace") as stream:
                cgroup = stream.read()
        except OSError:  # it has ended
            continue
        if comm == "opensm" and _OWN_UNIT not in cgroup:
            unit = cgroup.strip().rpartition("/")[2]
            found.append(f"{unit or comm} (process {pid})")
    return found


def told(seen: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The hosts' answers that can be read: a host whose cannot is one that did not tell."""
    found = []
    for entry in seen:
        try:
            managers([entry])
            lids = [int(each["lid"]) for each in entry["fabrics"].values()]
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
        if isinstance(entry.get("host"), str) and all(lid >= 0 for lid in lids):
            found.append(entry)
    return found


def managers(seen: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """By fabric, the ports' GUIDs of all hosts that were looked at."""
    found: dict[str, list[str]] = {}
    for looked in seen:
        for name, fabric in looked["fabrics"].items():
            found.setdefault(name, []).append(partitions.guid(fabric["guid"]))
    return found


def refuse(name: str, here: Seen, ours: Sequence[str], unseen: Sequence[str], beside: bool) -> None:
    """OpensmError where somebody else's subnet manager is the master, or nobody could look.

    At a handover it would take its own partitions, routes and keys for the fabric's.
    """
    if beside:
        return
    if here.unasked:
        raise OpensmError(
            f"fabric {name}: it cannot be told whether a subnet manager is there already"
            f" ({here.unasked}). Next: have sminfo run on {here.port}, or set subnet_manager_beside"
        )
    if here.master and here.master not in (*ours, here.guid):
        perhaps = f" It may be that of {', '.join(unseen)}, which did not tell." if unseen else ""
        raise OpensmError(
            f"fabric {name}: {here.master} is its master (priority {here.priority}) and no port of"
            f" subnet_manager_hosts.{perhaps} Partitions and routes that only one of the two knows"
            " are lost when the other takes over. Next: switch that one off (managed switch, UFM),"
            " or give it the same settings and set subnet_manager_beside"
        )
