# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of one host that checks name in different words: ports, HCAs, addresses, GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._ground.dicts import as_dict

HCA = "hca"
GPU = "gpu"
OTHER = "other"
UNTOLD = "?"
_GPU = re.compile(r"GPU (\d{1,2})")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class Parts:
    """The names that one host's facts tell; what they do not hold is no part."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        machine = as_dict(facts.get("machine"))
        self.hostname = str(as_dict(facts.get("node")).get("hostname") or "")
        ib = as_dict(facts.get("ib"))
        rdma = as_dict(as_dict(facts.get("pci")).get("rdma"))
        devices = {name: as_dict(entry).get("address") for name, entry in as_dict(ib.get("devices")).items()}
        self.addresses = {name: str(at) for name, at in {**devices, **rdma}.items() if at}
        names = [str(as_dict(entry).get("name")) for entry in ib.get("cas") or ()]
        self.hcas = {*self.addresses, *names}
        self._by_address = {at: name for name, at in self.addresses.items()}
        self._unnamed = {str(at) for at in machine.get("hcas") or ()} - set(self._by_address)
        gpus = as_dict(facts.get("gpu")).get("gpus")
        self._gpus_told = isinstance(gpus, list | tuple)
        self.gpus = [str(as_dict(gpu).get("address") or "") for gpu in gpus or ()]
        ports = as_dict(as_dict(facts.get("roce")).get("ports")).get("value") or ()
        self.netdevs = {
            f"{port.get('device')}/{port.get('num')}": str(as_dict(port.get("netdev")).get("value") or "")
            for port in map(as_dict, ports)
        }

    def of(self, subject: str) -> str:
        """``hca:mlx5_3``, ``gpu:0000:43:00.0`` or ``pci:0000:42:04.0``; "" for the whole host."""
        name = subject.partition("/")[0]
        if name in self.hcas:
            return f"{HCA}:{name}"
        if _ADDRESS.fullmatch(subject):
            if subject in self._by_address:
                return f"{HCA}:{self._by_address[subject]}"
            if subject in self._unnamed:
                return f"{HCA}:{subject}"
            return f"{GPU}:{subject}" if subject in self.gpus else f"pci:{subject}"
        number = _GPU.fullmatch(subject)
        if number and int(number[1]) < len(self.gpus):
            return f"{GPU}:{self.gpus[int(number[1])]}"
        return subject if number else ""

    def kind(self, part: str) -> str:
        """``hca``, ``gpu``, ``other`` (a bridge or switch); "?" where nobody can tell."""
        kind = part.partition(":")[0]
        if kind == "pci":
            return OTHER if self._gpus_told else UNTOLD
        return kind if kind in (HCA, GPU) else ""

    def address(self, part: str) -> str:
        """The PCI address of a part, "" where it is not told."""
        kind, _mark, name = part.partition(":")
        return self.addresses.get(name, name) if kind == HCA else name
