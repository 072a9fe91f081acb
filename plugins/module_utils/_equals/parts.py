# SPDX-License-Identifier: GPL-3.0-or-later
"""The equal parts of a host with all that was read of them. Nothing is asked for this."""

from __future__ import annotations

from typing import Dict, Iterator

from .._evidence.sources import Cached, Output
from .._ground.text import ParseError
from .._parse import leaves, nvsmi_xml
from .._parse._nvsmi import address
from .compare import Part

GPU, INFINIBAND, ETHERNET = "GPU", "InfiniBand", "Ethernet"
_RDMA, _PCI = "/sys/class/infiniband/", "/sys/bus/pci/devices/"
Texts = Dict[str, Dict[str, str]]
# What makes GPUs equal, beside their name.
_GPU_KIND = ("product_name", "gpu_virtualization_mode/virtualization_mode", "pci/pci_sub_system_id")
# Files of a port that say what it is set to; of a longer text a parser of its own knows more.
_PORT_FILES = ("sm_lid", "lid_mask_count", "cap_mask", "state", "phys_state", "rate")
_RAIL_TOOLS = ("mlxlink", "mlnx_qos")


class _Seen:
    """What was told, by what was asked."""

    def __init__(self, seen: Cached) -> None:
        self.told = dict(seen.answers())

    def text(self, path: str) -> str:
        return str(self.told.get(("read", path), "")).strip()

    def config(self, function: str) -> dict[str, str]:
        data = self.told.get(("bytes", f"{_PCI}{function}/config"))
        return leaves.of_config(data) if isinstance(data, bytes) else {}

    def runs(self, *names: str) -> Iterator[tuple[tuple[str, ...], Output]]:
        for key, answer in self.told.items():
            if key[0] == "run" and key[1] in names and isinstance(answer, Output) and answer.rc == 0:
                yield key[1:], answer


def of(seen: Cached, kind: str) -> list[Part]:
    """Every GPU that nvidia-smi tells of, or every port of a link layer of which mlxlink or mlnx_qos does."""
    found = _gpus(_Seen(seen)) if kind == GPU else _ports(_Seen(seen))
    return [part for part in found if part.kind[0] == kind]


def _gpus(seen: _Seen) -> Iterator[Part]:
    for _asked, answer in seen.runs("nvsmi_xml"):
        try:
            elements = nvsmi_xml.elements(answer.stdout)
        except ParseError:
            return
        for element in elements:
            told = leaves.of_element(element)
            name = element.get("id") or ""
            texts = {"nvidia-smi": told, "PCI config": seen.config(address(name))}
            kind = (GPU, *(told.get(key, "") for key in _GPU_KIND))
            yield Part(kind, address(name), (name, address(name)), _not_empty(texts))


def _ports(seen: _Seen) -> Iterator[Part]:
    interfaces = {
        str(name): path[len(_RDMA) :].partition("/")[0]
        for (how, *rest), names in seen.told.items()
        if how == "list" and (path := rest[0]).startswith(_RDMA) and path.endswith("/device/net")
        for name in names  # type: ignore[attr-defined]
    }
    texts: dict[tuple[str, str], Texts] = {}
    for (tool, *asked), answer in seen.runs(*_RAIL_TOOLS):
        given = dict(zip(asked[::2], asked[1::2]))
        port = (given.get("-d") or interfaces.get(given.get("-i", ""), ""), given.get("-p", "1"))
        if port[0] and answer.stdout.endswith("\n"):
            texts.setdefault(port, {})[tool] = leaves.of_text(answer.stdout)
    for (device, number), told in texts.items():
        home = f"{_RDMA}{device}/ports/{number}"
        function = str(seen.told.get(("link", f"{_RDMA}{device}/device"), "")).rpartition("/")[2]
        files = {name: text for name in _PORT_FILES if (text := seen.text(f"{home}/{name}"))}
        layer = seen.text(f"{home}/link_layer")
        kind = (
            layer,
            seen.text(f"{_RDMA}{device}/hca_type"),
            seen.text(f"{_RDMA}{device}/board_id"),
            files.get("rate", ""),
        )
        own = tuple(name for name, owner in interfaces.items() if owner == device)
        names = tuple(name for name in (device, function, *own) if name)
        yield Part(
            kind, f"{device}/{number}", names, _not_empty({**told, "rdma": files, "PCI config": seen.config(function)})
        )


def _not_empty(texts: Texts) -> Texts:
    return {source: text for source, text in texts.items() if text}
