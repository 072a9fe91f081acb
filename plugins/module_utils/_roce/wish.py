# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site wishes of RoCE on a host, and what each port can take of it; no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_drivers
from ansible_collections.ibready.cluster.plugins.module_utils._data import roce as data
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import (
    ROCE_V1,
    ROCE_V2,
    UNSET,
    RocePort,
)
from ansible_collections.ibready.cluster.plugins.module_utils._roce.program import (
    CM_TOS,
    ECN,
    MODE,
    PFC,
    TRAFFIC_CLASS,
    TRUST,
    RoceError,
    Wanted,
)

KEEP = "keep"
MODES = {"v2": ROCE_V2, "v1": ROCE_V1}
MTU = "mtu"
_PRIORITIES = 8
# Whose interfaces mlnx_qos sets.
_MLNX_QOS = ("mlx5_core", "mlx4_core")


@dataclass(frozen=True)
class Wish:
    """One value each for all ports; None, "" and KEEP leave a thing as it is."""

    devices: tuple[str, ...] = ()
    mode: str = KEEP
    tos: int | None = None
    trust: str = ""
    pfc: tuple[int, ...] | None = None
    ecn: bool | None = None
    mtu: int | None = None

    @property
    def anything(self) -> bool:
        """Whether there is anything to do."""
        values = (self.tos, self.pfc, self.ecn, self.mtu)
        return self.mode != KEEP or bool(self.trust) or any(one is not None for one in values)


@dataclass
class Plan:
    """What the ports are to have. ``mtus``: by interface. ``left``: what is not set, with the
    reason; ``refused``: the part of it that the site has to know of."""

    wanted: list[Wanted] = field(default_factory=list)
    mtus: dict[str, int] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def read(given: Mapping[str, Any]) -> Wish:
    """The wish of the module's options; RoceError where it cannot be meant."""
    pfc = given["pfc"]
    wish = Wish(
        devices=tuple(given["devices"]),
        mode=given["mode"],
        tos=given["tos"],
        trust=given["trust"] or "",
        pfc=None if pfc is None else tuple(sorted(set(pfc))),
        ecn=given["ecn"],
        mtu=given["mtu"],
    )
    if wish.tos is not None and not 0 <= wish.tos <= 255:
        raise RoceError(f"roce_tos {wish.tos} is not between 0 and 255. Next: correct it")
    wrong = [one for one in wish.pfc or () if not 0 <= one < _PRIORITIES]
    if wrong:
        raise RoceError(f"roce_pfc {wrong[0]} is no priority (0 to 7). Next: correct it")
    if wish.mtu is not None and not 1280 <= wish.mtu <= 65535:
        raise RoceError(f"roce_mtu {wish.mtu} is not between 1280 and 65535. Next: correct it")
    if wish.ecn is not None and not ecn_priorities(wish):
        raise RoceError(
            "roce_ecn: nobody says in which priority RoCE runs. Next: say roce_pfc, or roce_tos"
            " with roce_trust dscp"
        )
    return wish


def ecn_priorities(wish: Wish) -> tuple[int, ...]:
    """The priorities that RoCE runs in: those with flow control, else the one of its DSCP."""
    if wish.pfc:
        return wish.pfc
    if wish.tos is not None and wish.trust == "dscp":
        # Of the hardware's default map: eight DSCPs in a row lead into one priority.
        return (wish.tos >> data.DSCP_SHIFT >> 3,)
    return ()


def choose(ports: Sequence[RocePort], wish: Wish) -> list[RocePort]:
    """The ports that it is for: of HCAs and of soft RoCE, or those of the named devices."""
    if not wish.devices:
        kinds = (rdma_drivers.ROCE, rdma_drivers.SOFTWARE)
        found = [one for one in ports if one.protocol in kinds and not one.virtual]
        if not found:
            shown = ", ".join(one.name for one in ports) or "none"
            raise RoceError(
                f"this host has no RoCE port (Ethernet ports with RDMA: {shown}). Next: see that"
                " the driver is loaded (role rdma), or say rdma_soft_roce; where it needs none, say"
                " roce_manage: false"
            )
        return found
    known = {one.device for one in ports}
    lost = [one for one in wish.devices if one not in known]
    if lost:
        raise RoceError(
            f"this host has no RoCE device {lost[0]}: it has {', '.join(sorted(known)) or 'none'}."
            " Next: correct roce_devices"
        )
    return [one for one in ports if one.device in wish.devices]


def plan(ports: Sequence[RocePort], wish: Wish, tool: str) -> Plan:
    """What each port is to have. ``tool``: why mlnx_qos cannot be run, "" where it can."""
    found = Plan()
    for port in ports:
        for one in _of_cm(port, wish, found):
            found.wanted.append(one)
        for one in _of_interface(port, wish, found, tool):
            # Two ports of a bond may share it.
            if one not in found.wanted:
                found.wanted.append(one)
            if port.netdev.value not in (None, port.uplink):
                found.left[f"{one.knob} of all of {port.netdev.value} but {port.uplink}"] = (
                    f"{port.name} shows no other interface; each keeps its own, and the switch sees"
                    " them all: set it there as well (`mlnx_qos`)"
                )
        if wish.mtu is not None:
            if port.netdev.value is None:
                found.refused[f"{MTU} of {port.name}"] = port.netdev.why
            else:
                found.mtus[port.netdev.value] = wish.mtu
    found.left.update(found.refused)
    return found


def _of_cm(port: RocePort, wish: Wish, found: Plan) -> Iterator[Wanted]:
    if wish.mode != KEEP:
        why = _no_mode(port, MODES[wish.mode])
        if why:
            found.refused[f"{MODE} {wish.mode} of {port.name}"] = why
        else:
            yield Wanted(MODE, port.name, MODES[wish.mode])
    if wish.tos is None:
        return
    yield Wanted(CM_TOS, port.name, str(wish.tos))
    if port.traffic_class.value is not None:
        yield Wanted(TRAFFIC_CLASS, port.name, str(wish.tos))
    elif port.traffic_class.missing:
        why = "the driver has no mark of its own: programs that use RDMA CM are marked, no others"
        found.left[f"{TRAFFIC_CLASS} of {port.name}"] = why
    else:
        found.refused[f"{TRAFFIC_CLASS} of {port.name}"] = port.traffic_class.why


def _no_mode(port: RocePort, wanted: str) -> str:
    if port.protocol == rdma_drivers.SOFTWARE:
        return "" if wanted == ROCE_V2 else "soft RoCE speaks RoCE v2 only"
    kinds = sorted({one.type for one in port.gids.value or ()})
    return "" if not kinds or wanted in kinds else f"its GID table has {' and '.join(kinds)} only"


def _of_interface(port: RocePort, wish: Wish, found: Plan, tool: str) -> Iterator[Wanted]:
    asked = {
        TRUST: wish.trust,
        PFC: None if wish.pfc is None else _flags(wish.pfc),
    }
    for knob, value in asked.items():
        if not value:
            continue
        why = _no_priorities(port, tool, knob)
        if why:
            found.refused[f"{knob} of {port.name}"] = why
        else:
            yield Wanted(knob, port.uplink, value)
    if wish.ecn is None:
        return
    why = _no_ecn(port)
    if why:
        found.refused[f"{ECN} of {port.name}"] = why
        return
    for priority in ecn_priorities(wish):
        yield Wanted(ECN, f"{port.uplink}/{priority}", "1" if wish.ecn else "0")


def _no_priorities(port: RocePort, tool: str, knob: str) -> str:
    if port.protocol == rdma_drivers.SOFTWARE:
        return "soft RoCE has no flow control" if knob == PFC else "soft RoCE has no priorities"
    if port.driver not in _MLNX_QOS:
        return f"driver {port.driver or 'unknown'}: mlnx_qos sets interfaces of NVIDIA's HCAs only"
    if tool:
        return f"{tool} (mlnx_qos is in mlnx-tools of NVIDIA's stack)"
    return "" if port.uplink else port.netdev.why or "it has no network interface"


def _no_ecn(port: RocePort) -> str:
    if port.protocol == rdma_drivers.SOFTWARE:
        return "soft RoCE has no congestion control"
    if port.qos.ecn.value is None:
        missing = "the driver has no switches for ECN: its firmware's default holds"
        return missing if port.qos.ecn.missing else port.qos.ecn.why
    return ""


def _flags(priorities: Sequence[int]) -> str:
    """As mlnx_qos takes them: 0,0,0,1,0,0,0,0."""
    return ",".join("1" if one in priorities else "0" for one in range(_PRIORITIES))


def shown(port: RocePort) -> dict[str, Any]:
    """What a port has, for the module's answer; null where that cannot be told or is not set."""
    tos = port.traffic_class.value
    return {
        "netdev": port.netdev.value,
        "software": port.protocol == rdma_drivers.SOFTWARE,
        "mode": port.cm_mode.value,
        "cm_tos": port.cm_tos.value,
        "traffic_class": None if tos == UNSET else tos,
        "trust": port.qos.trust.value,
        "pfc": None if port.qos.pfc.value is None else list(port.qos.pfc.value),
        "mtu": port.mtu.value,
    }
