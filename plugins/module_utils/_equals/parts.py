# SPDX-License-Identifier: GPL-3.0-or-later
"""The equal parts of a host, and the host itself, with all that was read of them."""

from __future__ import annotations

import contextlib
from typing import Dict, Iterator

from .._data.drivers import USABLE
from .._data.host_leaves import ASKED, KEYED, KEYED_TOOLS, NO_LINK, OF_INTERFACES, SETTINGS
from .._evidence.sources import Cached, Output, Unavailable
from .._ground.text import ParseError
from .._parse import gid, ip_addr, leaves, nvsmi_xml
from .._parse._nvsmi import address
from .compare import Part

GPU, INFINIBAND, ETHERNET, HOST = "GPU", "InfiniBand", "Ethernet", "host"
_RDMA, _PCI = "/sys/class/infiniband/", "/sys/bus/pci/devices/"
Texts = Dict[str, Dict[str, str]]
# What makes GPUs equal, beside their name.
_GPU_KIND = ("product_name", "gpu_virtualization_mode/virtualization_mode", "pci/pci_sub_system_id")
# Files of a port that say what it is set to; of a longer text a parser of its own knows more.
_PORT_FILES = ("sm_lid", "lid_mask_count", "cap_mask", "state", "phys_state")
# What is longer is no setting.
_SHORT = 200
_RAIL_TOOLS = ("mlxlink", "mlnx_qos")


class _Seen:
    """What was told, by what was asked."""

    def __init__(self, seen: Cached) -> None:
        self.told = dict(seen.answers())
        self._names: dict[str, list[str]] = {}
        for key in self.told:
            if key[0] == "read":
                folder, slash, name = key[1].rpartition("/")
                self._names.setdefault(folder + slash, []).append(name)

    def text(self, path: str) -> str:
        return str(self.told.get(("read", path), "")).strip()

    def under(self, folder: str) -> list[str]:
        """The names of files of this folder that were read."""
        return self._names.get(folder, [])

    def config(self, function: str) -> dict[str, str]:
        data = self.told.get(("bytes", f"{_PCI}{function}/config"))
        return leaves.of_config(data) if isinstance(data, bytes) else {}

    def runs(self, *names: str, ok: tuple[int, ...] = (0,)) -> Iterator[tuple[tuple[str, ...], Output]]:
        for key, answer in self.told.items():
            if key[0] == "run" and key[1] in names and isinstance(answer, Output) and answer.rc in ok:
                yield key[1:], answer


def of(seen: Cached, kind: str) -> list[Part]:
    """Every GPU that nvidia-smi tells of, or every port of a link layer of which mlxlink or mlnx_qos does.

    Nothing is asked for them.
    """
    found = _gpus(_Seen(seen)) if kind == GPU else _ports(_Seen(seen))
    return [part for part in found if part.kind[0] == kind]


def _gpus(seen: _Seen) -> Iterator[Part]:
    for _asked, answer in seen.runs("nvsmi_xml", ok=USABLE):
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
            seen.text(f"{home}/rate"),
        )
        files.update(_gids(seen, home))
        own = tuple(name for name, owner in interfaces.items() if owner == device)
        # Each at its place, whether it is known or not.
        names = (device, function, *own)
        yield Part(
            kind, f"{device}/{number}", names, _not_empty({**told, "rdma": files, "PCI config": seen.config(function)})
        )


def _gids(seen: _Seen, home: str) -> dict[str, str]:
    """The addresses that a port has, and the interfaces that have them: in whatever order they came."""
    addresses, interfaces = set(), set()
    for index in seen.under(f"{home}/gids/"):
        with contextlib.suppress(ValueError):
            known = gid.parse(seen.text(f"{home}/gids/{index}"))
            if known.kind in gid.ROUTABLE:
                addresses.add(known.address)
                interfaces.add(seen.text(f"{home}/gid_attrs/ndevs/{index}"))
    found = {"addresses": addresses, "interfaces": interfaces - {""}}
    return {name: " ".join(sorted(words)) for name, words in found.items() if words}


def host(seen: Cached) -> Part:
    """What was read of a host that is no part's: settings of one line by their path, and what has keys by these."""
    told = _Seen(seen)
    files = {
        key[1][1:]: str(answer).strip()
        for key, answer in told.told.items()
        if key[0] == "read" and key[1].startswith(SETTINGS) and len(str(answer)) <= _SHORT
    }
    for path, end in KEYED.items():
        block = told.text(path).partition("\n\n")[0]
        files.update((f"{path[1:]}/{key}", value.strip("\"'")) for key, value in _keyed(block, end).items())
    texts = {"": {path: value for path, value in files.items() if value and "\n" not in value}}
    for path in [path for path, value in texts[""].items() if path.startswith("sys/class/net/") and value in NO_LINK]:
        del texts[""][path]
    for asked, answer in told.runs(*KEYED_TOOLS):
        if len(asked) == 1:
            texts[asked[0].partition("_")[0]] = _keyed(answer.stdout, "=")
    return Part((HOST,), HOST, (), _not_empty(texts))


def _keyed(text: str, end: str) -> dict[str, str]:
    lines = (line.partition(end) for line in text.splitlines())
    return {key.strip(): value.strip() for key, found, value in lines if found}


def ask(seen: Cached) -> None:
    """Read what equal hosts have alike and no area reads."""
    for path in (*ASKED, *(f"/sys/class/net/{name}/{file}" for name in _interfaces(seen) for file in OF_INTERFACES)):
        with contextlib.suppress(Unavailable):
            seen.read(path)


def _interfaces(seen: Cached) -> Iterator[str]:
    """Those of hardware, and bonds of these."""
    for _asked, answer in _Seen(seen).runs("ip_addr"):
        with contextlib.suppress(ParseError):
            yield from (one.name for one in ip_addr.parse(answer.stdout) if one.is_hardware)


def _not_empty(texts: Texts) -> Texts:
    return {source: text for source, text in texts.items() if text}
