# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``lspci`` prints, bare, with ``-nn`` or with ``-vv``: the devices, and the PCIe link of each.

What lspci says of a link it takes from the device: the fastest and widest that it can do (LnkCap),
and what it has (LnkSta). Without root the capabilities are not shown.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .._ground.text import clean_lines, is_whole, no_facts

_TOOL = "lspci"
NOTHING: dict[str, Any] = {"devices": [], "access_denied": False, "unread": 0}

# The last words of the classes' names in pci.ids; `Class 0302` and `Unassigned class` are unknown ones.
_CLASS = (
    r"(?:[A-Z0-9][\w()/. -]{0,60}? )?(?:[Cc]ontroller|[Bb]ridge|[Dd]evice|[Mm]emory|peripheral|accelerators|counters|"
    r"[Ii]nterface|SMBus|InfiniBand|Channel|module|management|synchronizer|IOMMU|PIC|Timer|RTC|Card|Modem|Co-processor|"
    r"Coprocessor|Instrumentation|Bluetooth|CANBUS|class|Class [0-9a-f]{4})"
)
_BUS = r"(?P<bus>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_BEGINS = re.compile(_BUS.replace("?P<bus>", "?:") + " ")
_DEVICE = re.compile(rf"{_BUS} (?P<class>[^:]{{1,80}}?)(?: \[(?P<class_id>[0-9a-f]{{4}})\])?: (?P<name>.{{1,300}})")
_KNOWN = re.compile(_CLASS)
# With -n.
_NUMBERS = re.compile(rf"{_BUS} (?P<class_id>[0-9a-f]{{4}}): (?P<name>(?=[0-9a-f]{{4}}:[0-9a-f]{{4}}\b).{{9,60}})")
_IDS = re.compile(r"(?:\[|^)([0-9a-f]{4}):([0-9a-f]{4})(?:\]|\b)")
_REVISION = re.compile(r" ?\(rev ([0-9a-f]{2})\)")
_PROGRAM = re.compile(r" ?\(prog-if [0-9a-f]{2}(?: \[[^\[\]]{1,60}\])?\)")
# Linux shows ones for a function that answers no more.
_GONE_REVISION, _GONE = "ff", "!!! Unknown header type"
_DENIED = "Capabilities: <access denied>"

_SPEED = r"Speed (?:([0-9.]{1,5})GT/s|unknown)(?: \((\w{2,12})\))?"
_WIDTH = r"Width x([0-9]{1,2})(?: \((\w{2,12})\))?"
_CAN = re.compile(rf"LnkCap: (?:Port #[0-9]{{1,3}}, )?{_SPEED}, {_WIDTH}")
_HAS = re.compile(rf"LnkSta: {_SPEED}, {_WIDTH}")
_REQUESTS = re.compile(r"(?:DevCtl: .{0,120} )?MaxPayload ([0-9]{2,5}) bytes, MaxReadReq ([0-9]{2,5}) bytes")
_ACS = re.compile(r"ACSCtl: ([A-Z]\w{1,20}[+-](?: [A-Z]\w{1,20}[+-]){0,15})")
_PLAIN = {
    "driver": re.compile(r"Kernel driver in use: (\S{1,60})"),
    "numa": re.compile(r"NUMA node: ([0-9]{1,4})"),
    "iommu_group": re.compile(r"IOMMU group: ([0-9]{1,6})"),
    "slot": re.compile(r"Physical Slot: (\S{1,40})"),
}
_NUMBER_FIELDS = ("numa", "iommu_group")
_DOWN = "downgraded"
# With -x.
_DUMP = re.compile(r"[0-9a-f]{2,3}:(?: [0-9a-f]{2}){1,16}")
_ELIDED = re.compile(r"\[?(?:\.{3}|\u2026|snip\w{0,4}|truncated|cut)\]?")

_NVIDIA, _MELLANOX = "10de", "15b3"
_RDMA_DRIVERS = ("mlx5_core", "mlx4_core", "bnxt_en", "ice", "irdma", "ionic", "hfi1", "efa")
HCA, GPU, SWITCH = "HCA", "GPU", "NVSwitch"


@dataclass(frozen=True)
class Link:
    """GT/s and lanes: what it has, and what the device can do; None where that is not shown.

    ``slower``, ``narrower``: whether it has less than the device can do.
    """

    speed: float | None = None
    width: int | None = None
    max_speed: float | None = None
    max_width: int | None = None
    slower: bool = False
    narrower: bool = False


@dataclass(frozen=True)
class Device:
    """``bus_id``: "" of a line that stands alone. ``kind``: HCA, GPU or NVSwitch, else "". ``acs``: what
    Access Control Services do, by lspci's names. ``gone``: it does not answer any more. "" and None:
    not shown."""

    bus_id: str
    kind: str = ""
    class_name: str = ""
    class_id: str = ""
    name: str = ""
    vendor_id: str = ""
    device_id: str = ""
    revision: str = ""
    driver: str = ""
    slot: str = ""
    numa: int | None = None
    iommu_group: int | None = None
    max_payload: int | None = None
    max_read_request: int | None = None
    link: Link | None = None
    acs: dict[str, bool] | None = None
    gone: bool = False


@dataclass(frozen=True)
class Lspci:
    """``denied``: capabilities were kept from whoever asked. ``unread``: lines that are none of its."""

    devices: tuple[Device, ...]
    denied: bool = False
    unread: int = 0
    cut: bool = False


@dataclass
class _Block:
    """The lines of one device, gathered before they are read."""

    told: dict[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    can: re.Match[str] | None = None
    has: re.Match[str] | None = None
    requests: re.Match[str] | None = None
    acs: str = ""
    gone: bool = False

    def take(self, line: str) -> None:
        """The first line of a kind counts, for a device has one."""
        self.can = self.can or _CAN.match(line)
        self.has = self.has or _HAS.match(line)
        self.requests = self.requests or _REQUESTS.fullmatch(line)
        acs = None if self.acs else _ACS.match(line)
        if acs is not None:
            self.acs = acs.group(1)
        self.gone = self.gone or line.startswith(_GONE)
        for name, pattern in _PLAIN.items():
            if name not in self.texts:
                found = pattern.fullmatch(line)
                if found is not None:
                    self.texts[name] = found.group(1)


def parse(text: str) -> Lspci:
    """Read every device; raise ParseError where there is none."""
    lines = clean_lines(text)
    blocks: list[_Block] = []
    block: _Block | None = None
    unread, denied, elided = 0, False, False
    # Who pastes a text may lose the blanks that its lines begin with.
    flat = not any(line[:1] in ("\t", " ") for line in lines)
    # A number at the end of a text that ends within a line may have more digits.
    last = 0 if is_whole(text) else len(lines)
    for line_no, raw in enumerate(lines, 1):
        line = " ".join(raw.split())
        if _BEGINS.match(line):
            device = _NUMBERS.fullmatch(line) or _DEVICE.fullmatch(line)
            block = None
            if device is not None:
                block = _Block({name: value or "" for name, value in device.groupdict().items()})
                blocks.append(block)
            unread += block is None
        elif not line or _DUMP.fullmatch(line):
            continue
        elif block is None and _ACS.fullmatch(line):
            # Who looks for ACS alone keeps these lines and no addresses.
            blocks.append(_Block({"bus": "", "class_id": "", "name": ""}))
            blocks[-1].take(line)
        elif block is None or _ELIDED.fullmatch(line) or not (flat or raw[:1] in ("\t", " ")):
            unread += 1
            elided = elided or _ELIDED.fullmatch(line) is not None
        else:
            denied = denied or line == _DENIED
            if line_no != last:
                block.take(line)
    if not any("class" not in block.told or _KNOWN.fullmatch(block.told["class"]) for block in blocks):
        raise no_facts(_TOOL, lines, "no device with its address and class")
    return Lspci(tuple(_device(block) for block in blocks), denied, unread, elided or not is_whole(text))


def _device(block: _Block) -> Device:
    name = block.told["name"]
    ids, revision = _IDS.search(name), _REVISION.search(name)
    plain = _PROGRAM.sub("", _REVISION.sub("", name))
    if ids is not None:
        plain = plain.replace(ids.group(), "")
    known: dict[str, Any] = {key: int(value) if key in _NUMBER_FIELDS else value for key, value in block.texts.items()}
    if block.requests is not None:
        known.update(max_payload=int(block.requests.group(1)), max_read_request=int(block.requests.group(2)))
    found = Device(
        bus_id=block.told["bus"],
        class_name=block.told.get("class", ""),
        class_id=block.told["class_id"],
        name=" ".join(plain.split()),
        vendor_id=ids.group(1) if ids else "",
        device_id=ids.group(2) if ids else "",
        revision=revision.group(1) if revision else "",
        link=_link(block),
        acs={word[:-1]: word[-1] == "+" for word in block.acs.split()} or None,
        gone=block.gone or (revision is not None and revision.group(1) == _GONE_REVISION),
        **known,
    )
    return Device(**{**vars(found), "kind": _kind(found)})


def _link(block: _Block) -> Link | None:
    if block.can is None and block.has is None:
        return None
    max_speed, _mark, max_width, _mark = block.can.groups() if block.can else (None,) * 4
    speed, slow, width, narrow = block.has.groups() if block.has else (None,) * 4
    # A function without a link of its own (a virtual one, one of a virtual machine) has a width of 0.
    real = bool(width) and width != "0"
    return Link(
        _number(speed) if real else None,
        int(width) if width and real else None,
        _number(max_speed),
        int(max_width) if max_width else None,
        real and _is_less(slow, _number(speed), _number(max_speed)),
        real and _is_less(narrow, _number(width), _number(max_width)),
    )


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"[0-9]{1,3}(?:\.[0-9])?", text) else None


def _is_less(mark: str | None, has: float | None, can: float | None) -> bool:
    """By lspci's own mark; older releases have none, newer ones none where all is well."""
    if mark is not None:
        return mark == _DOWN
    return has is not None and can is not None and has < can


def _kind(device: Device) -> str:
    """Of a virtual function nothing is told: its link is the physical one's."""
    name, code = device.class_name, device.class_id
    if "Virtual Function" in device.name:
        return ""
    if device.vendor_id == _NVIDIA or device.name.startswith("NVIDIA"):
        if code in ("0300", "0302") or name in ("3D controller", "VGA compatible controller"):
            return GPU
        if code == "0680" or name == "Bridge":
            return SWITCH
    if name == "Infiniband controller" or code == "0207":
        return HCA
    if name == "Fabric controller" and "Omni-Path" in device.name:
        return HCA
    if name in ("Ethernet controller", "Network controller") or code[:2] == "02":
        known = device.vendor_id == _MELLANOX or device.name.startswith("Mellanox")
        return HCA if known or device.driver in _RDMA_DRIVERS else ""
    return ""


def facts(parsed: Lspci) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found: dict[str, Any] = {
        "devices": [asdict(device) for device in parsed.devices],
        "access_denied": parsed.denied,
        "unread": parsed.unread,
    }
    if parsed.cut:
        found["cut"] = True
    return found


def wrong(parsed: Lspci) -> tuple[str, ...]:
    """GPUs, NVSwitches and HCAs that do not answer, have fewer lanes than they can, and slow HCAs.

    A GPU at rest lowers its speed, so that its speed says nothing.
    """
    gone: list[str] = []
    narrow: list[str] = []
    slow: list[str] = []
    for device in parsed.devices:
        link = device.link
        who = f"{device.kind} {device.bus_id} ({device.name})"
        if not device.kind:
            continue
        if device.gone:
            gone.append(f"{who} does not answer: all that is read from it is ones")
        elif link is not None and link.narrower:
            narrow.append(f"{who} has a PCIe link of {_lanes(link.width)}, and can do {_lanes(link.max_width)}")
        elif link is not None and link.slower and device.kind == HCA:
            slow.append(f"{who} has a PCIe link of {_rate(link.speed)}, and can do {_rate(link.max_speed)}")
    return (*gone, *narrow, *slow)


def _lanes(width: int | None) -> str:
    return "more lanes" if width is None else f"x{width}"


def _rate(speed: float | None) -> str:
    return "more" if speed is None else f"{speed:g} GT/s"
