# SPDX-License-Identifier: GPL-3.0-or-later
"""The Chinese of what the page takes from the table of causes and from the catalog of checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ....module_utils._verify.catalog import CATALOG
from ..._diagnose import table
from ..._ground import yaml as _yaml
from ._rows import checks as rows

FOLDER = Path(__file__).parents[1] / "words" / "chinese"


def chinese(said: str) -> str:
    """The Chinese of such a text, also of one behind a phrase and ``; ``. "" of what was read on a host."""
    known = _known()
    if said in known:
        return known[said]
    phrase, _joint, rest = said.partition("; ")
    return f"{known[phrase]}\uff1b{known[rest]}" if phrase in known and rest in known else ""


@cache
def _known() -> Mapping[str, str]:
    return dict(_pairs())


def _pairs() -> Iterator[tuple[str, str]]:
    """English and Chinese of each text that has both."""
    yield from _read("phrases").items()
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


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = _yaml.load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    return found
