# SPDX-License-Identifier: GPL-3.0-or-later
"""The Chinese of what the page takes from the table of causes, the catalog of checks, and the code's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ....module_utils._verify.catalog import CATALOG
from ..._diagnose import table
from ..._ground import yaml as _yaml
from ._rows import checks as rows

FOLDER = Path(__file__).parents[1] / "words" / "chinese"
# Where something is filled in; a text as long as a host likes is none of the code's.
_GAP, _LONGEST = "{}", 1000


def chinese(said: str) -> str:
    """The Chinese of such a text, also of several with ``; `` between them. "" of what was read on a host."""
    known = _known()
    if said in known or len(said) > _LONGEST:
        return known.get(said, "")
    phrase, _joint, rest = said.partition("; ")
    first = chinese(phrase) if rest else ""
    second = chinese(rest) if first else ""
    return f"{first}\uff1b{second}" if first and second else _filled(said)


def _filled(said: str) -> str:
    """Of a text in which something was filled in, which is said in Chinese where it has some."""
    for shape, (head, *rest) in _shapes():
        if found := shape.fullmatch(said):
            parts = zip((chinese(part) or part for part in found.groups()), rest, strict=True)
            return head + "".join(word for pair in parts for word in pair)
    return ""


@cache
def _shapes() -> Sequence[tuple[re.Pattern[str], list[str]]]:
    """The texts of the code that have gaps, what is longest first; and their Chinese between the gaps."""
    some = sorted(((said, other) for said, other in _read("said") if _GAP in said), key=lambda pair: -len(pair[0]))
    return [(re.compile("(.+?)".join(map(re.escape, said.split(_GAP)))), other.split(_GAP)) for said, other in some]


@cache
def _known() -> Mapping[str, str]:
    return dict(_pairs())


def _pairs() -> Iterator[tuple[str, str]]:
    """English and Chinese of each text that has both."""
    yield from _read("phrases").items()
    yield from _read("said")
    effects = _read("effects")
    yield from ((effect.says, effects[name]) for name, effect in table.effects().items() if name in effects)
    causes = _causes()
    for row in table.rows():
        yield from zip((row.title, row.fix.note), causes.get(row.id, ()), strict=False)
    for known in CATALOG.values():
        yield from zip((known.title, known.remedy, known.causes[0]), rows.CHINESE[known.id], strict=True)


def _causes() -> dict[str, list[str]]:
    """The texts of all files of causes, by id."""
    files = sorted((FOLDER / "causes").glob("*.yml"))
    return {name: said for file in files for name, said in _read(f"causes/{file.stem}").items()}


def _read(name: str) -> Any:
    return _yaml.load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
