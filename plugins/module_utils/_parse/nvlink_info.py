# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi nvlink`` tells of the other ends (``-p``, ``-R``) and of each GPU's links (``-info``)."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from . import _nvlink
from ._nvlink import Header
from ._nvsmi import address

_TOOL = "nvlink_info"
NOTHING: dict[str, Any] = {"gpus": [], "unread": 0}

_BUS = r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])"
_END = re.compile(rf"Link ([0-9]{{1,3}}): (?:Remote Device {_BUS}: Link ([0-9]{{1,10}})|{_BUS})")
_MOST_LINKS = 1000
# Ones stand where the driver knows no PCI device at the other end, as of the switches of a rack.
_NOWHERE = re.compile(r"[Ff]{4,8}:[Ff]{2}:[Ff]{2}\.[0-7]")
_ENCRYPTION = re.compile(r"NVLE: (.{1,40})")
_VERSION = re.compile(r"(?:NVLink|Nvlink|NVLINK) Version: ([\w.]{1,20})")
_FIRMWARE = "Firmware Version:"
_PART = re.compile(r"([A-Z][A-Za-z0-9 ]{1,30}): ([0-9]{1,6}(?::[0-9]{1,6}){1,5}|N/A)")


@dataclass(frozen=True)
class End:
    """What is at the other end of one link. ``bus_id``: "" where nvidia-smi names none. ``link``: its
    number there, None without ``-R``."""

    id: int
    bus_id: str = ""
    link: int | None = None


@dataclass(frozen=True)
class GpuInfo:
    """``encryption``: whether its links encrypt, in nvidia-smi's word. ``firmware``: version by part.
    ``messages``: why its links are not told."""

    gpu: Header
    links: tuple[End, ...] = ()
    encryption: str = ""
    version: str = ""
    firmware: tuple[tuple[str, str], ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class NvlinkInfo:
    """Every GPU that was listed. ``cut``: the end is missing, or a person left lines out."""

    gpus: tuple[GpuInfo, ...]
    unread: int = 0
    cut: bool = False
    error_lines: tuple[str, ...] = ()


@dataclass
class _Block(_nvlink.Block):
    links: dict[int, End] = field(default_factory=dict)
    encryption: str = ""
    version: str = ""
    firmware: dict[str, str] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        return bool(self.links or self.encryption or self.version or self.firmware)


class _Reader(_nvlink.Reader[_Block]):
    unread = 0
    in_firmware = False

    def take(self, line_no: int, line: str) -> None:
        end, part = _END.fullmatch(line), _PART.fullmatch(line)
        encryption, version = _ENCRYPTION.fullmatch(line), _VERSION.fullmatch(line)
        if end is not None:
            self._end(int(end.group(1)), end.group(2) or end.group(4), end.group(3) or "")
        elif encryption is not None:
            self.current().encryption = self.current().encryption or encryption.group(1)
        elif version is not None:
            self.current().version = self.current().version or version.group(1)
        elif line == _FIRMWARE:
            self.in_firmware = True
        elif part is not None and self.in_firmware and not self.in_doubt:
            self.current().firmware.setdefault(part.group(1), part.group(2))
        elif _nvlink.is_remark(line):
            self.current().messages[line] = None
        else:
            self.unread += 1
            self.unknown(line)

    def found(self) -> bool:
        return any(block.told for block in (*self.blocks.values(), *self.headless))

    def _end(self, number: int, bus_id: str, link: str) -> None:
        block = self.current()
        # They come by number: a lower one is another GPU's, whose own line is missing.
        if block.links and number <= max(block.links):
            block = self.next()
        place = "" if _NOWHERE.fullmatch(bus_id) else address(bus_id)
        # Where nothing is known of the device, its link's number is no number either.
        is_number = bool(link) and int(link) < _MOST_LINKS and not self.in_doubt
        block.links[number] = End(number, place, int(link) if is_number else None)


def parse(text: str) -> NvlinkInfo:
    """Read the listing; raise ParseError where it tells of no link's end and of no GPU's links."""
    reader = _Reader(_TOOL, _Block)
    told = reader.read(text, "other end of a link")
    blocks = [*reader.blocks.values(), *reader.headless]
    gpus = tuple(
        GpuInfo(
            block.gpu,
            tuple(block.links.values()),
            block.encryption,
            block.version,
            tuple(block.firmware.items()),
            tuple(block.messages),
        )
        for block in blocks
    )
    # A text that ends with a GPU's own line ends early.
    bare = not (blocks[-1].told or blocks[-1].messages)
    return NvlinkInfo(gpus, reader.unread, bool(told.cut) or bare, told.error_lines)


def facts(parsed: NvlinkInfo) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found: dict[str, Any] = {"gpus": [_gpu(gpu) for gpu in parsed.gpus], "unread": parsed.unread}
    if parsed.cut:
        found["cut"] = True
    if parsed.error_lines:
        found["error_lines"] = list(parsed.error_lines)
    return found


def _gpu(gpu: GpuInfo) -> dict[str, Any]:
    return {
        **asdict(gpu.gpu),
        "links": [asdict(end) for end in gpu.links],
        "peers": sorted({end.bus_id for end in gpu.links if end.bus_id}),
        "encryption": gpu.encryption or None,
        "version": gpu.version or None,
        "firmware": dict(gpu.firmware),
        "messages": list(gpu.messages),
    }


def wrong(parsed: NvlinkInfo) -> tuple[str, ...]:
    """GPUs of which nvidia-smi cannot tell the links, where it can of others; firmware that differs between GPUs."""
    silent = [gpu for gpu in parsed.gpus if not (gpu.links or gpu.firmware)]
    found = [f"{gpu.gpu.label}: {message}" for gpu in silent for message in gpu.messages]
    versions: dict[str, dict[str, list[str]]] = {}
    for gpu in parsed.gpus:
        for part, version in gpu.firmware:
            versions.setdefault(part, {}).setdefault(version, []).append(gpu.gpu.label)
    for part, by_version in versions.items():
        if len(by_version) > 1:
            rare = min(by_version, key=lambda version: len(by_version[version]))
            others = ", ".join(version for version in by_version if version != rare)
            found.append(f"{', '.join(by_version[rare][:4])} has NVLink firmware {part} {rare}, others have {others}")
    return tuple(found)
