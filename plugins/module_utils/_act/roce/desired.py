# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site wishes of RoCE on a host, and what each port can take of it; no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from ..._data import rdma_drivers, roce as data
from ..._ground.host_program import HostError
from ..._rails.roce_ports import ROCE_V1, ROCE_V2, UNSET, RocePort
from .program import CM_TOS, ECN, MODE, PFC, TRAFFIC_CLASS, TRUST, Wanted

KEEP = "keep"
MODES = {"v2": ROCE_V2, "v1": ROCE_V1}
MTU = "mtu"
_PRIORITIES = 8
# Whose interfaces mlnx_qos sets.
_MLNX_QOS = ("mlx5_core", "mlx4_core")


@dataclass(frozen=True)
class Desired:
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
        return self.mode != KEEP or bool(self.trust) or any(value is not None for value in values)


@dataclass
class Plan:
    """What the ports are to have. ``mtus``: by interface. ``left``: what is not set, with the
    reason; ``refused``: the part of it that the site has to know of. ``later``: there is no port yet."""

    wanted: list[Wanted] = field(default_factory=list)
    mtus: dict[str, int] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    later: bool = False


def read(given: Mapping[str, Any]) -> Desired:
    """The wish of the module's options; HostError where it cannot be meant."""
    pfc = given["pfc"]
    desired = Desired(
        devices=tuple(given["devices"]),
        mode=given["mode"],
        tos=given["tos"],
        trust=given["trust"] or "",
        pfc=None if pfc is None else tuple(sorted(set(pfc))),
        ecn=given["ecn"],
        mtu=given["mtu"],
    )
    if desired.tos is not None and not 0 <= desired.tos <= 255:
        raise HostError(f"roce_tos {desired.tos} is not between 0 and 255. Next: correct it")
    wrong = [entry for entry in desired.pfc or () if not 0 <= entry < _PRIORITIES]
    if wrong:
        raise HostError(f"roce_pfc {wrong[0]} is no priority (0 to 7). Next: correct it")
    if desired.mtu is not None and not 1280 <= desired.mtu <= 65535:
        raise HostError(f"roce_mtu {desired.mtu} is not between 1280 and 65535. Next: correct it")
    if desired.ecn is not None and not ecn_priorities(desired):
        raise HostError(
            "roce_ecn: nobody says in which priority RoCE runs. Next: say roce_pfc, or roce_tos with roce_trust dscp"
        )
    return desired


def ecn_priorities(wish: Desired) -> tuple[int, ...]:
    """The priorities that RoCE runs in: those with flow control, else the one of its DSCP."""
    if wish.pfc:
        return wish.pfc
    if wish.tos is not None and wish.trust == "dscp":
        # Of the hardware's default map: eight DSCPs in a row lead into one priority.
        return (wish.tos >> data.DSCP_SHIFT >> 3,)
    return ()


def choose(ports: Sequence[RocePort], wish: Desired) -> list[RocePort]:
    """The ports that it is for: of HCAs and of soft RoCE, or those of the named devices."""
    if not wish.devices:
        kinds = (rdma_drivers.ROCE, rdma_drivers.SOFTWARE)
        found = [port for port in ports if port.protocol in kinds and not port.virtual]
        if not found:
            shown = ", ".join(port.name for port in ports) or "none"
            raise HostError(
                f"this host has no RoCE port (Ethernet ports with RDMA: {shown}). Next: see that"
                " the driver is loaded (role rdma), or say rdma_soft_roce; where it needs none, say"
                " roce_manage: false"
            )
        return found
    known = {port.device for port in ports}
    lost = [device for device in wish.devices if device not in known]
    if lost:
        raise HostError(
            f"this host has no RoCE device {lost[0]}: it has {', '.join(sorted(known)) or 'none'}."
            " Next: correct roce_devices"
        )
    return [port for port in ports if port.device in wish.devices]


def plan(ports: Sequence[RocePort], wish: Desired, tool: str) -> Plan:
    """What each port is to have. ``tool``: why mlnx_qos cannot be run, "" where it can."""
    found = Plan()
    for port in ports:
        for entry in _of_cm(port, wish, found):
            found.wanted.append(entry)
        for item in _of_interface(port, wish, found, tool):
            # Two ports of a bond may share it.
            if item not in found.wanted:
                found.wanted.append(item)
            if port.netdev.value not in (None, port.uplink):
                found.left[f"{item.knob} of all of {port.netdev.value} but {port.uplink}"] = (
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


def _of_cm(port: RocePort, wish: Desired, found: Plan) -> Iterator[Wanted]:
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
    kinds = sorted({gid.type for gid in port.gids.value or ()})
    return "" if not kinds or wanted in kinds else f"its GID table has {' and '.join(kinds)} only"


def _of_interface(port: RocePort, wish: Desired, found: Plan, tool: str) -> Iterator[Wanted]:
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
    return ",".join("1" if number in priorities else "0" for number in range(_PRIORITIES))


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
