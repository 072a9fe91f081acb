# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell HCAs from what else is an RDMA device, and where each one sits."""

from __future__ import annotations

import re
from typing import Mapping

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._parse.ibstat import Ca
from ..._rails.ib_ports import Device
from ..machine.facts import Machine
from .observe_reported import Reported

_BASE = "/sys/class/infiniband"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_AMAZON = "1d0f"
# Where sysfs keeps devices that sit on no bus.
_VIRTUAL = "/virtual/"
# mlx5's scalable functions: cut from a PCI function, without one of their own.
_SCALABLE = "/mlx5_core.sf."
EFA = "EFA device"
IWARP = "iWARP adapter"
SOFTWARE = "software RDMA device"
USNIC = "usNIC device"
NO_KIND = "RDMA device of a kind of its own"
PLANES = "sub-device for the planes of a port"
# By ibstat's word before the device's name.
_WORDS = {"iWARP RNIC": IWARP, "???": NO_KIND}
# By the number in sysfs' node_type; those of InfiniBand and RoCE (CA, switch, router) are 1 to 3.
NODE_TYPES = {"4": IWARP, "5": USNIC, "6": USNIC, "7": NO_KIND}
# By ibv_devinfo's transport.
_TRANSPORTS = {"iWARP": IWARP, "usNIC": USNIC, "usNIC UDP": USNIC, "unspecified": NO_KIND}
# Vendor ids of ibv_devinfo: rxe and siw make up their own.
_VENDORS = {"0xffffff": SOFTWARE, "0x626d74": SOFTWARE, "0x1d0f": EFA}
# Where nothing else tells: the names that the drivers give.
_NAMES = (
    (re.compile(r"(?:rxe|siw)_?[0-9]{1,4}"), SOFTWARE),
    (re.compile(r"i40iw[0-9]{1,4}|iw[ops][0-9][0-9a-z]{0,40}"), IWARP),
    (re.compile(r"efa_[0-9]{1,4}"), EFA),
    (re.compile(r"smi[0-9]{1,4}"), PLANES),
)


def devices(
    evidence: Evidence,
    machine: Machine,
    cas: tuple[Ca, ...],
    words: Mapping[str, str],
    told: Reported,
) -> dict[str, Device]:
    """What each device is, by its name."""
    functions = {function.address: function for function in machine.functions}
    managers = machine.switch_managers.value or machine.marked_managers
    verbs = {hca.name: hca for hca in told.verbs.value.hcas} if told.verbs.value else {}
    found = {}
    for ca in cas:
        places = [ask.link(evidence, path).value or "" for path in _links(ca.name)]
        address = _address(places)
        function = functions.get(address)
        part = any(_SCALABLE in place for place in places)
        seen = verbs.get(ca.name)
        kinds = (
            EFA if function is not None and function.vendor == _AMAZON else "",
            SOFTWARE if any(_VIRTUAL in place for place in places) else "",
            _VENDORS.get(seen.get("vendor_id").lower(), "") if seen else "",
            _by_name(ca.name),
            _WORDS.get(words.get(ca.name, ""), ""),
            NODE_TYPES.get(_first(_text(evidence, f"{_BASE}/{ca.name}/node_type")), ""),
            _TRANSPORTS.get(seen.get("transport").partition(" (")[0], "") if seen else "",
        )
        found[ca.name] = Device(
            kind=next((kind for kind in kinds if kind), ""),
            address=address,
            virtual=part or (function is not None and function.virtual),
            physical=address if part else (function.physical if function is not None else ""),
            manages_switches=address in managers,
            board=_text(evidence, f"{_BASE}/{ca.name}/board_id") or (seen.get("board_id") if seen else ""),
        )
    return found


def _links(name: str) -> tuple[str, str]:
    """Every device's directory is a link in sysfs; in a stranger's bundle it may be a plain one,
    and then the link ``device`` below it tells."""
    return f"{_BASE}/{name}", f"{_BASE}/{name}/device"


def _address(places: list[str]) -> str:
    """Of its PCI function: the last one in ../../devices/pci0000:00/.../ADDRESS/infiniband/X."""
    found = [part for place in places for part in place.split("/") if _ADDRESS.fullmatch(part)]
    return found[-1] if found else ""


def _by_name(name: str) -> str:
    return next((kind for pattern, kind in _NAMES if pattern.fullmatch(name)), "")


def _text(evidence: Evidence, path: str) -> str:
    return ask.text(evidence, path).value or ""


def _first(text: str) -> str:
    return text.partition(":")[0]
