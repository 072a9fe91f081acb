# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi -q`` prints, whole or what somebody cut out of it."""

from __future__ import annotations

import re
from typing import Any

from .._ground.text import ParseError, clean_lines
from . import _nvsmi, _nvsmi_keys as keys
from ._nvsmi import Gpu, Nvsmi

_TOOL = "nvsmi_q"
NOTHING: dict[str, Any] = {"driver": None, "attached_gpus": None, "gpus": [], "mig_current": []}

_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])(?: ?: ?(.{0,200}))?")


class _Block:
    """The lines of one GPU (or of the head of the log), gathered before they are read."""

    def __init__(self, bus_id: str = "") -> None:
        self.texts: dict[str, str] = {"bus_id": bus_id} if bus_id else {}
        self.events: dict[str, str] | None = None
        self.fabric: dict[str, str] = {}
        self.health: dict[str, str] = {}
        self.sick: dict[str, str] = {}
        self.programs = 0
        self.whole = False
        self.doubtful: set[str] = set()  # told in two ways: the line of a section is missing

    def put(self, name: str, value: str) -> None:
        if self.texts.setdefault(name, value) != value or name in self.doubtful:
            self.doubtful.add(name)
            del self.texts[name]


class _Reader:
    """Sorts lines by key and section; indentation tells little, it may be lost."""

    def __init__(self) -> None:
        self.top = _Block()
        self.blocks: list[_Block] = []
        self.bus_ids: set[str] = set()
        self.section = ""
        self.header = ""
        self.before = ""  # the section before the header, which may be a key without its colon
        self.waiting = ""  # a key whose value is on the next line
        self.ecc_kind = ""
        self.in_mig = False
        self.fabric_indent = -1

    def take(self, line_no: int, line: str, indent: int) -> None:
        found = _GPU.fullmatch(line)
        if found is not None:
            self._open(line_no, line, found.group(1), found.group(2) or "")
            return
        key, colon, value = line.partition(":")
        key, value = key.rstrip(), value.strip()
        if not colon and self.waiting and key.lower() not in keys.HEADERS:
            key, value, indent = self.waiting, key, max(indent, self.fabric_indent)
        elif not colon:
            self._enter(key)
        elif not key:  # wrapped before its colon
            key, self.section = self.header, self.before
        self.waiting = "" if value else key if colon else ""
        if value:
            self._put(line_no, line, indent, key, value)

    def _open(self, line_no: int, line: str, bus_id: str, said: str) -> None:
        if bus_id in self.bus_ids:
            # The same line twice in a row is a copying slip; a second block is another log's.
            if len(self.blocks[-1].texts) > 1 or self.blocks[-1].texts.get("bus_id") != bus_id:
                raise ParseError(_TOOL, line_no, line, "this GPU was already listed")
            return
        self.bus_ids.add(bus_id)
        self.blocks.append(_Block(bus_id))
        self.section, self.in_mig, self.waiting = "", False, ""
        if said:
            self.blocks[-1].texts["said"] = said

    def _enter(self, header: str) -> None:
        self.header, self.before, self.section = header, self.section, header.lower()
        self._may_end(self.section)
        if self.section in keys.ECC_KINDS:
            self.ecc_kind = self.section
        elif self.section == "double bit":
            self.section += " " + self.ecc_kind
        if self.section == "mig device":
            self.in_mig = True
        elif self.section in keys.AFTER_MIG:
            self.in_mig = False
        elif self.section == "fabric":
            self.in_mig, self.fabric_indent = False, -1
            # Without GPU lines (in what a search found) every fabric is another GPU's, and so is a second one.
            if not self.blocks or self.blocks[-1].fabric:
                self.blocks.append(_Block())

    def _put(self, line_no: int, line: str, indent: int, key: str, value: str) -> None:
        small = key.lower()
        if small in keys.TOP:
            if self.blocks:
                raise ParseError(_TOOL, line_no, line, "a second log begins here")
            self.top.put(keys.TOP[small], value)
        if small in keys.AFTER_MIG:
            self.in_mig = False
        if not self.blocks or self.in_mig:
            return
        self._may_end(small)
        block = self.blocks[-1]
        self._count(block, small, value)
        if _nvsmi.no_answer(value) and self.section not in keys.NOT_OF_GPU:
            block.sick.setdefault(small, value)
        name = keys.SECTIONS.get(self.section, {}).get(small) or keys.KEYS.get(small)
        if name:
            block.put(name, value)
        elif small in keys.ABSENT:
            for entry in keys.ABSENT[small]:
                block.texts.setdefault(entry, value)
        elif self.section in keys.EVENTS:
            block.events = {**(block.events or {}), _event(small): value}
        elif self.section == "fabric" or (self.section == "health" and block.fabric):
            self._put_fabric(block, indent, key, value)
        elif value.lower().startswith(_nvsmi.LOST + _nvsmi.NEEDS_RESET):
            block.texts["said"] = value

    def _may_end(self, name: str) -> None:
        if name == keys.LAST and self.blocks:
            self.blocks[-1].whole = True

    def _count(self, block: _Block, key: str, value: str) -> None:
        """``Processes : None``, or each program with its number."""
        if key == keys.LAST:
            block.texts["programs"] = "0" if value.lower() == keys.NO_PROGRAM else value
        elif key == keys.PROGRAM and self.section == keys.LAST:
            block.programs += 1
            block.texts["programs"] = str(block.programs)

    def _put_fabric(self, block: _Block, indent: int, key: str, value: str) -> None:
        if key.lower() in keys.AFTER_FABRIC or indent < self.fabric_indent:
            self.section = ""
        elif self.section == "health":
            block.health.setdefault(key, value)
        else:
            self.fabric_indent = indent
            block.fabric.setdefault(key, value)


def parse(text: str) -> Nvsmi:
    """Read the output of ``nvidia-smi -q``; raise ParseError where it tells of nothing."""
    lines = clean_lines(text)
    reader = _Reader()
    for line_no, line in enumerate(lines, 1):
        words = " ".join(line.split())
        if words:
            reader.take(line_no, words, len(line) - len(line.lstrip()))
    blocks = [block for block in reader.blocks if block.texts or block.fabric]
    top = reader.top.texts
    if not blocks and not top:
        raise _nvsmi.no_facts(_TOOL, lines, "no line about a driver or a GPU")
    gpus = tuple(_gpu(block) for block in blocks)
    return _nvsmi.log(lines, top.get("driver", ""), top.get("cuda", ""), top.get("attached_gpus", ""), gpus)


def facts(parsed: Nvsmi) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "driver": parsed.driver or None,
        "cuda": parsed.cuda or None,
        "attached_gpus": parsed.attached_gpus,
        "gpus": [_gpu_facts(gpu) for gpu in parsed.gpus],
        "mig_current": [gpu.mig for gpu in parsed.gpus if gpu.mig],
        "inforom_corrupted": list(parsed.inforom),
    }


def _gpu_facts(gpu: Gpu) -> dict[str, Any]:
    reported: dict[str, Any] = {key: getattr(gpu, key) for key in ("bus_id", "name", "uuid") if getattr(gpu, key)}
    if gpu.fabric_labels is not None:
        reported["fabric"] = gpu.fabric_labels
    return reported


def _gpu(block: _Block) -> Gpu:
    return _nvsmi.gpu(
        block.texts,
        block.events,
        _named(block.fabric),
        _named(block.health),
        {**block.fabric, **block.health} or None,
        block.whole and not block.doubtful,
        block.sick,
    )


def _event(label: str) -> str:
    name = label.replace(" ", "_")
    return keys.EVENT_NAMES.get(name, name)


def _named(labels: dict[str, str]) -> dict[str, str] | None:
    return {
        keys.FABRIC_NAMES.get(label, label.lower().replace(" ", "_")): text for label, text in labels.items()
    } or None
