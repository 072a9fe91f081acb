# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page's script reads: every text once, every check once, and per host what it had. Packed by zlib.

    {"words": {key: [English, Chinese]}, "strings": ["", ...], "checks": [...], "hosts": [...],
     "ids": [[id, title, what it looks at], ...], "rdma": bool, "groups": [[name, [hosts by number]], ...],
     "chinese": {what is said of findings: its Chinese}, "sections": {id: ...},
     "went": {"runs": [when, ...], "hosts": [by number], "findings": [...]}}

A check is a list of numbers, zeros at its end left out: id (of ids), subject, code (of CODES, + 4
for a warning), observed, expected, expected_from, cause, remedy, waived, then names and texts of
the evidence in turn; all but id and code of strings, of which 0 is "". A host is
[name, verdict (of VERDICTS), ports, manager, pings, moved, [checks...]]. ``went`` is null where the
run has no history; a host's is a letter for each run, a finding [id, subject, letters, [hosts by
number]], all but the hosts' of strings.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._evidence.sources import COMMANDS
from ....module_utils._ground.check import DEGRADED, FAIL, NOT_READY, PASS, READY, SKIP, UNKNOWN, UNKNOWN_VERDICT
from ....module_utils._verify.catalog import CATALOG
from ..._run.compare import ABSENT, WAIVED
from ..._run.course import NONE
from ..._run.shape import VERDICTS
from ..speech.chinese import chinese
from ..speech.environment import Section
from ..speech.speech import text, words
from .model import Page, Said

CODES = (PASS, FAIL, UNKNOWN, SKIP)
_WARNING = 4
# Verdicts and results of the last runs.
_VERDICT = {READY: "r", DEGRADED: "d", UNKNOWN_VERDICT: "u", NOT_READY: "n", ABSENT: "-"}
_RESULT = {PASS: "p", FAIL: "f", UNKNOWN: "u", SKIP: "s", WAIVED: "w", ABSENT: "-", NONE: "."}
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
        self.ids = {entry: number for number, entry in enumerate(ids)}
        self.numbers: dict[tuple[int, ...], int] = {}
        self._seen: dict[int, int] = {}

    def __call__(self, raw: Said) -> int:
        number = self._seen.get(id(raw))
        if number is None:
            number = self.numbers.setdefault(self._encoded(raw), len(self.numbers))
            self._seen[id(raw)] = number
        return number

    def _encoded(self, raw: Said) -> tuple[int, ...]:
        number = self.strings
        code = CODES.index(raw["result"]) + (_WARNING if raw["severity"] != "error" else 0)
        key = [self.ids[raw["id"]], number(raw["subject"]), code]
        key += [number(raw[name]) for name in _TEXTS]
        while not key[-1] and len(key) > 3 and not raw["evidence"]:
            key.pop()
        evidence = (number(entry) for pair in raw["evidence"].items() for entry in pair)
        return (*key, *evidence)


def script(page: Page, sections: Sequence[Section]) -> str:
    """JSON by zlib in Base64, which can stand in a script element: no ``<`` in it, so no end and no comment."""
    found = {**collected(page), "words": words()}
    found["sections"] = {section.id: _shown(section.data) for section in sections if section.data is not None}
    return base64.b64encode(zlib.compress(json.dumps(found, separators=(",", ":")).encode(), 9)).decode()


def collected(page: Page) -> dict[str, Any]:
    """All but words and sections."""
    strings = _Interned()
    ids = _ids(page)
    checks = _Checks(strings, ids)
    hosts = [
        [
            strings(host.name),
            VERDICTS.index(host.verdict),
            *(strings(said) for said in (host.ports, host.manager, host.pings, host.moved)),
            [checks(check) for check in host.checks],
        ]
        for host in page.hosts
    ]
    names = [host.name for host in page.hosts]
    return {
        "ids": [[text(entry), *_known(entry)] for entry in ids],
        "hosts": hosts,
        "groups": [
            [strings(group.name), [at for at, name in enumerate(names) if name in group.hosts]] for group in page.groups
        ],
        "rdma": page.rdma,
        "went": _went(page, names, strings),
        "checks": list(checks.numbers),
        "strings": strings.shown,
        "chinese": _chinese(page),
    }


def _chinese(page: Page) -> dict[str, str]:
    bad = (check for host in page.hosts for check in host.checks if check["result"] in (FAIL, UNKNOWN))
    said = {entry for check in bad for entry in (_known(check["id"])[0], check["cause"], check["remedy"])}
    return {entry: other for entry in sorted(said) if (other := chinese(entry))}


def _went(page: Page, names: Sequence[str], strings: _Interned) -> dict[str, Any] | None:
    if page.went is None or page.history is None:
        return None
    verdicts, places = page.history["hosts"], {name: at for at, name in enumerate(names)}
    return {
        "runs": page.went.runs,
        "hosts": [strings("".join(_VERDICT[verdict] for verdict in verdicts.get(name, ()))) for name in names],
        "findings": [
            [
                *(strings(said) for said in (entry["id"], entry["subject"])),
                strings("".join(_RESULT[result] for result in entry["results"])),
                [places[name] for name in entry["hosts"] if name in places],
            ]
            for entry in page.history["findings"]
        ],
    }


def _ids(page: Page) -> list[str]:
    """Ids that occur, in the catalog's order; those of another release after them."""
    seen = {check["id"] for host in page.hosts for check in host.checks}
    return [entry for entry in CATALOG if entry in seen] + sorted(seen - set(CATALOG))


def _known(check_id: str) -> tuple[str, list[str]]:
    """Title and sources of a check, as an operator would ask for them; those of another release
    are not known."""
    if check_id not in CATALOG:
        return "", []
    known = CATALOG[check_id]
    return known.title, [" | ".join(_asked(word) for word in item.split("|")) for item in known.looks_at]


def _asked(source: str) -> str:
    return " ".join(COMMANDS[source].argv) if source in COMMANDS else source


def _shown(value: Any) -> Any:
    """JSON of a section with its texts made visible."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {text(key): _shown(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(entry) for entry in value]
    return value
