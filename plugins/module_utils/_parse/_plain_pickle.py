# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a pickle of plain things alone: texts, numbers, lists, tuples, dictionaries. Nothing of it is ever run.

It is read by a machine of our own, which has no operation that names or calls anything; a pickle with one is refused at
that place. Everything that takes memory stands in the bytes, of which there is a most; keys are texts and numbers.
"""

from __future__ import annotations

import pickletools
import struct
from typing import Any

from .._ground.bound import Bound
from .._ground.text import ParseError

_MOST_BYTES: Bound = 256 * 1024 * 1024
_MOST_LONG: Bound = 16
_MARK = object()
# Operations by their byte: those that give a thing of their own, and those whose argument is a number of this form.
_THINGS: dict[int, Any] = {ord("N"): None, 0x88: True, 0x89: False}
_NUMBERS = {
    ord("J"): struct.Struct("<i"),
    ord("K"): struct.Struct("<B"),
    ord("M"): struct.Struct("<H"),
    ord("G"): struct.Struct(">d"),
}
# Whose argument has its length before it.
_TEXTS = {ord("X"): struct.Struct("<I"), 0x8C: struct.Struct("<B"), 0x8D: struct.Struct("<Q")}
_LONGS = {0x8A: struct.Struct("<B"), 0x8B: struct.Struct("<i")}
_PUT = {ord("q"): struct.Struct("<B"), ord("r"): struct.Struct("<I")}
_GET = {ord("h"): struct.Struct("<B"), ord("j"): struct.Struct("<I")}
_SKIPPED = {0x80: 1, 0x95: 8}
_TUPLES = {0x85: 1, 0x86: 2, 0x87: 3}
_SINCE_MARK = frozenset(b"tldeu")
_NAMES = {operation.code: operation.name for operation in pickletools.opcodes}


class _Refused(Exception):
    pass


def load(tool: str, data: bytes) -> Any:
    """What the pickle holds; ParseError where it is damaged, too large, or holds anything but plain things."""
    if len(data) > _MOST_BYTES:
        raise ParseError(tool, 0, "", f"holds {len(data)} bytes, more than are read")
    try:
        return _Machine(data).run()
    except _Refused as exc:
        raise ParseError(tool, 0, "", str(exc)) from exc
    except (ValueError, IndexError, KeyError, TypeError, struct.error, OverflowError, MemoryError) as exc:
        raise ParseError(tool, 0, "", "a pickle that is damaged or cut") from exc


class _Machine:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._kept: dict[int, Any] = {}

    def run(self) -> Any:
        while True:
            code = self._data[self._at]
            self._at += 1
            if code == ord("."):
                if len(self._stack) != 1 or self._stack[0] is _MARK:
                    raise ValueError("not one thing at its end")
                return self._stack[0]
            if not (self._gives(code) or self._keeps(code) or self._collects(code)):
                name = _NAMES.get(chr(code), f"byte {code:#04x}")
                raise _Refused(f"not read: {name} at byte {self._at - 1}, which plain things do not need")

    def _number(self, form: struct.Struct) -> Any:
        (value,) = form.unpack_from(self._data, self._at)
        self._at += form.size
        return value

    def _bytes(self, size: int) -> bytes:
        if size < 0 or size > len(self._data) - self._at:
            raise ValueError("cut")
        self._at += size
        return self._data[self._at - size : self._at]

    def _gives(self, code: int) -> bool:
        """Put a thing onto the stack, where that is what the operation does."""
        if code in _THINGS:
            given = _THINGS[code]
        elif code in _NUMBERS:
            given = self._number(_NUMBERS[code])
        elif code in _TEXTS:
            given = self._bytes(self._number(_TEXTS[code])).decode("utf-8", "replace")
        elif code in _LONGS:
            raw = self._bytes(self._number(_LONGS[code]))
            if len(raw) > _MOST_LONG:
                raise _Refused("a number of too many digits")
            given = int.from_bytes(raw, "little", signed=True)
        elif code in b"])}":
            given = [] if code == ord("]") else () if code == ord(")") else {}
        elif code in _GET:
            given = self._kept[self._number(_GET[code])]
        elif code == ord("("):
            self._marks.append(len(self._stack))
            given = _MARK
        else:
            return False
        self._stack.append(given)
        return True

    def _keeps(self, code: int) -> bool:
        """Remember the last thing by a number, or skip what tells of the pickle's form."""
        if code in _PUT:
            self._kept[self._number(_PUT[code])] = self._stack[-1]
        elif code == 0x94:
            self._kept[len(self._kept)] = self._stack[-1]
        elif code in _SKIPPED:
            self._bytes(_SKIPPED[code])
        elif code == ord("0"):
            self._stack.pop()
        else:
            return False
        return True

    def _collects(self, code: int) -> bool:
        """Make one thing of several."""
        if code in _TUPLES:
            items = self._stack[-_TUPLES[code] :]
            del self._stack[-_TUPLES[code] :]
            if len(items) != _TUPLES[code]:
                raise ValueError("too few things")
            self._stack.append(_plain(items, tuple))
        elif code in _SINCE_MARK:
            self._since_mark(code)
        elif code == ord("a"):
            last = self._stack.pop()
            self._last(list).extend(_plain([last], list))
        elif code == ord("s"):
            value, key = self._stack.pop(), self._stack.pop()
            _fill(self._last(dict), [key, value])
        else:
            return False
        return True

    def _since_mark(self, code: int) -> None:
        begun = self._marks.pop()
        if self._stack[begun] is not _MARK:
            raise ValueError("no mark")
        items = self._stack[begun + 1 :]
        del self._stack[begun:]
        if code == ord("t"):
            self._stack.append(_plain(items, tuple))
        elif code == ord("l"):
            self._stack.append(_plain(items, list))
        elif code == ord("e"):
            self._last(list).extend(_plain(items, list))
        else:
            if code == ord("d"):
                self._stack.append({})
            _fill(self._last(dict), items)

    def _last(self, kind: type) -> Any:
        if not isinstance(self._stack[-1], kind):
            raise ValueError("the wrong thing")
        return self._stack[-1]


def _plain(items: list[Any], kind: Any) -> Any:
    if any(item is _MARK for item in items):
        raise ValueError("a mark among things")
    return kind(items)


def _fill(filled: dict[Any, Any], items: list[Any]) -> None:
    """Only texts and numbers are keys: what a tuple is asked for as a key may take for ever."""
    keys = items[::2]
    if len(items) % 2 or not all(isinstance(key, (str, int)) for key in keys):
        raise ValueError("no keys and values")
    filled.update(zip(keys, _plain(items[1::2], list)))
