# SPDX-License-Identifier: GPL-3.0-or-later
"""Undo what stands around a text as it was printed, a layer at a time; each counts only where every line has it."""

from __future__ import annotations

import ast
import html
import json
import re
from typing import Any, Callable, Iterable

from .._ground.bound import Bound

STEPS: Bound = 5
LONGEST: Bound = 2 << 20
# What Chinese input methods put for ASCII's, and what word processors do.
_FULL: dict[int, int | str] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    0x3000: " ",
    0x201C: '"',
    0x201D: '"',
}
_FULL.update({0x2018: "'", 0x2019: "'"})
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|nbsp|apos|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
# Where Ansible's results and containers' logs have what was printed; stderr stands beside stdout.
_KEYS = ("stdout_lines", "stdout", "log", "msg", "message", "MESSAGE", "line", "text", "stderr_lines", "stderr")
_RESULT = re.compile(r"(?:ok|changed|fatal|failed|skipping): \[[^\]\n]{1,200}\](?:: \w{1,20}!)? ?=> ?")
# GitHub makes a link of a file's name: [net_ib.cc:101](http://net_ib.cc:101/).
_LINK = re.compile(r"\[([^\[\]\s]{1,200})\]\(https?://\1/?\)")
# One string and no expression of several, of which a hostile one takes Python's parser down.
_STRING = re.compile(r"\s*\[?((['\"])(?:\\.|(?!\2)[^\\])*\2),?\]?\s*")
_NUMBER = re.compile(r" {0,6}(\d{1,7})(?:\t|[:-](?! ))(.*)")
_FILE = re.compile(r"([\w./-]{1,120}\.\w{1,8})[:-](?:\d{1,7}[:-])?(.*)")
_WIDTHS = (79, 80, 100, 120, 132)


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _is_result(value: Any) -> bool:
    return isinstance(value, dict) and "stdout" in value


def _text_of(value: Any) -> str:
    """What a JSON value says was printed; "" where it has nothing of the kind."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return _joined(value)
    if isinstance(value, dict):
        told = {key: _text_of(value[key]) for key in _KEYS if value.get(key)}
        said = [told[key] for key in _KEYS if told.get(key) and key.replace("_lines", "") != "stderr"][:1]
        said += [told[key] for key in ("stderr_lines", "stderr") if told.get(key)][:1]
        # A task's registered variable is named before, or has them one level below.
        named = [one for key, one in value.items() if key.endswith(_KEYS[:2]) or _is_result(one)]
        return "".join(said) or next(filter(None, map(_text_of, named)), "")
    if not isinstance(value, str) or not value:
        return ""
    return value if value.endswith("\n") else f"{value}\n"


def _json(text: str) -> str:
    """What JSON says was printed: the whole text's, or that of each line."""
    whole = text.strip()
    head = _RESULT.match(whole)
    whole = whole[head.end() :] if head else whole
    for values in ([whole], _lines(text)) if whole.startswith(("{", "[", '"')) else ():
        try:
            found = [_text_of(json.loads(value)) for value in values]
        except (ValueError, RecursionError):
            continue
        return "".join(found) if all(found) else text
    return text


def _strings(text: str) -> str:
    """A list of strings as Python prints it, a line each."""
    found = [_STRING.fullmatch(line) for line in _lines(text)]
    try:
        told = [ast.literal_eval(match[1]) for match in found if match]
    except (ValueError, SyntaxError):
        return text
    return _joined(told) if len(told) == len(found) > 1 and all(isinstance(one, str) for one in told) else text


def _numbers(text: str) -> str:
    """What cat -n and grep -n put first: numbers that rise."""
    found = [_NUMBER.fullmatch(line) for line in text.split("\n") if line]
    numbers = [int(match[1]) for match in found if match]
    rise = len(numbers) == len(found) > 1 and all(one < two for one, two in zip(numbers, numbers[1:]))
    return _joined(match[2] for match in found if match) if rise else text


def _files(text: str) -> str:
    found = [_FILE.fullmatch(line) for line in text.split("\n") if line]
    same = len({match[1] if match else None for match in found}) == 1 < len(found)
    return _joined(match[2] for match in found if match) if same and found[0] else text


def _table(text: str) -> str:
    """Markdown's, of one column; nvidia-smi's own has bars at the ends of its lines, too, and rules between."""
    told = _lines(text)
    framed = len(told) > 1 and all(line.startswith("| ") and line.rstrip().endswith(" |") for line in told)
    inner = [line.rstrip()[2:-2] for line in told]
    own = not any(line.startswith(("+", "|")) for line in inner) and any("|" in line for line in inner)
    return text if not framed or own else _joined(inner)


def _wrapped(text: str) -> str:
    """A table with rules that a terminal cut at its width."""
    told = text.split("\n")
    width = max(map(len, told))
    full = [line for line in told if len(line) == width]
    if width not in _WIDTHS or len(full) < 4 or not any(line.startswith("+--") for line in told):
        return text
    if any(line.endswith(("+", "|")) for line in full):
        return text
    return "".join(line if len(line) == width else f"{line}\n" for line in told).rstrip("\n") + "\n"


_LAYERS: tuple[Callable[[str], str], ...] = (
    _json,
    _strings,
    _numbers,
    _files,
    _table,
    lambda text: html.unescape(text) if _ENTITY.search(text) else text,
    lambda text: text if text.isascii() else text.translate(_FULL),
    lambda text: _LINK.sub(r"\1", text),
    # How syslog writes the end of a line.
    lambda text: text.replace("#012", "\n"),
    _wrapped,
)


def undone(text: str) -> str:
    """The text as it was printed."""
    if len(text) > LONGEST:
        return text
    text = text.replace("\r\n", "\n")
    for _step in range(STEPS):
        inner = next((found for layer in _LAYERS if (found := layer(text)) != text), text)
        if inner == text:
            break
        text = inner
    return text
