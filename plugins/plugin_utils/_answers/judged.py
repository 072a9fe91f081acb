# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verify module answered, whole or as ``answer=findings`` packs it (_verify/brief).

What many hosts answer alike is read once and kept once: nobody may change what is read here.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from typing import Any

from ...module_utils._ground import packed
from ...module_utils._ground.bound import Bound
from ...module_utils._ground.check import Check, is_ours
from ...module_utils._verify import brief
from ...module_utils._verify.catalog import CATALOG
from . import shapes, shown as _shown
from .typed import AnswerError, read, shown

# Unpacked, in bytes: more than a hundred times what a full node tells.
_MOST: Bound = 32 * 1024 * 1024
# A full node has some 200 checks, with a word or two each as their subject.
_CHECKS: Bound = 5000
_SUBJECT: Bound = 1000
# No two hosts are alike in these.
_OWN = ("ib", "nccl", "gpu", "node", "own")
_KINDS = typing.get_type_hints(shapes.Facts, include_extras=True)
_LIVES = "ib"

Answer = tuple[Mapping[str, Any], shapes.Judged]


class Known:
    """What was read of the hosts before: checks by their row, facts of an area by their text."""

    def __init__(self) -> None:
        self._checks: dict[tuple[Any, ...], Check] = {}
        self._facts: dict[tuple[str, str], tuple[Any, Any]] = {}

    def answer(self, result: Mapping[str, Any]) -> Answer:
        """What a run keeps of the facts, as it came, and the answer by its types; AnswerError on what is not ours."""
        if brief.KEY in result:
            return self._unpacked(result)
        _demand_few(result.get("checks"))
        found = read(shapes.Judged, result)
        for number, check in enumerate(found["checks"]):
            _demand_ours(check, number)
        return _shown.of_host(result["facts"]), found

    def _unpacked(self, result: Mapping[str, Any]) -> Answer:
        found = _opened(result[brief.KEY])
        rows, texts = found.get("checks"), found.get("facts")
        if not isinstance(rows, list) or not isinstance(texts, dict):
            raise AnswerError("no checks and facts", brief.KEY)
        _demand_few(rows)
        if _LIVES not in texts:
            raise AnswerError("missing", f"facts.{_LIVES}")
        checks = [self._check(row, number) for number, row in enumerate(rows)]
        both = {area: self._area(area, text) for area, text in texts.items()}
        facts: Any = {area: entry for area, (_unused, entry) in both.items()}
        answer: shapes.Judged = {"checks": checks, "facts": facts}
        if result.get("clock") is not None:
            answer["clock"] = read(shapes.Clock, result["clock"], "clock")
        return {area: raw for area, (raw, _unused) in both.items()}, answer

    def _check(self, row: Any, number: int) -> Check:
        if not isinstance(row, list) or not len(brief.FIELDS) >= len(row):
            raise AnswerError("no check of ours", f"checks[{number}]")
        plain = len(row) < len(brief.FIELDS) and all(entry.__class__ is str for entry in row)
        check = self._checks.get(tuple(row)) if plain else None
        if check is None:
            whole: dict[str, Any] = dict.fromkeys(brief.FIELDS, "")
            whole.update(evidence={})
            whole.update(zip(brief.FIELDS, row, strict=False))
            check = read(Check, whole, f"checks[{number}]")
            _demand_ours(check, number)
            if plain:
                self._checks[tuple(row)] = check
        return check

    def _area(self, area: str, text: Any) -> tuple[Any, Any]:
        place = f"facts.{shown(area)}"
        if not isinstance(text, str):
            raise AnswerError("no text", place)
        known = self._facts.get((area, text))
        if known is None:
            raw = _parsed(text, place)
            typed = read(_KINDS.get(area, Any), raw, place)
            known = _shown.of_area(area, raw), typed
            if area not in _OWN:
                self._facts[area, text] = known
        return known


def _demand_ours(check: Check, number: int) -> None:
    if check.id not in CATALOG or not is_ours(check):
        raise AnswerError("no check of ours", f"checks[{number}]")
    if len(check.subject) > _SUBJECT:
        raise AnswerError(
            f"a text of {len(check.subject):,} characters, and {_SUBJECT:,} are taken", f"checks[{number}].subject"
        )


def _demand_few(checks: Any) -> None:
    """Before one is read."""
    if isinstance(checks, list) and len(checks) > _CHECKS:
        raise AnswerError(f"{len(checks):,} of them, and {_CHECKS:,} are taken", "checks")


def _opened(text: Any) -> Mapping[str, Any]:
    if not isinstance(text, str):
        raise AnswerError("no text", brief.KEY)
    try:
        found = _parsed(packed.opened(text, _MOST, "a verify module"), brief.KEY)
    except ValueError as exc:
        raise exc if isinstance(exc, AnswerError) else AnswerError(shown(str(exc)), brief.KEY) from None
    if not isinstance(found, dict):
        raise AnswerError("no object", brief.KEY)
    return found


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise AnswerError(shown(str(exc)), place) from None
