# SPDX-License-Identifier: GPL-3.0-or-later
"""Every value that a text tells, by its path in the words of the source: nothing is picked, nothing judged.

Paths are ``TITLE/KEY``; a key that is told again is ``KEY#2``. What a parser of its own makes typed
facts of is read once more here, so that a value which nobody asked for is seen as well.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Dict

from .._ground.text import clean_lines
from . import pci_config

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Leaves = Dict[str, str]
# A key ends at its colon; what is longer is a sentence.
_KEY = re.compile(r"\s*([A-Za-z][^:]{0,60}?)\s*:\s?(.*)$")
# ``tc: 3 ratelimit: unlimited``: the number belongs to the key, as does the name in ``Link 3: CRC Errors: 0``.
_MORE_KEY = re.compile(r"(\d{1,3}(?=\s+\w+:)|[A-Z][A-Za-z ]*(?=:\s))[\s:]+(.*)$")
# ``link mlx5_0/1 state ACTIVE physical_state LINK_UP``
_PAIRS, _PAIR = re.compile(r"\w+ \S+( [a-z_]{1,40} \S{1,200}){1,60}"), re.compile(r"([a-z_]+) (\S+)")
_NAME, _PORT = re.compile(r"[\w.:/-]*\w"), re.compile(r" port (\d+)")


class _Numbered:
    """Leaves in their order; one that is told again gets the next number."""

    def __init__(self) -> None:
        self.leaves: Leaves = {}
        self._times: dict[str, int] = {}

    def put(self, name: str, value: str) -> None:
        times = self._times[name] = self._times.get(name, 0) + 1
        self.leaves[name if times == 1 else f"{name}#{times}"] = " ".join(value.split())


def of_element(element: Element) -> Leaves:
    """Below one element of an XML text."""
    found = _Numbered()
    for child in element:
        _walk(child, "", found)
    return found.leaves


def of_text(text: str) -> Leaves:
    """Lines of ``key: value`` below the title above them, and tables by the first word of a line."""
    found = _Numbered()
    title = ""
    lines = clean_lines(text)
    for line, below in zip(lines, [*lines[1:], ""]):
        words = line.strip()
        if _is_rule(words):
            continue
        if _is_rule(below.strip()):
            title = f"{words}/"
            continue
        match = _KEY.match(line)
        if match:
            key, value = match.groups()
            more = _MORE_KEY.match(value.strip())
            if more:
                key, value = f"{key} {more.group(1)}", more.group(2)
            found.put(title + key, value)
        elif len(words.split()) > 1:
            key, value = words.split(None, 1)
            found.put(title + key, value)
    return found.leaves


def of_blocks(text: str) -> dict[str, Leaves]:
    """What a text tells of each of many things, by every word of the line that names it (``mlx5_0/1`` of a port): the
    lines that are indented below that one, or what stands behind the name in it. Of JSON, what is below each key.
    """
    found: dict[str, Leaves] = {}
    if text.lstrip().startswith("{"):
        try:
            _below_keys(json.loads(text), found)
        except (ValueError, RecursionError):
            return {}
        return found
    blocks: list[list[str]] = []
    for line in clean_lines(text):
        if line[:1].isspace() and blocks:
            blocks[-1].append(line)
        elif line.strip():
            blocks.append([line])
    for head, *below in blocks:
        told = of_text("\n".join(below)) if below else _of_pairs(head)
        port = _PORT.search(head)
        for name in _NAME.findall(head):
            found.setdefault(f"{name}/{port.group(1)}" if port else name, told)
    return found


def _of_pairs(line: str) -> Leaves:
    words = " ".join(line.split())
    return dict(_PAIR.findall(words) if _PAIRS.fullmatch(words) else ())


def _below_keys(value: Any, found: dict[str, Leaves]) -> None:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, (dict, list)):
            told = _Numbered()
            _flat(inner, "", told)
            found.setdefault(str(key), told.leaves)
            _below_keys(inner, found)


def _flat(value: Any, path: str, found: _Numbered) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _flat(inner, f"{path}/{key}".lstrip("/"), found)
    elif isinstance(value, list):
        for inner in value:
            _flat(inner, path, found)
    else:
        found.put(path, str(value))


def _is_rule(words: str) -> bool:
    return bool(words) and set(words) <= set("-=")


def of_config(data: bytes) -> Leaves:
    """What the control registers of a PCI function are set to; {} where they were kept from us."""
    return {name: f"0x{value:04x}" for name, value in pci_config.controls(data).items()}


def _walk(node: Element, path: str, found: _Numbered) -> None:
    if len(node):
        for child in node:
            _walk(child, f"{path}{node.tag}/", found)
    else:
        found.put(path + node.tag, node.text or "")
