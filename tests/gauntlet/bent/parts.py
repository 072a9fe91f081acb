# SPDX-License-Identifier: GPL-3.0-or-later
"""Which raw texts of a node tell of one part of it (a GPU, an HCA, the host), and the leaves of these."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._equals import compare
from tests.gauntlet.bent import texts
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

GPU, HCA, HOST = "GPU", "HCA", "host"
# What programs of ours say, what is told one after the other as it happened, what a person writes, and lists of all
# that is installed.
_NO_TOOL = re.compile(r"container_probe|nccl_|dmesg|ipmi_sel|apt_check|^/(?:etc|dev|lib|usr|var|boot)/|/vpd$|/mounts$")
# What the product calls the files of a part.
_SOURCES = {
    r"/sys/bus/pci/devices/\*/config/": "PCI config/",
    r"/sys/bus/pci/devices/\*/|/sys/class/infiniband/\*/device/": "PCI/",
    r"/sys/class/infiniband/\*/(?:ports/\d+/)?": "rdma/",
    r"/sys/class/net/\*/": "net/",
    r"nvsmi_xml/": "nvidia-smi/",
}
_NO_VALUE = re.compile(r"^/proc/(?:\d+|self|cmdline|uptime|loadavg)|efivars|uverbs")
_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_NUMBERS = re.compile(r"\d+")
# The control registers of a PCI function: the command register, and those of the capability PCI Express by place.
_COMMAND, _POINTER, _EXPRESS = 0x04, 0x34, 0x10
_CONTROLS = {"device control": 0x08, "link control": 0x10, "device control 2": 0x28, "link control 2": 0x30}


@dataclass(frozen=True)
class Part:
    """``names``: the words by which a finding or a text may call it; () of a host."""

    kind: str
    names: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        """Whether one of its names is a word of the text."""
        return any(re.search(rf"(?<![\w.:-]){re.escape(name)}(?![\w.])", text) for name in self.names)

    def without(self, text: str) -> str:
        """The text with ``*`` in the place of its names."""
        for name in self.names:
            text = re.sub(rf"(?<![\w.:-]){re.escape(name)}(?![\w.])", "*", text)
        return text


class Spot(NamedTuple):
    """A leaf of what a node tells of a part. ``entry``: a command's, or a path; ``source``: without names of parts."""

    part: Part
    entry: str
    source: str
    leaf: texts.Leaf

    @property
    def path(self) -> str:
        return f"{self.source}/{self.leaf.path}".rstrip("/")

    @property
    def kind(self) -> str:
        """What its like within one part share: link 3 and link 4 have leaves of one kind."""
        return _NUMBERS.sub("*", self.path)

    def bend(self, tree: Tree, way: str, draw: Random) -> bool:
        """Bend it in the tree; whether it can be in this way."""
        if self.entry.startswith("/"):
            place = tree._resolve(self.entry)
            if way == texts.MISSING and not self.leaf.path:
                tree.remove(place)
                return True
            new = texts.bent(self.leaf, way, draw)
            if new is not None:
                tree.file(place, new.encode("latin-1") if self.entry.endswith("/config") else new)
        else:
            new = texts.bent(self.leaf, way, draw)
            if new is not None:
                tree.commands[self.entry] = replace(tree.commands[self.entry], stdout=new)
        return new is not None


def parts(node: Node) -> list[Part]:
    """Every HCA and every GPU."""
    hcas = [
        Part(HCA, (one.name, *([one.netdev] if one.netdev else []), one.address, f"NIC{at}"))
        for at, one in enumerate(node.hcas)
    ]
    gpus = [
        Part(
            GPU,
            (one.address, f"0000{one.address}", f"GPU {one.index}", f"GPU{one.index}", f"nvidia{one.index}", one.uuid),
        )
        for one in node.cards
    ]
    return hcas + gpus


def name(spot: Spot) -> str:
    """The leaf as the product calls it."""
    path = spot.path
    for folder, source in _SOURCES.items():
        path = re.sub(f"^(?:{folder})", source, path)
    return path


def excuse(spot: Spot) -> str:
    """The reason why nobody has to find what is bent here: the product's, or that of excuses.yml; "" without one."""
    path = name(spot)
    own = (str(row["reason"]) for row in excuses() if re.search(row["leaf"], compare.plain(path)))
    return compare.excuse(path) or next(own, "")


@cache
def excuses() -> list[dict[str, Any]]:
    """The rows of excuses.yml."""
    found: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "excuses.yml").read_text())
    return found


def drawn(node: Node, draw: Random) -> list[Part]:
    """The host itself, one HCA that is a rail, and one GPU."""
    every = parts(node)
    rails = {one.name for one in node.rails or node.hcas}
    kinds = ([one for one in every if one.names[0] in rails], [one for one in every if one.kind == GPU])
    return [Part(HOST, ()), *(draw.choice(kind) for kind in kinds if kind)]


def spots(tree: Tree, asked: Collection[str], part: Part, every: Sequence[Part]) -> Iterator[Spot]:
    """Each leaf of what was asked of the tree that tells of this part."""
    known: set[str] = set()
    for entry in asked:
        place = tree._resolve(entry) if entry.startswith("/") else entry
        if place not in known and not _NO_TOOL.search(entry):
            known.add(place)
            source = part.without(entry if entry.startswith("/") else entry.partition("@")[0])
            for leaf in _leaves(tree, entry, part, every):
                yield Spot(part, entry, source, leaf._replace(path=part.without(leaf.path)))


def _leaves(tree: Tree, entry: str, part: Part, every: Sequence[Part]) -> Iterator[texts.Leaf]:
    is_file = entry.startswith("/")
    if is_file and (_NO_VALUE.search(entry) or (not part.is_in(entry) and (part.names or _owned(entry, every)))):
        return
    if entry.endswith("/config"):
        yield from _registers(tree.read_bytes(entry))
        return
    text = tree.read(entry) if is_file else tree.commands[entry].stdout
    if is_file and "\n" not in text.strip():
        yield texts.Leaf("", text.strip(), lambda new: new or "")
    elif is_file or part.is_in(entry) or not part.names:
        if is_file or part.names or not _owned(f"{entry}\n{text}", every):
            yield from texts.leaves(text) if text.lstrip()[:1] not in ("{", "[") else texts.of_json(text)
    elif "@" not in entry:
        yield from _of_one(text, part)


def _owned(text: str, every: Sequence[Part]) -> bool:
    return bool(_ADDRESS.search(text)) or any(one.is_in(text) for one in every)


def _of_one(text: str, part: Part) -> Iterator[texts.Leaf]:
    """What a text that tells of many parts tells of this one."""
    if text.lstrip().startswith("<"):
        for name in part.names:
            at = text.find(f'<gpu id="{name}"')
            if at >= 0:
                yield from texts.leaves(text, at, text.index("</gpu>", at) + len("</gpu>"))
    elif text.lstrip()[:1] in ("{", "["):
        yield from texts.of_json(text, partial(_chosen, part))
    else:
        yield from _of_blocks(text, part)


def _of_blocks(text: str, part: Part) -> Iterator[texts.Leaf]:
    """A line with a name of the part, and those below it that are indented more."""
    at = 0
    head: int | None = None
    begin = at
    for line in [*text.splitlines(keepends=True), ""]:
        indent = len(line) - len(line.lstrip())
        if head is not None and (not line.strip() or indent <= head):
            yield from texts.leaves(text, begin, at)
            head = None
        if head is None and part.is_in(line.split("\t")[0] if line.count("\t") > 4 else line):
            head, begin = indent, at
        at += len(line)


def _chosen(part: Part, value: Any) -> Any:
    """The object of a JSON text that has a name of the part as its key, or as its interface's name."""
    if isinstance(value, dict):
        if value.get("ifname") in part.names:
            return value
        for key, inner in value.items():
            if key in part.names:
                return inner
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found = _chosen(part, inner)
        if found:
            return found
    return {}


def _registers(data: bytes) -> Iterator[texts.Leaf]:
    at = data[_POINTER]
    while at and data[at] != _EXPRESS:
        at = data[at + 1]
    places = {"command": _COMMAND, **({name: at + place for name, place in _CONTROLS.items()} if at else {})}
    for name, place in places.items():
        if place + 2 <= len(data):
            value = f"0x{int.from_bytes(data[place : place + 2], 'little'):04x}"
            yield texts.Leaf(name, value, partial(_with_register, data, place))


def _with_register(data: bytes, place: int, value: str | None) -> str:
    word = int(value, 16).to_bytes(2, "little") if value is not None else b"\xff\xff"
    return (data[:place] + word + data[place + 2 :]).decode("latin-1")
