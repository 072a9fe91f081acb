# SPDX-License-Identifier: GPL-3.0-or-later
"""What switches' running configurations have alike: commands in blocks by indentation, between a head and an end."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...module_utils._ground.text import clean_lines, ends_early, printable
from .port import SwitchPort, Text, Told, numbers

MTUS = range(68, 65536)
_DEPTH = 8
# What a terminal puts between the lines, or says in place of them.
_NOISE = re.compile(r"-{2,3} ?[Mm]ore ?-{2,3}|^\s*%|^\s*\^$|Invalid (?:command|input)")


@dataclass
class Block:
    """A command with those that are indented below it."""

    number: int
    words: tuple[str, ...]
    body: list[Block] = field(default_factory=list)

    @property
    def said(self) -> str:
        return " ".join(self.words)


def lines_of(text: Text, head: re.Pattern[str], command: str) -> tuple[int, list[str]]:
    """All lines, and in which the head stands; ParseError without one, with two, or of a text that was cut.

    No line is quoted that may be anything: configurations hold passwords.
    """
    lines = clean_lines(text.text)
    if ends_early(text.text):
        raise text.refuse(len(lines), "", "the text ends within this line: it was cut")
    heads = [number for number, line in enumerate(lines, 1) if head.fullmatch(line)]
    if len(heads) != 1:
        said = "no head" if not heads else "several heads"
        at = heads[1] if heads else min(1, len(lines))
        raise text.refuse(at, "", f"{said} of what `{command}` prints")
    lines = _without_banners(lines)
    noise = next((number for number, line in enumerate(lines, 1) if number > heads[0] and _NOISE.search(line)), 0)
    if noise:
        raise text.refuse(noise, "", "no line of a configuration, but of a terminal")
    return heads[0], lines


def _without_banners(lines: list[str]) -> list[str]:
    """With what greets people blank: of several lines up to the first character of its text, or up to ``EOF``."""
    kept: list[str] = []
    until = ""
    for line in lines:
        words = line.split(None, 2)
        if until:
            until = "" if (line == until if until == "EOF" else until in line) else until
        elif words[:1] == ["banner"] and len(words) > 1:
            # NX-OS writes the character ^C, with which its banners are typed, as these two.
            mark = "EOF" if len(words) < 3 else "^C" if words[2].startswith("^C") else words[2][0]
            rest = words[2].removeprefix(mark) if len(words) == 3 else ""
            until = "" if mark in rest else mark
        else:
            kept.append(line)
            continue
        kept.append("")
    return kept


def tree(text: Text, numbered: Iterable[tuple[int, str]]) -> list[Block]:
    """The commands in their blocks; ``!`` begins a comment."""
    top: list[Block] = []
    above: list[tuple[int, list[Block]]] = [(-1, top)]
    for number, line in numbered:
        said = line.strip()
        if not said or said.startswith("!"):
            continue
        indent = len(line) - len(line.lstrip())
        while indent <= above[-1][0]:
            above.pop()
        block = Block(number, tuple(said.split()))
        above[-1][1].append(block)
        if len(above) > _DEPTH:
            raise text.refuse(number, "", "blocks nested too deep")
        above.append((indent, block.body))
    if not any(block.body for block in top):
        raise text.refuse(0, "", "no line is indented: nothing tells of which block a line is")
    return top


def quote(text: Text, *blocks: Block | None) -> str:
    """How a finding quotes these commands."""
    return "; ".join(dict.fromkeys(text.line(block.number, block.said) for block in blocks if block is not None))


def named(text: Text, blocks: Iterable[Block], kept: Callable[[Block], str]) -> dict[str, Block]:
    """By the name that ``kept`` gives them, "" for those without; ParseError where a name is there twice."""
    found: dict[str, Block] = {}
    for block in blocks:
        name = kept(block)
        if name and name in found:
            raise text.refuse(block.number, block.said, f"{printable(name)} is there twice")
        if name:
            found[name] = block
    return found


def mtu_of(text: Text, block: Block) -> Told[int]:
    """Of a command ``mtu 9216``."""
    said = block.words[1] if len(block.words) == 2 else ""
    if not (said.isascii() and said.isdecimal() and len(said) < 6 and int(said) in MTUS):
        raise text.refuse(block.number, block.said, "no MTU")
    return Told(int(said), quote(text, block))


def numbers_of(text: Text, block: Block, said: str, within: range) -> tuple[int, ...]:
    """The numbers that a command has, at least one, apart by commas or blanks."""
    try:
        found = numbers(",".join(said.replace(",", " ").split()), within)
    except ValueError as exc:
        raise text.refuse(block.number, block.said, str(exc)) from exc
    if not found:
        raise text.refuse(block.number, block.said, "no number")
    return found


def channel_of(text: Text, member: Block | None, prefix: str, known: Container[str]) -> str:
    """The port channel of an interface that has this ``channel-group``, "" without one; ParseError for an unknown."""
    if member is None:
        return ""
    name = f"{prefix}{''.join(member.words[1:2])}"
    if name not in known:
        raise text.refuse(member.number, member.said, "no such port channel")
    return name


def apart(
    text: Text,
    port: SwitchPort,
    mine: Mapping[str, Block],
    its: Mapping[str, Block],
    facts: Mapping[str, tuple[str, ...]],
) -> SwitchPort:
    """A member of a port channel without the facts of those subjects of which it says anything but what that says."""
    lost: dict[str, Any] = {}
    for subject, names in facts.items():
        own, other = mine.get(subject), its.get(subject)
        if own is not None and (other is None or other.said != own.said):
            beside = quote(text, other) or "nothing of it"
            why = f"{quote(text, own)}; its port channel has {beside}, and nobody here knows which of them counts"
            lost.update(dict.fromkeys(names, Told(why=why)))
    return replace(port, **lost)


def without(text: Text, said: str) -> str:
    return f"{text.name}: no {printable(said)}"


def walk(blocks: Iterable[Block], *words: str) -> Iterator[Block]:
    """Those that begin with these words."""
    return (block for block in blocks if block.words[: len(words)] == words)
