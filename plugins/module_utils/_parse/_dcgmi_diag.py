# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the table of ``dcgmi diag``, and the JSON of ``-j``.

DCGM 2 and 3 list the GPUs of a result (``Fail - GPU: 0``), DCGM 4 gives each a row (``GPU0: Fail``).
A text that is longer than the column goes on in the next row, be it in the middle of a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable

from ._dcgmi import FAIL, PASS, SKIP, WARN, Result, Row, Said, Test

_HEADS = ("Diagnostic", "Result")
_METADATA = "Metadata"
_VERSION, _DRIVER = "DCGM Version", "Driver Version Detected"
_ABOUT = re.compile(r"DCGM Version|.{1,40} Detected|.{0,20}EUD Test Version")
_WORD = r"(Pass|Fail|Warn|Skip|Not Run)"
_RESULT = re.compile(
    rf"{_WORD}(?: - (?:(All)|GPUs?:? ?([0-9]{{1,3}}(?:, ?[0-9]{{1,3}}){{0,63}})(?:,? ?\.{{2,3}})?))?,?"
)
_ENTITY = re.compile(rf"([A-Za-z]{{2,20}}[0-9]{{1,4}}): ?{_WORD}?")
_SAYS = re.compile(r"(Warning|Error|Info)(?:: ([A-Za-z]{2,20}[0-9]{1,4}))?")
_GPU = re.compile(r"(?:.{0,60}? )?GPU ?([0-9]{1,3})\b")
_WIDTH = 45
_RESULTS = {word.lower(): word for word in (PASS, FAIL, WARN, SKIP)}


@dataclass
class _Test:
    name: str
    part: str
    results: list[Result] = field(default_factory=list)
    said: list[tuple[str, list[str], str]] = field(default_factory=list)

    def done(self) -> Test:
        told = [(kind, " ".join("".join(pieces).split()), who) for kind, pieces, who in self.said]
        return Test(
            self.name,
            self.part,
            tuple(self.results),
            tuple(Said(kind, text, who or _whose(text)) for kind, text, who in told),
        )


def _whose(text: str) -> str:
    found = _GPU.match(text)
    return f"GPU{found.group(1)}" if found else ""


class Diag:
    """``known``: whether a line that only a diag has was seen. ``ended``: whether a rule came last."""

    def __init__(self) -> None:
        self.version = self.driver = self._part = ""
        self.known = self.ended = False
        self.unread = 0
        self._tests: list[_Test] = []
        # The text that the next row may go on with.
        self._pieces: list[str] | None = None

    @property
    def tests(self) -> tuple[Test, ...]:
        return tuple(test.done() for test in self._tests) if self.known else ()

    def take(self, row: Row) -> None:
        """The next row or rule."""
        self.ended = row.rule and not row.part
        if row.rule:
            self._pieces = None
            # What stands below the versions without a rule of its own is of no part that is known.
            self._part = "" if row.part == _METADATA else row.part or self._part
            self.known = self.known or bool(row.part)
            return
        name, value = " ".join(row.left.split()), " ".join(row.right.split())
        says, result, entity = _SAYS.fullmatch(name), _RESULT.fullmatch(value), _ENTITY.fullmatch(value)
        if (name, value) == _HEADS:
            self.known = True
        elif _ABOUT.fullmatch(name):
            self.known, self._pieces = True, []
            self.version = value if name == _VERSION else self.version
            self.driver = value if name == _DRIVER else self.driver
        elif says is not None and (self._tests or self.known):
            self._says(says.group(1), row.right, says.group(2) or "")
        elif result is not None and result.group(3) and not row.closed:
            # The last number may have more digits.
            self.unread += 1
        elif result is not None and (name or (self._tests and result.group(3))):
            self._result(name, *result.groups())
        elif entity is not None and not name and self._tests:
            self._entity(*entity.groups())
        elif not name and self._pieces is not None:
            self._pieces.append(_piece(row.right))
        elif name or value:
            self._pieces = None
            self.unread += 1

    def _result(self, name: str, word: str, every: str | None, numbers: str | None) -> None:
        self._pieces = None
        self.known = self.known or bool(every or numbers)
        if name:
            self._tests.append(_Test(name, self._part))
        gpus = tuple(f"GPU{number.strip()}" for number in numbers.split(",")) if numbers else ()
        self._tests[-1].results.append(Result(word, gpus))

    def _says(self, kind: str, right: str, who: str) -> None:
        if not self._tests or self._tests[-1].part != self._part:
            # Said of the part as a whole, in place of its tests.
            self._tests.append(_Test("", self._part))
        self._pieces = [_piece(right)]
        self._tests[-1].said.append((kind, self._pieces, who))

    def _entity(self, entity: str, word: str | None) -> None:
        self._pieces = None
        test = self._tests[-1]
        if not test.name or any(entity in result.entities for result in test.results):
            # The row with the name of another test is missing.
            self.unread += 1
        elif word:
            test.results.append(Result(word, (entity,)))


def _piece(right: str) -> str:
    """The row's part of a text; only the last part is shorter than the column, but for the blanks at its end."""
    return (right[1:] if right[:1] in (" ", "\t") else right).rstrip().ljust(_WIDTH)


def of_json(told: dict[str, Any]) -> tuple[Test, ...]:
    """The tests of ``-j``, with the names of DCGM 2 to 4."""
    tests = []
    for category in _dicts(told.get("test_categories")):
        part = str(category.get("category", ""))
        for test in _dicts(category.get("tests")):
            results: list[Result] = []
            said: list[Said] = []
            for entry in (*_dicts([test.get("test_summary")]), *_dicts(test.get("results"))):
                entities = _entities(entry)
                word = str(entry.get("status", ""))
                if word:
                    results.append(Result(_RESULTS.get(word.lower(), word), entities))
                said += _said(entry, entities[0] if len(entities) == 1 else "")
            tests.append(Test(str(test.get("name", "")), part, tuple(results), tuple(said)))
    return tuple(tests)


def _entities(entry: dict[str, Any]) -> tuple[str, ...]:
    if isinstance(entry.get("entity_id"), int):
        return (f"{entry.get('entity_group', 'GPU')}{entry['entity_id']}",)
    numbers = re.findall(r"[0-9]{1,3}", str(entry.get("gpu_ids", entry.get("gpu_id", "")))[:400])
    return tuple(f"GPU{number}" for number in numbers)


def _said(entry: dict[str, Any], entity: str) -> Iterable[Said]:
    for key, kind in (("warnings", "Warning"), ("info", "Info")):
        values = entry.get(key)
        for value in values if isinstance(values, list) else [values]:
            text = value.get("warning") if isinstance(value, dict) else value
            if isinstance(text, str) and text.strip():
                words = " ".join(text.split())
                yield Said(kind, words, entity or _whose(words))


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
