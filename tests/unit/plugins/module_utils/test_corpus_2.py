# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read in the second corpus's texts (tests/unit/corpus_2), and what the parsers read in them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils import _parse
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names, prefix
from tests.unit.corpus import CORPUS
from tests.unit.told_fields import ABSENT, told

TEXTS = CORPUS.parent / "corpus-2"
READ = {
    path.stem: yaml.safe_load(path.read_text())
    for path in sorted((Path(__file__).parents[2] / "corpus_2").glob("*.yml"))
}
LEAST = 4
SHORT = 4  # lines; a text that has no more may tell less
needed = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"no corpus at {TEXTS} (set IBREADY_CORPUS)")


def text_of(tool: str, stem: str) -> str:
    (path,) = (path for path in (TEXTS / tool).iterdir() if path.stem == stem)
    return path.read_bytes().decode("utf-8", errors="replace")


def parsed(tool: str, text: str) -> tuple[Any, ParseError | None]:
    """As `ibready parse` does it; of a tool that it does not name, what the parser itself returns."""
    only = prefix.parts(tool, text)[0].text
    if tool in names.NAMES:
        return names.facts(tool, only)
    try:
        return importlib.import_module(f"{_parse.__name__}.{tool}").parse(only), None
    except ParseError as error:
        return None, error


def plain(value: Any) -> Any:
    """As YAML has it."""
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return {key: plain(entry) for key, entry in value.items()} if isinstance(value, dict) else value


@needed
@pytest.mark.parametrize(("tool", "stem"), [(tool, stem) for tool, texts in READ.items() for stem in texts])
def test_facts(tool: str, stem: str) -> None:
    expected = dict(READ[tool][stem])
    refused = expected.pop("refused", False)
    facts, error = parsed(tool, text_of(tool, stem))
    assert (error is not None) == refused, error
    assert {path: plain(told(facts, path)) for path in expected} == expected


@needed
@pytest.mark.parametrize("tool", READ)
def test_every_text_was_read(tool: str) -> None:
    stems = {path.stem for path in (TEXTS / tool).iterdir()}
    assert stems == set(READ[tool])
    for stem, fields in READ[tool].items():
        lines = [line for line in text_of(tool, stem).splitlines() if line.strip()]
        assert fields.get("refused") or len(fields) >= (LEAST if len(lines) > SHORT else 1), stem


def test_paths() -> None:
    facts = {"xids": [{"xid": 45, "of": {"a": 1}}, {"xid": 149, "of": {}}], "kernel": ("x",), "none": None}
    assert told(facts, "xids.0.xid") == 45
    assert told(facts, "xids.#") == 2
    assert told(facts, "xids.*.xid") == [45, 149]
    assert told(facts, "xids.*.of.#") == [1, 0]
    assert told(facts, "xids.*.of.a") == [1, ABSENT]
    assert (told(facts, "kernel.0"), told(facts, "kernel.1"), told(facts, "gone.x")) == ("x", ABSENT, ABSENT)
    assert (told(facts, "none"), told(facts, "none.x")) == (None, ABSENT)
