# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL_IB_HCA: the exact list of a host's rails, and why every other port is left out; no I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Tuple

from .._data import nccl_reading
from .._expect.nccl_policy import HCA, NcclPolicy, is_item
from .._ground.link import INFINIBAND
from .derive_storage import SAY_SO, counted, hcas, listed, sift
from .derived import LeftOut, Setting, Untold, one_line, setting, untold
from .host import MEDIUM, SAID, NcclHost, NcclPort, Wanted
from .release import Release, shown

Ports = Tuple[NcclPort, ...]


@dataclass(frozen=True)
class Rails:
    """``ports``: the rails; () with ``why`` where they cannot be told. ``by``: whose word they
    rest on. ``missing``: what the site names and this host does not have."""

    ports: Ports = ()
    left_out: tuple[LeftOut, ...] = ()
    why: str = ""
    by: str = ""
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def rails(host: NcclHost, policy: NcclPolicy) -> Rails:
    """Which ports carry training traffic."""
    if host.ports.value is None:
        return Rails(why=host.ports.why or "nobody looked for RDMA ports")
    if not host.ports.value:
        return Rails()
    ports = tuple(sorted(host.ports.value, key=lambda port: (counted(port.device), port.num)))
    found = _named(ports, policy) if policy.rails else _told(ports, host.wanted, policy)
    down = [port for port in found.ports if not port.active]
    remarks = [f"{entry.name} is a rail and {entry.state or 'of no known state'}" for entry in down]
    return replace(found, remarks=(*found.remarks, *(one_line(remark) for remark in remarks)))


def line(found: Rails, nccl: Release | None) -> Setting | Untold:
    """The line of these rails, of which there is at least one."""
    ports = found.ports
    devices = dict.fromkeys(port.device for port in ports)
    names = [name for device in devices for name in _items(device, found)]
    most = nccl_reading.MOST_HCAS if (nccl or ()) >= nccl_reading.MORE_HCAS_SINCE else nccl_reading.MOST_HCAS_BEFORE
    if len(names) > most:
        whose = f"NCCL {shown(nccl)}" if nccl else "an NCCL of no known release"
        return untold(HCA, f"{len(names)} rails, and {whose} takes a list of {most} at most")
    odd = [port.device for port in ports if not is_item(port.device)]
    if odd:
        return untold(HCA, f"no list of NCCL's can hold the name {odd[0]!r}")
    return setting(HCA, "=" + ",".join(names), _reason(found))


def _items(device: str, found: Rails) -> list[str]:
    """The device; its ports one by one only where another of them is left out."""
    mine = [port for port in found.ports if port.device == device]
    others = [out for out in found.left_out if out.port.rpartition("/")[0] == device]
    if len(mine) >= mine[0].ports and not others:
        return [device]
    return [f"{device}:{entry.num}" for entry in mine]


def _reason(found: Rails) -> str:
    # Nothing that changes while the rails stay the same: no rates, no states.
    layers = " and ".join(sorted({port.layer for port in found.ports}))
    models = " and ".join(sorted({port.model for port in found.ports} - {""}))
    count = len({port.device for port in found.ports})
    kind = f", {models}" if models else ""
    text = f"{count} {layers} rail{'s' if count > 1 else ''}{kind} ({found.by})"
    whys: dict[str, list[str]] = {}
    for out in found.left_out:
        whys.setdefault(out.why, []).append(out.port)
    left = "; ".join(f"not {listed(names)}: {why}" for why, names in whys.items())
    return f"{text}; {left}" if left else text


def _named(ports: Ports, policy: NcclPolicy) -> Rails:
    chosen = tuple(port for port in ports if any(port.goes_by(name) for name in policy.rails))
    missing = tuple(name for name in policy.rails if not any(port.goes_by(name) for port in ports))
    left = tuple(LeftOut(port.name, "not among nccl_rails", SAID) for port in ports if port not in chosen)
    why = "" if chosen else f"nccl_rails names {', '.join(missing)}, which this host does not have"
    return Rails(chosen, left, why, "nccl_rails", missing)


def _told(ports: Ports, wanted: Wanted, policy: NcclPolicy) -> Rails:
    mine: list[NcclPort] = []
    left: list[LeftOut] = []
    for port in ports:
        if any(port.goes_by(name) for name in policy.storage):
            left.append(LeftOut(port.name, "storage (nccl_storage_hcas)", SAID))
        elif port.apart is not None:
            left.append(LeftOut(port.name, one_line(port.apart.why), port.apart.confidence))
        else:
            mine.append(port)
    absent = [entry for entry in policy.storage if not any(port.goes_by(entry) for port in ports)]
    remarks = tuple(one_line(f"nccl_storage_hcas names {entry}, which this host does not have") for entry in absent)
    known = Rails(left_out=tuple(left), remarks=remarks)
    if not mine:
        return replace(known, why=f"none of its RDMA ports is a rail: {_whys(left)}")
    unclear = [entry.name for entry in mine if entry.unclear]
    if unclear:
        why = "may lead to the NVLink switches: their product data (VPD) cannot be read"
        return replace(known, why=f"{listed(unclear)} {why}; {SAY_SO}")
    blank = [entry.name for entry in mine if not entry.layer]
    if blank:
        return replace(known, why=f"nothing tells the link layer of {listed(blank)}; {SAY_SO}")
    layer, why = _layer(mine)
    if not layer:
        return replace(known, why=why)
    left += [LeftOut(entry.name, why, MEDIUM) for entry in mine if entry.layer != layer]
    sifted = sift(hcas(entry for entry in mine if entry.layer == layer), wanted)
    for sign in sifted.left:
        left += [LeftOut(port.name, one_line(sign.why), sign.confidence) for hca in sign.against for port in hca.ports]
    known = replace(known, left_out=tuple(left))
    if sifted.doubt:
        return replace(known, why=sifted.doubt)
    chosen = tuple(port for hca in sifted.rails for port in hca.ports)
    by = sifted.by or ("all that are left" if left else "all alike")
    return replace(known, ports=chosen, by=by)


def _whys(left: list[LeftOut]) -> str:
    return "; ".join(f"{rest.port} ({rest.why})" for rest in left)


def _layer(ports: list[NcclPort]) -> tuple[str, str]:
    """The rails' link layer and why ports of another are none; "" and why that cannot be told.

    NCCL never joins an InfiniBand port with an Ethernet one.
    """
    found = {port: hcas(p for p in ports if p.layer == port) for port in {p.layer for p in ports}}
    if len(found) == 1:
        return next(iter(found)), ""
    placed = all(entry.placed for some in found.values() for entry in some)
    near = [item for item, some in found.items() if any(hca.by_switch for hca in some)]
    if placed and len(near) == 1:
        others = ", ".join(sorted(set(found) - set(near)))
        return near[0], f"{others} port: only {near[0]} ports share a PCIe switch with a GPU"
    fabric = found.get(INFINIBAND, ())
    rest = tuple(hca for item, some in found.items() if item != INFINIBAND for hca in some)
    if len(fabric) >= len(rest) and min((entry.able for entry in fabric), default=0.0) >= max(
        entry.able for entry in rest
    ):
        return INFINIBAND, "Ethernet port beside as many InfiniBand ports that are as fast"
    names = listed(port.name for port in ports)
    return "", f"{names} are of several link layers (ibready_expect.link_layer tells one); {SAY_SO}"
