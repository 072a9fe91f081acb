# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the kernel's log: ``dmesg`` (with any timestamps or none), /dev/kmsg, journalctl, mails."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, Iterator, NamedTuple

from .._data import kernel_faults, kernel_log
from .._ground.text import clean_lines, is_whole, no_facts
from . import _beegfs_log, _kernel_drivers
from ._beegfs_log import BeegfsLog
from ._kernel_drivers import Unexplained

_TOOL = "dmesg"
NOTHING: dict[str, Any] = {
    "failures": [],
    "warnings": [],
    "has_peermem_error": False,
    "xids": [],
    "sxids": [],
}
# A mail breaks a line in two or three.
_MORE_LINES = 3

_KMSG = re.compile(r"(\d{1,4}),(\d{1,20}),(\d{1,20}),[^;]{1,60};(.*)")
_RAW = re.compile(r"<(\d{1,4})>")
_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")
_LEVEL = re.compile(rf"(?:kern|user|daemon|syslog|auth) ?: ?({'|'.join(_LEVELS)}) ?: ")
_WHEN = (
    r"(?:\S{2,8} \d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,+:Z-]{0,20}"
    r"|\d{9,11}\.\d{1,9})"
)
_SYSLOG = re.compile(_WHEN + r" \S{1,80} ([\w.@/()-]{1,60})(?:\[\d{1,10}\])?:(?: |$)")
# dmesg's own, with a comma; the host's name does not follow.
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{1,9}[\d+:Z-]{0,8} ")
_HOST = re.compile(r"[\w.-]{1,64}: ?(?=\[ ?\d{1,10}\.\d)")
_MONOTONIC_HOST = re.compile(r"\S{1,80} kernel: ")
# What is left of a syslog line whose time, or time and host, somebody cut off.
_NO_TIME = re.compile(r"(?:\S{1,80} )?kernel: ")
_BRACKET = re.compile(r"\[([^\[\]]{0,40}\d[^\[\]]{0,40})\] ?")
_SECONDS = re.compile(r" ?(\d{1,9}\.\d{3,9})\b")
# Others print the time since 1970; no host is up for so long.
_SINCE_1970 = re.compile(r"\d{10}\.\d")
_CALLER = re.compile(r"\[ ?[TC]\d{1,10}\] ?")
# A row of `lsmod`.
_MODULE = re.compile(r"\w{1,60} \d{2,10} -?\d{1,5}(?: [\w,\[\]]{1,4000})?")
# NAME, at most two more words, a colon: how a message begins that is no rest of a broken line.
_START = re.compile(r"[A-Za-z][\w./-]{0,39}(?: [\w.()#:-]{1,40}){0,2}: ")

_OF_AN_HCA = re.compile(r"\bmlx[45]_|^infiniband |^(?:ib|rdma)_\w{1,20}: ")
_DEVICE = re.compile(r"\b([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b|^infiniband (\w{1,40}):")
_FIRMWARE = re.compile(r"firmware version: (\d{1,4}\.\d{1,4}\.\d{1,6})")
_BUS = r"\((?:PCI: ?)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\.\d)?[^()]{0,40}\)"
_XID = re.compile(r"NVRM: Xid " + _BUS + r": (\d{1,5})\b,? ?(.*)")
_SXID = re.compile(r"(nvidia-nvswitch\d{1,3}):? SXid " + _BUS + r": (\d{1,6})\b,? ?(.*)")
# Who passes a log on may have masked the address.
_MASKED_XID = re.compile(r"NVRM: Xid \((?:PCI: ?)?([^()]{1,40})\): (\d{1,5})\b,? ?(.*)")
_MASKED_SXID = re.compile(r"(nvidia-nvswitch\w{1,3}):? SXid \((?:PCI: ?)?([^()]{1,40})\): (\d{1,6})\b,? ?(.*)")
_FATAL = "fatal"
# The driver says the same of a GPU that was gone before it came up, without an Xid.
_GPU = re.compile(r"NVRM: The NVIDIA GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\.\d")
_FALLEN = "fallen off the bus"
_XID_FALLEN = 79
_GPU_LINES = 4
_PEERMEM = re.compile(r"^(?!.{0,40}\b(?:modprobe|insmod|depmod): ).*(?:\bnvidia[-_]peermem\b|\bnv_peer_mem\b)")
_PEERMEM_ERROR = re.compile(
    r"\berror\b|\bfailed\b|Unknown symbol|disagrees about version|Invalid argument", re.IGNORECASE
)
# Said of every module that the distribution did not sign; the module works.
_HARMLESS = "module verification failed"
_REFUSED = re.compile(r"[Ll]oading (?:of [\w ,-]{1,60} is rejected|is restricted)")
_IOMMU = re.compile(r"iommu: Default domain type: (Passthrough|Translated)")
_LINK = "PCIe Bus Error"
_FIRST_WORDS = ("Linux version ", "Booting Linux on ")


def literal_of(pattern: str) -> str:
    """The longest words that each match of a pattern holds, "" where none are sure: few lines need the pattern."""
    plain = re.sub(r"\[[^\]]*\]", "\0", re.sub(r"\\.", "\0", pattern))
    groups = 1
    while groups:
        # A group that is always there counts, others do not.
        plain, once = re.subn(r"\((?:\?:|(?!\?))([^()|]*)\)(?![?*{])", r"\1", plain)
        plain, groups = re.subn(r"\([^()]*\)", "\0", plain)
        groups += once
    runs = re.findall(r"[A-Za-z :-]+", re.sub(r".(?=[?*{])", "\0", plain))
    return "" if "|" in plain else max(runs, key=len, default="")


_HCA = [(known, literal_of(known.pattern), re.compile(known.pattern)) for known in kernel_log.HCA]
_OVER = [(label, literal_of(pattern), re.compile(pattern)) for pattern, label in kernel_faults.OVER]
_KERNEL = [(known, literal_of(known.pattern), re.compile(known.pattern)) for known in kernel_faults.KERNEL]
# Nearly all lines of a healthy host hold none of these.
_OF_A_RULE = tuple({literal for _what, literal, _pattern in (*_OVER, *_KERNEL)})
_STEPS = [(re.compile(step), re.compile(whole)) for step, whole in kernel_log.STEPS]


@dataclass(frozen=True)
class Xid:
    """An error that the GPU driver reported: PCI bus id (``0000:65:00``), number, its text."""

    bus_id: str
    xid: int
    text: str


@dataclass(frozen=True)
class SXid:
    """An error of an NVSwitch: its name (``nvidia-nvswitch3``), PCI bus id, number, text."""

    switch: str
    bus_id: str
    sxid: int
    text: str


@dataclass(frozen=True)
class Message:
    """A known message about an HCA or the kernel, once per device.

    ``recovered``: the same device came to life again later in the log. ``seconds``: since boot when
    it was said last, None where the log has no such times; only of the kernel's own.
    """

    kind: str
    device: str
    text: str
    means: str
    recovered: bool = False
    seconds: float | None = None


@dataclass(frozen=True)
class Dmesg:
    """What the log tells. ``beginning_lost``: it does not reach back to the boot; None: unknown.

    ``refused``: modules that the kernel did not let in. ``iommu``: the kernel's default domain.
    ``unexplained``: failures of drivers that no rule knows. ``beegfs``: what a BeeGFS client says in it.
    ``cut``: the text ends within a line.
    """

    hca: tuple[Message, ...] = ()
    kernel: tuple[Message, ...] = ()
    peermem: tuple[str, ...] = ()
    firmware: tuple[tuple[str, str], ...] = ()
    xids: tuple[Xid, ...] = ()
    sxids: tuple[SXid, ...] = ()
    refused: tuple[str, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    iommu: str = ""
    beegfs: BeegfsLog = field(default_factory=BeegfsLog)
    beginning_lost: bool | None = None
    cut: bool = False


class Record(NamedTuple):
    """One message without what precedes it; seconds since boot and syslog's level where the log has them."""

    seconds: float | None
    text: str
    level: int | None = None


# Several areas read the same log.
@lru_cache(maxsize=1)
def parse(text: str) -> Dmesg:
    """Read a kernel log; raise ParseError on a text that is none."""
    found = records(text)
    log = _Log()
    beegfs = _beegfs_log.Reading()
    drivers = _kernel_drivers.Reading()
    before_boot = False
    for record in found:
        if record.text.startswith(_beegfs_log.OURS):
            beegfs.take_kernel(record.text, record.seconds)
            continue
        before_boot = kernel_faults.BEFORE_BOOT in record.text or (before_boot and kernel_faults.RECORD in record.text)
        explained = log.take(record, before_boot=before_boot)
        drivers.take(record.text, record.seconds, record.level, explained=explained)
    return replace(
        log.result(),
        unexplained=drivers.result(),
        beegfs=beegfs.result(),
        beginning_lost=_beginning_lost(found),
        cut=not is_whole(text),
    )


def records(text: str) -> list[Record]:
    """The messages of a kernel log; raise ParseError on a text that is none."""
    lines = [" ".join(line.split()).lstrip("> |") for line in clean_lines(text)]
    found = list(_records(lines))
    if not found:
        said = tuple(line for line in lines if line.startswith("dmesg:"))
        raise no_facts(_TOOL, lines, "not one line of a kernel log", said=said)
    return found


def facts(parsed: Dmesg) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    found: dict[str, Any] = {
        "failures": _texts(parsed, kernel_log.FAILURE),
        "warnings": _texts(parsed, kernel_log.WARNING),
        "has_peermem_error": bool(parsed.peermem),
        "xids": [asdict(xid) for xid in parsed.xids],
        "sxids": [asdict(sxid) for sxid in parsed.sxids],
        "kernel": [message.text for message in parsed.kernel],
        "unexplained": list(dict.fromkeys(line.text for line in parsed.unexplained)),
    }
    if parsed.beegfs.lines:
        found["beegfs"] = [problem.what for problem in parsed.beegfs.problems]
    if parsed.firmware:
        found["firmware"] = parsed.firmware[0][1]
    if parsed.beginning_lost is not None:
        found["beginning_lost"] = parsed.beginning_lost
    return found


def _texts(parsed: Dmesg, kind: str) -> list[str]:
    return list(dict.fromkeys(message.text for message in parsed.hca if message.kind == kind))


def _records(lines: list[str]) -> Iterator[Record]:
    """Messages, with the rest of a broken line put back; nothing where no line is a kernel's."""
    sure = False
    found: list[tuple[float | None, int | None, list[str]]] = []
    for line in lines:
        if not line:
            continue
        seconds, level, message, stamped = _split(line)
        if stamped is None or _MODULE.fullmatch(line):  # another program's line in a journal, or beside the log
            found.append((None, None, []))
            continue
        sure = sure or stamped or message.startswith(kernel_log.HEADS)
        more = not (stamped or _START.match(message) or message.startswith(_FIRST_WORDS))
        if more and found:
            parts = found[-1][2]
            if 0 < len(parts) <= _MORE_LINES:
                parts.append(message)
        else:
            found.append((seconds, level, [message]))
    if sure:
        for seconds, level, parts in found:
            if parts:
                yield Record(seconds, " ".join(parts), level)


def _split(line: str) -> tuple[float | None, int | None, str, bool | None]:
    """Seconds since boot, the level, the message, and whether something the kernel's log has preceded it.

    None: the line is another program's.
    """
    kmsg = _KMSG.fullmatch(line)
    if kmsg is not None:
        # The first record of a boot has the number 0, whatever its time.
        at = 0.0 if int(kmsg.group(2)) == 0 else int(kmsg.group(3)) / 1e6
        return at, int(kmsg.group(1)) & 7, kmsg.group(4).strip(), True
    rest = line
    stamped = False
    syslog = None if _ISO.match(rest) else _SYSLOG.match(rest)
    if syslog is not None:
        if syslog.group(1) != "kernel":
            return None, None, "", None
        rest, stamped = rest[syslog.end() :], True
    else:
        cut = _NO_TIME.match(rest)
        if cut is not None and rest.startswith(("[", *kernel_log.HEADS), cut.end()):
            rest, stamped = rest[cut.end() :], True
    level: int | None = None
    for pattern in (_RAW, _LEVEL, _ISO, _HOST):
        match = pattern.match(rest)
        if match is not None:
            if pattern in (_RAW, _LEVEL):
                word = match.group(1)
                level = int(word) & 7 if pattern is _RAW else _LEVELS.index(word)
            rest = rest[match.end() :]
            stamped = stamped or pattern in (_RAW, _LEVEL, _ISO)
    seconds: float | None = None
    bracket = _BRACKET.match(rest)
    if bracket is not None and _SINCE_1970.match(bracket.group(1)):
        return None, None, "", None
    if bracket is not None:
        number = _SECONDS.match(bracket.group(1))
        seconds = float(number.group(1)) if number else None
        rest, stamped = rest[bracket.end() :], True
        for pattern in (_CALLER, _MONOTONIC_HOST):
            match = pattern.match(rest)
            rest = rest[match.end() :] if match else rest
    return seconds, level, rest.strip(), stamped


def _beginning_lost(records: list[Record]) -> bool | None:
    if any(record.seconds == 0 or record.text.startswith(_FIRST_WORDS) for record in records):
        return False
    return True if any(record.seconds is not None for record in records) else None


class _Log:
    """What was found so far; each thing is kept once."""

    def __init__(self) -> None:
        self._hca: dict[tuple[str, str, str], Message] = {}
        self._kernel: dict[str, Message] = {}
        self._peermem: dict[str, None] = {}
        self._firmware: dict[tuple[str, str], None] = {}
        # The first and the last of each GPU and number, with the place in the log.
        self._xids: dict[tuple[str, int, bool], tuple[int, Xid]] = {}
        self._n_xids = 0
        self._sxids: dict[tuple[str, int], SXid] = {}
        self._refused: dict[str, None] = {}
        self._iommu = ""
        self._gpu = ""  # named, and the rest of the sentence may follow on lines of its own
        self._gpu_lines = 0

    def take(self, record: Record, *, before_boot: bool = False) -> bool:
        """Look at one message, and tell whether a rule knows it; ``before_boot``: it tells of the boot before."""
        text = record.text
        known = ("NVRM" in text or "nvswitch" in text) and self._nvidia(text)
        of_an_hca = _OF_AN_HCA.search(text) is not None
        if "peer" in text and _PEERMEM.search(text):
            if _PEERMEM_ERROR.search(text) and _HARMLESS not in text:
                self._peermem[text] = None
                known = True
        elif of_an_hca:
            known = self._of_an_hca(text) or known
        known = self._of_the_kernel(record, of_an_hca, before_boot) or known
        refused = _REFUSED.search(text) if "oading" in text else None
        if refused is not None:
            self._refused[text] = None
        iommu = _IOMMU.search(text) if "iommu" in text else None
        if iommu is not None:
            self._iommu = iommu.group(1)
        return known or refused is not None or iommu is not None

    def result(self) -> Dmesg:
        """Everything; a step of what failed is told by the failure."""
        hca = list(self._hca.values())
        for step, whole in _STEPS:
            failed = {message.device for message in hca if whole.search(message.text)}
            hca = [message for message in hca if not (step.fullmatch(message.text) and message.device in failed)]
        return Dmesg(
            hca=tuple(hca),
            kernel=tuple(self._kernel.values()),
            peermem=tuple(self._peermem),
            firmware=tuple(self._firmware),
            xids=tuple(xid for _place, xid in sorted(self._xids.values(), key=itemgetter(0))),
            sxids=tuple(self._sxids.values()),
            refused=tuple(self._refused),
            iommu=self._iommu,
        )

    def _of_the_kernel(self, record: Record, of_an_hca: bool, before_boot: bool) -> bool:
        text = record.text
        if not any(map(text.__contains__, _OF_A_RULE)):
            return False
        for label, literal, over in _OVER:
            ended = over.search(text) if literal in text else None
            if ended is not None:
                self._kernel.pop(ended.expand(label), None)
        for known, literal, pattern in _KERNEL:
            match = pattern.search(text) if literal in text else None
            if match is None:
                continue
            # What an HCA's link did is told of the HCA.
            if not (of_an_hca and _LINK in text):
                label = (match.expand(known.label) if known.label else match.group(0)).strip()
                kind, means = known.kind, known.means
                if before_boot and kind == kernel_log.FAILURE:
                    kind, means = kernel_log.WARNING, f"in the boot before this, {means}"
                self._kernel[label] = Message(kind, "", label, means, seconds=record.seconds)
            return True
        return False

    def _of_an_hca(self, text: str) -> bool:
        at = _DEVICE.search(text)
        device = (at.group(1) or at.group(2)) if at else ""
        firmware = _FIRMWARE.search(text)
        if firmware is not None:
            self._firmware[(device, firmware.group(1))] = None
        if _kernel_drivers.OVER.search(text):
            for key, entry in self._hca.items():
                if entry.device == device and entry.kind == kernel_log.FAILURE:
                    self._hca[key] = replace(entry, recovered=True)
            return True
        for known, literal, pattern in _HCA:
            match = pattern.search(text) if literal in text else None
            if match is not None:
                label = match.expand(known.label) if known.label else match.group(0)
                found = Message(known.kind, device, label.strip(), known.means)
                # Seen again it is no longer recovered; its place stays that of the first time.
                self._hca[(found.kind, device, found.text)] = found
                return True
        return False

    def _nvidia(self, text: str) -> bool:
        xid = _XID.search(text) or _MASKED_XID.search(text)
        sxid = _SXID.search(text) or _MASKED_SXID.search(text)
        if xid is not None:
            self._xid(xid.group(1), int(xid.group(2)), xid.group(3))
        elif sxid is not None:
            bus_id, number = sxid.group(2).lower(), int(sxid.group(3))
            found = SXid(sxid.group(1), bus_id, number, sxid.group(4))
            before = self._sxids.setdefault((found.switch + bus_id, number), found)
            # What was slight at first counts by the worst that came.
            if found.text.lower().startswith(_FATAL) and not before.text.lower().startswith(_FATAL):
                self._sxids[(found.switch + bus_id, number)] = found
        known = xid is not None or sxid is not None
        gpu = _GPU.search(text)
        if gpu is not None:
            self._gpu, self._gpu_lines = gpu.group(1), _GPU_LINES
        if self._gpu and _FALLEN in text:
            self._xid(self._gpu, _XID_FALLEN, "GPU has fallen off the bus.")
            self._gpu = ""
            known = True
        self._gpu_lines -= 1
        if self._gpu_lines <= 0:
            self._gpu = ""
        return known

    def _xid(self, bus_id: str, number: int, text: str) -> None:
        bus_id = bus_id.lower()
        found = (self._n_xids, Xid(bus_id, number, text))
        self._n_xids += 1
        if self._xids.setdefault((bus_id, number, False), found) is not found:
            self._xids[(bus_id, number, True)] = found
