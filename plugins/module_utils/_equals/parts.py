# SPDX-License-Identifier: GPL-3.0-or-later
"""The equal parts of a host, and the host itself, with all that was read of them."""

from __future__ import annotations

import contextlib
import re
from typing import Dict, Iterable, Iterator, Sequence

from .._data.drivers import USABLE
from .._data.host_leaves import ASKED, KEYED, KEYED_TOOLS, NO_LINK, OF_INTERFACES, PART_TOOLS, SETTINGS
from .._evidence.sources import Cached, Output, Unavailable
from .._ground.text import ParseError
from .._parse import gid, ip_addr, leaves, nvsmi_xml
from .._parse._nvsmi import address
from .compare import NOTHING, UNREAD, Part

GPU, INFINIBAND, ETHERNET, HOST = "GPU", "InfiniBand", "Ethernet", "host"
# In which a part has a folder of its own, and what files there are called by.
_RDMA, _PCI, _NET = "/sys/class/infiniband/", "/sys/bus/pci/devices/", "/sys/class/net/"
_ROOTS = {_RDMA: "rdma", _PCI: "PCI", _NET: "net", "/sys/kernel/config/rdma_cm/": "rdma_cm"}
Texts = Dict[str, Dict[str, str]]
# What makes GPUs equal.
_GPU_KIND = ("product_name", "gpu_virtualization_mode/virtualization_mode", "pci/pci_sub_system_id")
# And ports, beside their link layer.
_PORT_KIND = ("hca_type", "board_id", "rate")
# What is longer is no setting.
_SHORT, _LONG = 200, 4000
_GIDS, _INTERFACES = "gids/", "gid_attrs/"
_PORT = re.compile(r"ports/(\d+)/link_layer")


class _Seen:
    """What was told, by what was asked."""

    def __init__(self, seen: Cached) -> None:
        self.told = dict(seen.answers())
        # By a part's folder and the path below it; and by tool and whatever a part is called there.
        self._files: Texts = {}
        self._tools: dict[str, Texts] = {}
        for path in seen.lost(missing=False):
            self._put(path, UNREAD)
        for (how, *asked), answer in self.told.items():
            if how == "read":
                self._put(asked[0], str(answer).strip())
            elif how == "run" and asked[0] in PART_TOOLS and isinstance(answer, Output) and answer.rc == 0:
                self._tools.setdefault(asked[0], {}).update(_told(asked[1:], answer.stdout))

    def _put(self, path: str, text: str) -> None:
        for root in _ROOTS:
            if path.startswith(root):
                name, _slash, below = path[len(root) :].partition("/")
                self._files.setdefault(root + name, {})[below] = text

    def ports(self) -> Iterator[tuple[str, str]]:
        """Device and number of each port of which its link layer was read."""
        for folder, texts in self._files.items():
            for port in map(_PORT.fullmatch, texts if folder.startswith(_RDMA) else ()):
                if port:
                    yield folder[len(_RDMA) :], port.group(1)

    def of(self, names: Sequence[str], port: str = "") -> Texts:
        """All that files and tools tell of the part that is called so; of a device, what its port tells."""
        found: Texts = {}
        for root, source in _ROOTS.items():
            for name in names:
                for below, text in self._files.get(root + name, {}).items():
                    path = below[len(port) :] if port and below.startswith(port) else below
                    where = "PCI" if path.startswith("device/") else source
                    if not path.startswith(("ports/", _GIDS, _INTERFACES)):
                        found.setdefault(where, {}).update(_file(path.replace("device/", "", 1), text))
        for tool, told in self._tools.items():
            found[tool] = next((told[name] for name in names if name in told), {})
        for name in names:
            data = self.told.get(("bytes", f"{_PCI}{name}/config"))
            found.setdefault("PCI config", {}).update(leaves.of_config(data) if isinstance(data, bytes) else {})
        return found

    def addresses(self, device: str, port: str) -> dict[str, str]:
        """The addresses that a port has, and the interfaces that have them: in whatever order they came."""
        addresses, interfaces = set(), set()
        files = self._files[_RDMA + device]
        for below, text in files.items():
            index = below.rpartition("/")[2]
            if below == f"{port}{_GIDS}{index}":
                with contextlib.suppress(ValueError):
                    known = gid.parse(text)
                    if known.kind in gid.ROUTABLE:
                        addresses.add(known.address)
                        interfaces.add(files.get(f"{port}{_INTERFACES}ndevs/{index}", ""))
        found = {"addresses": addresses, "interfaces": interfaces - {""}}
        return {name: " ".join(sorted(words)) for name, words in found.items() if words}


def _told(asked: Sequence[str], text: str) -> Texts:
    """What a tool tells of each part: of all of them, or of the one that it was asked about."""
    if not text.endswith("\n"):
        return {}
    # ``-d mlx5_3 -p 1`` asks about mlx5_3/1.
    name = "/".join(one for one in asked if not one.startswith("-"))
    return {name: leaves.of_text(text)} if name else leaves.of_blocks(text)


def _file(path: str, text: str) -> dict[str, str]:
    """The leaves of a file: it is one, or has one in every line."""
    if "\n" in text and len(text) <= _LONG:
        return {f"{path}/{key}": value for key, value in leaves.of_text(text).items()}
    return {path: text} if text and len(text) <= _SHORT else {}


def of(seen: Cached) -> list[Part]:
    """Every GPU that nvidia-smi tells of, and every port. Nothing is asked for them."""
    known = _Seen(seen)
    return [*_gpus(known, _runs(seen, "nvsmi_xml", USABLE)), *_ports(known)]


def _gpus(seen: _Seen, texts: Iterable[str]) -> Iterator[Part]:
    for text in texts:
        try:
            elements = nvsmi_xml.elements(text)
        except ParseError:
            return
        for number, element in enumerate(elements):
            told = leaves.of_element(element)
            name = element.get("id") or ""
            names = (name, address(name))
            mine = {"nvidia-smi": told, **seen.of((*names, told.get("uuid", "")))}
            kind = (GPU, *(told.get(key, "") for key in _GPU_KIND))
            # As checks of links call it.
            yield Part(kind, address(name), (f"GPU {number}", *names), _not_empty(mine))


def _ports(seen: _Seen) -> Iterator[Part]:
    interfaces = {
        str(name): path[len(_RDMA) :].partition("/")[0]
        for (how, *rest), names in seen.told.items()
        if how == "list" and (path := rest[0]).startswith(_RDMA) and path.endswith("/device/net")
        for name in names  # type: ignore[attr-defined]
    }
    for device, number in seen.ports():
        port = f"ports/{number}/"
        function = str(seen.told.get(("link", f"{_RDMA}{device}/device"), "")).rpartition("/")[2]
        own = tuple(name for name, owner in interfaces.items() if owner == device)
        # Each at its place, whether it is known or not.
        names = (device, function, *own)
        texts = seen.of((f"{device}/{number}", *names), port)
        files = texts.get("rdma", {})
        kind = (files.get("link_layer", ""), *(files.get(key, "") for key in _PORT_KIND))
        files.update(seen.addresses(device, port))
        yield Part(kind, f"{device}/{number}", names, _not_empty(texts))


def host(seen: Cached, members: Iterable[Part]) -> Part:
    """What was read of a host that is no part's: settings of one line by their path, and what has keys by these."""
    owned = {f"{_NET}{name}" for part in members for name in part.names}
    read = {key[1]: str(answer) for key, answer in seen.answers() if key[0] == "read"}
    files = {
        path[1:]: text.strip()
        for path, text in (*dict.fromkeys(seen.lost(missing=True), NOTHING).items(), *read.items())
        if path.startswith(SETTINGS) and len(text) <= _SHORT and path.rpartition("/")[0] not in owned
    }
    for path, end in KEYED.items():
        block = read.get(path, "").strip().partition("\n\n")[0]
        files.update((f"{path[1:]}/{key}", value.strip("\"'")) for key, value in _keyed(block, end).items())
    texts = {"": {path: value for path, value in files.items() if value and "\n" not in value}}
    for path in [path for path, value in texts[""].items() if path.startswith("sys/class/net/") and value in NO_LINK]:
        del texts[""][path]
    for name in KEYED_TOOLS:
        texts[name.partition("_")[0]] = _keyed("".join(_runs(seen, name)), "=")
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
    for text in _runs(seen, "ip_addr"):
        with contextlib.suppress(ParseError):
            yield from (one.name for one in ip_addr.parse(text) if one.is_hardware)


def _runs(seen: Cached, name: str, ok: Sequence[int] = (0,)) -> Iterator[str]:
    """What a command printed that was asked about nothing."""
    for key, answer in list(seen.answers()):
        if key == ("run", name) and isinstance(answer, Output) and answer.rc in ok:
            yield answer.stdout


def _not_empty(texts: Texts) -> Texts:
    return {source: text for source, text in texts.items() if text}
