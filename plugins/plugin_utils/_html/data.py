# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page's script reads: every text once, every check once, and per host what it had.

    {"words": {key: [English, Chinese]}, "strings": ["", ...], "checks": [...], "hosts": [...],
     "ids": [[id, title, what it looks at], ...], "rdma": bool, "sections": {id: ...}}

A check is a list of numbers, zeros at its end left out: id (of ids), subject, code (of CODES, + 4
for a warning), observed, expected, expected_from, cause, remedy, waived, then names and texts of
the evidence in turn; all but id and code of strings, of which 0 is "". A host is
[name, verdict (of VERDICTS), ports, manager, pings, moved, [checks...]].
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    PASS,
    SKIP,
    UNKNOWN,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import COMMANDS
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.foreign import text
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.model import Page, Said
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import WORDS
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.shape import VERDICTS

CODES = (PASS, FAIL, UNKNOWN, SKIP)
_WARNING = 4
_TEXTS = ("observed", "expected", "expected_from", "cause", "remedy", "waived")


class _Interned:
    """Texts by number, as they are asked for; 0 is ""."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"": 0}
        self.shown: list[str] = [""]

    def __call__(self, value: object) -> int:
        said = str(value)
        number = self.numbers.get(said)
        if number is None:
            number = self.numbers[said] = len(self.shown)
            self.shown.append(text(said))
        return number


class _Checks:
    """Checks by number, those that are equal under one."""

    def __init__(self, strings: _Interned, ids: Sequence[str]) -> None:
        self.strings = strings
        self.ids = {one: number for number, one in enumerate(ids)}
        self.numbers: dict[tuple[int, ...], int] = {}

    def __call__(self, raw: Said) -> int:
        key = self._encoded(raw)
        return self.numbers.setdefault(key, len(self.numbers))

    def _encoded(self, raw: Said) -> tuple[int, ...]:
        number = self.strings
        code = CODES.index(raw["result"]) + (_WARNING if raw["severity"] != "error" else 0)
        key = [self.ids[raw["id"]], number(raw["subject"]), code]
        key += [number(raw[name]) for name in _TEXTS]
        while not key[-1] and len(key) > 3 and not raw["evidence"]:
            key.pop()
        evidence = (number(one) for pair in raw["evidence"].items() for one in pair)
        return (*key, *evidence)


def script(page: Page, sections: Sequence[Section]) -> str:
    """JSON that can stand in a script element: no ``<`` in it, so no end and no comment."""
    found = {**collected(page), "words": WORDS}
    found["sections"] = {one.id: _shown(one.data) for one in sections if one.data is not None}
    packed = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return packed.replace("<", "\\u003c")


def collected(page: Page) -> dict[str, Any]:
    """All but words and sections."""
    strings = _Interned()
    ids = _ids(page)
    checks = _Checks(strings, ids)
    hosts = [
        [
            strings(one.name),
            VERDICTS.index(one.verdict),
            *(strings(said) for said in (one.ports, one.manager, one.pings, one.moved)),
            [checks(check) for check in one.checks],
        ]
        for one in page.hosts
    ]
    return {
        "ids": [[text(one), *_known(one)] for one in ids],
        "hosts": hosts,
        "rdma": page.rdma,
        "checks": list(checks.numbers),
        "strings": strings.shown,
    }


def _ids(page: Page) -> list[str]:
    """Ids that occur, in the catalog's order; those of another release after them."""
    seen = {check["id"] for one in page.hosts for check in one.checks}
    return [one for one in CATALOG if one in seen] + sorted(seen - set(CATALOG))


def _known(check_id: str) -> tuple[str, list[str]]:
    """Title and sources of a check, as an operator would ask for them; those of another release
    are not known."""
    if check_id not in CATALOG:
        return "", []
    known = CATALOG[check_id]
    return known.title, [
        " | ".join(_asked(one) for one in item.split("|")) for item in known.looks_at
    ]


def _asked(source: str) -> str:
    return " ".join(COMMANDS[source].argv) if source in COMMANDS else source


def _shown(value: Any) -> Any:
    """JSON of a section with its texts made visible."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {text(key): _shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    return value
