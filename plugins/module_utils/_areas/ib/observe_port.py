# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what is known of one port beside its state: partitions, MTU, counters, optics."""

from __future__ import annotations

from typing import Callable

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.bound import Bound
from ..._ground.reading import Reading
from ..._ground.text import to_int
from ..._parse import mlxlink
from ..._parse.ibstat import Ca, Port
from ..._parse.mlxlink import Mlxlink
from ..._rails import nccl_number
from ..._rails.hcas import hca_by_type
from ..._rails.ib_ports import Details, Device, Mtu, has_no_link, is_infiniband, port_name
from . import sysfs
from .observe_counters import Counted
from .observe_reported import Reported

# A partition table has at most this many entries that are of use to anybody.
_MOST_PKEYS: Bound = 256
NOT_ASKED = "mlxlink is for physical ports of NVIDIA's HCAs only"


def details(
    evidence: Evidence,
    ca: Ca,
    port: Port,
    device: Device,
    told: Reported,
    counted: Counted | None,
    simulated: bool,
) -> Details:
    """Everything that is read of this port; partitions and counters only while it is Active, and while it has no link
    what its firmware says of that."""
    name = port_name(ca, port)
    link = sysfs.link_of(evidence, ca.name, port.num) or told.links.get(name, "")
    wired = not (device.kind or device.virtual or device.manages_switches or simulated)
    if port.state != "Active":
        asked = wired and has_no_link(port)
        return Details(link=link, optics=told_of_link(evidence, ca, port, mlxlink.parse) if asked else Reading())
    table = _pkeys(evidence, ca, port) if is_infiniband(port) else Reading()
    return Details(
        link=link,
        prefix=sysfs.prefix_of(evidence, ca.name, port.num) if is_infiniband(port) else "",
        pkeys=table.map(lambda keys: tuple(key for key in keys.values() if key)),
        nccl_pkey=_of_nccl(evidence, table) if is_infiniband(port) else Reading(),
        mtu=_mtu(told, ca, port) if is_infiniband(port) else Reading(),
        counters=counted.first if counted else Reading(),
        later=counted.later if counted else Reading(),
        optics=told_of_link(evidence, ca, port, _whole) if wired else Reading(None, NOT_ASKED, True),
    )


def _of_nccl(evidence: Evidence, table: Reading[dict[int, int]]) -> Reading[tuple[int, int]]:
    """The index that NCCL goes by (0 unless NCCL_IB_PKEY is set), and the key there; 0 for none."""
    index = nccl_number.read(evidence, "NCCL_IB_PKEY", 0)
    if index.value is None or table.value is None:
        return Reading(None, index.why or table.why)
    return Reading((index.value, table.value.get(index.value, 0)))


def _pkeys(evidence: Evidence, ca: Ca, port: Port) -> Reading[dict[int, int]]:
    """The partition keys by their index; an entry of nobody's is 0."""
    base = f"/sys/class/infiniband/{ca.name}/ports/{port.num}/pkeys"
    listed = sysfs.names(evidence, base)
    if listed.value is None:
        return Reading(None, listed.why)
    found: dict[int, int] = {}
    indexes = sorted(int(entry) for entry in listed.value if _is_index(entry))
    if len(indexes) > _MOST_PKEYS:
        return Reading(None, f"{base} has {len(indexes)} entries, and at most {_MOST_PKEYS} are read")
    for index in indexes:
        key = ask.file(evidence, f"{base}/{index}", to_int)
        if key.value is None:
            return Reading(None, key.why)
        found[index] = key.value if key.value & 0x7FFF else 0
    return Reading(found)


def _is_index(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 5


def _mtu(told: Reported, ca: Ca, port: Port) -> Reading[Mtu]:
    if told.verbs.value is None:
        return Reading(None, told.verbs.why)  # a tool that must be there: never missing
    if told.verbs_rc:
        return Reading(None, f"ibv_devinfo ended with status {told.verbs_rc}")
    for hca in told.verbs.value.hcas:
        for seen in hca.ports if hca.name == ca.name else ():
            active, most = seen.mtu("active_mtu"), seen.mtu("max_mtu")
            if seen.num == port.num and active is not None and most is not None:
                return Reading(Mtu(active, most))
    return Reading(None, f"ibv_devinfo shows no MTU of {port_name(ca, port)}")


def told_of_link(evidence: Evidence, ca: Ca, port: Port, parse: Callable[[str], Mlxlink]) -> Reading[Mlxlink]:
    """What mlxlink says of a port of an HCA that has one of its own."""
    model = hca_by_type(ca.type)
    if model is None or model.virtual:
        return Reading(None, NOT_ASKED, True)
    words = ("-d", ca.name, "-p", str(port.num), "-c", "-m")
    # It comes with NVIDIA's firmware tools, which a host need not have.
    return ask.optional(evidence, "mlxlink", parse, *words)


def _whole(text: str) -> Mlxlink:
    """The counters come last: without them the rest may have been cut, too."""
    reported = mlxlink.parse(text)
    if reported.raw_ber is None and reported.effective_ber is None and reported.minutes is None:
        raise ValueError("mlxlink: it shows no counters: the output was cut, or the link is down")
    return reported
