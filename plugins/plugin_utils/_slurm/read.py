# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a topology.conf or a topology.yaml as Slurm does; what Slurm refuses is a ParseError with its line.

Sources: topology.conf(5) and topology.yaml(5); Slurm's reader of lines (parse_config.c); the plugins' own refusals
(switch_record.c, block_record.c).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from graphlib import CycleError
from typing import TypeVar

from yaml import MappingNode, Node, ScalarNode, SequenceNode, YAMLError

from ...module_utils._ground.text import ParseError
from .._ground import yaml
from . import hostlist
from .model import BLOCK, LONGEST, TREE, Block, Switch, Topology

T = TypeVar("T")

_CONF, _YAML = "topology.conf", "topology.yaml"
# What is blank is ASCII: any other blank is part of a name to Slurm.
_BLANK = " \t\r\v\f"
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)', re.ASCII)
_OTHERS = ("flat", "ring", "torus3d")
_LONG = 1 << 24
_LEVELS = 16


def conf(text: str) -> tuple[Topology, ...]:
    """The one topology of a topology.conf: a tree, or blocks."""
    switches: list[Switch] = []
    blocks: list[Block] = []
    sizes: tuple[int, ...] = ()
    for number, line in _lines(text):
        pairs = _pairs(number, line)
        kind = next(iter(pairs))
        if kind == "switchname":
            _only(_CONF, number, line, pairs, ("switchname", "nodes", "switches", "linkspeed"))
            nodes, children = (_names(_CONF, number, line, pairs.get(key)) for key in ("nodes", "switches"))
            switches.append(Switch(pairs[kind], nodes, children, number))
        elif kind == "blockname":
            _only(_CONF, number, line, pairs, ("blockname", "nodes"))
            blocks.append(Block(pairs[kind], _names(_CONF, number, line, pairs.get("nodes")), number))
        elif kind == "blocksizes":
            _only(_CONF, number, line, pairs, ("blocksizes",))
            sizes = _sizes(_CONF, number, line, pairs[kind].split(","))
        else:
            raise ParseError(_CONF, number, line, "neither SwitchName, BlockName nor BlockSizes")
    if switches and (blocks or sizes):
        raise ParseError(_CONF, 0, "", "switches and blocks in one file: a topology.conf is for one plugin")
    if not switches and not blocks:
        raise ParseError(_CONF, 0, "", "neither a switch nor a block in it")
    kind = TREE if switches else BLOCK
    return (_sound(_CONF, Topology(kind, "", tuple(switches), tuple(blocks), sizes)),)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """What is no comment. The line after a backslash at the end goes on right there, without a blank between."""
    if len(text) > _LONG:
        raise ParseError(_CONF, 0, "", f"longer than {_LONG} characters")
    begun, number = "", 0
    for at, line in enumerate([*text.split("\n"), ""], 1):
        number = number or at
        body, comment, _words = line.partition("#")
        said, backslash, after = body.rstrip(_BLANK).partition("\\")
        if after or "\0" in said or (comment and body.endswith("\\")):
            raise ParseError(_CONF, at, line, "a backslash or a NUL inside of a line")
        begun += said
        if not backslash:
            if begun.strip(_BLANK):
                yield number, begun.strip(_BLANK)
            begun, number = "", 0


def _pairs(number: int, line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    end = 0
    while match := _PAIR.match(line, end):
        key = match[1].lower()
        if key in found:
            raise ParseError(_CONF, number, line, f"{match[1]} twice")
        found[key] = match[2] if match[3] is None else match[3]
        end = match.end()
    if line[end:].strip(_BLANK) or not found:
        raise ParseError(_CONF, number, line, f"{line[end:].strip(_BLANK)!r} is no KEY=VALUE")
    return found


def _only(tool: str, number: int, line: str, keys: Sequence[str] | dict[str, str], known: Sequence[str]) -> None:
    strange = next((key for key in keys if key not in known), None)
    if strange is not None:
        raise ParseError(tool, number, line, f"{strange!r} is none of {', '.join(known)}")


def _names(tool: str, number: int, line: str, text: str | None) -> tuple[str, ...]:
    if not text:
        return ()
    try:
        return tuple(dict.fromkeys(hostlist.expand(text)))
    except ValueError as exc:
        raise ParseError(tool, number, line, str(exc)) from None


def _sizes(tool: str, number: int, line: str, words: Sequence[str]) -> tuple[int, ...]:
    """Every size is the first times a power of two."""
    if not all(re.fullmatch(r"[1-9][0-9]{0,8}", word.strip()) for word in words) or not words:
        raise ParseError(tool, number, line, "a block size is a number from 1 on")
    sizes = tuple(int(word) for word in words)
    for size in sizes:
        times = size // sizes[0]
        if size % sizes[0] or times.bit_count() != 1 or times.bit_length() > _LEVELS:
            raise ParseError(tool, number, line, f"{size} is not {sizes[0]} times a power of two below 2^{_LEVELS}")
    return sizes


def yml(text: str) -> tuple[Topology, ...]:
    """Every topology of a topology.yaml."""
    if len(text) > _LONG:
        raise ParseError(_YAML, 0, "", f"longer than {_LONG} characters")
    try:
        root = yaml.compose(text)
    except (YAMLError, ValueError) as exc:
        raise ParseError(_YAML, 0, "", f"no YAML: {' '.join(str(exc).split())}") from None
    if root is None:
        raise ParseError(_YAML, 0, "", "there is no topology in it")
    found = tuple(_topology(entry) for entry in _items(root))
    twice = next((name for name, n in Counter(entry.name for entry in found).items() if n > 1), None)
    if twice is not None or not found:
        raise ParseError(_YAML, 0, "", "there is no topology in it" if not found else f"topology {twice} twice")
    return found


def _topology(node: Node) -> Topology:
    keys = _keys(node, ("topology", "cluster_default", TREE, BLOCK, *_OTHERS))
    kinds = [key for key in keys if key not in ("topology", "cluster_default")]
    if "topology" not in keys or len(kinds) != 1:
        raise _wrong(node, f"a topology has a name and one of {', '.join((TREE, BLOCK, *_OTHERS))}")
    name, kind = _text(keys["topology"]), kinds[0]
    if kind == TREE:
        inside = _keys(keys[kind], ("switches",))
        switches = tuple(_each(inside, "switches", _switch, keys[kind]))
        return _sound(_YAML, Topology(kind, name, switches))
    if kind == BLOCK:
        inside = _keys(keys[kind], ("block_sizes", "blocks"))
        blocks = tuple(_each(inside, "blocks", _block, keys[kind]))
        given = inside.get("block_sizes")
        sizes: tuple[int, ...] = ()
        if given is not None:
            sizes = _sizes(_YAML, _line(given), "block_sizes", [_text(size) for size in _items(given)])
        return _sound(_YAML, Topology(kind, name, (), blocks, sizes))
    return Topology(kind, name)


def _each(inside: dict[str, Node], key: str, read: Callable[[Node], T], where: Node) -> Iterator[T]:
    if key not in inside:
        raise _wrong(where, f"no {key} in it")
    yield from map(read, _items(inside[key]))


def _switch(node: Node) -> Switch:
    keys = _keys(node, ("switch", "children", "nodes"))
    name, children, nodes = (_text(keys[key]) if key in keys else "" for key in ("switch", "children", "nodes"))
    line = _line(node)
    return Switch(name, _names(_YAML, line, nodes, nodes), _names(_YAML, line, children, children), line)


def _block(node: Node) -> Block:
    keys = _keys(node, ("block", "nodes"))
    name, nodes = (_text(keys[key]) if key in keys else "" for key in ("block", "nodes"))
    return Block(name, _names(_YAML, _line(node), nodes, nodes), _line(node))


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _wrong(node: Node, why: str) -> ParseError:
    return ParseError(_YAML, _line(node), str(node.value) if isinstance(node, ScalarNode) else "", why)


def _items(node: Node) -> list[Node]:
    if not isinstance(node, SequenceNode):
        raise _wrong(node, "a list is needed here")
    return list(node.value)


def _keys(node: Node, known: Sequence[str]) -> dict[str, Node]:
    if not isinstance(node, MappingNode):
        raise _wrong(node, f"keys are needed here: {', '.join(known)}")
    found: dict[str, Node] = {}
    for key, value in node.value:
        name = _text(key)
        if name in found:
            raise _wrong(key, f"{name} twice")
        _only(_YAML, _line(key), name, [name], known)
        found[name] = value
    return found


def _text(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        raise _wrong(node, "a text is needed here")
    return str(node.value)


def _sound(tool: str, found: Topology) -> Topology:
    """The same; ParseError where Slurm would end over it."""
    named: set[str] = set()
    for entry in found.entries:
        if not entry.name or len(entry.name) > LONGEST:
            raise ParseError(tool, entry.line, entry.name, f"a name has 1 to {LONGEST} characters")
        if entry.name in named:
            raise ParseError(tool, entry.line, entry.name, "a second one of this name")
        named.add(entry.name)
    for block in found.blocks:
        if not block.nodes:
            raise ParseError(tool, block.line, block.name, "a block without nodes")
    for switch in found.switches:
        if switch.nodes and switch.children:
            raise ParseError(tool, switch.line, switch.name, "a switch has nodes or switches below it, not both")
        lost = next((child for child in switch.children if child not in named), None)
        if lost is not None:
            raise ParseError(tool, switch.line, switch.name, f"{lost} is below it, and nothing says what that is")
    try:
        found.upwards()
    except CycleError as exc:
        circle = min((switch for switch in found.switches if switch.name in exc.args[1]), key=lambda each: each.line)
        raise ParseError(tool, circle.line, circle.name, "it is below itself: no tree") from None
    return found
