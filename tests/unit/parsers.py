# SPDX-License-Identifier: GPL-3.0-or-later
"""Every parser of the collection, found by itself, with its sample. For properties and fuzzing.

Needs nothing but the parsers: the fuzzer's environment has neither pytest nor Ansible.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _parse
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import names

# What reads one value and not an output says what is wrong in fewer words: ValueError.
ONE_VALUE = ("gid",)
SAMPLES = Path(__file__).parent / "parse_samples"


@dataclass(frozen=True)
class Parser:
    """One function that reads a text (or bytes), and the facts that are made of its answer."""

    name: str
    function: Callable[[Any], Any]
    facts: Callable[[Any], dict[str, Any]] | None
    binary: bool

    def __call__(self, text: str | bytes) -> Any:
        found = self.function(text)
        return found if self.facts is None else self.facts(found)

    @property
    def path(self) -> Path:
        return SAMPLES / f"{self.name}.{'hex' if self.binary else 'txt'}"

    @property
    def sample(self) -> str:
        return self.path.read_text()


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def functions(module: ModuleType) -> Iterator[tuple[str, Callable[[Any], Any], bool]]:
    """The module's own functions of one text or one piece of bytes."""
    for name, function in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(inspect.unwrap(function)):
            continue
        kinds = [one.annotation for one in inspect.signature(function).parameters.values()]
        if function.__module__ == module.__name__ and kinds in (["str"], ["bytes"]):
            yield name, function, kinds == ["bytes"]


def parsers() -> Iterator[tuple[Parser, bool]]:
    """Every function of the package's public modules, and whether it is a parser by its name."""
    for module in modules(_parse):
        stem = module.__name__.rpartition(".")[2]
        if stem.startswith("_") or module is names:
            continue
        for name, function, binary in functions(module):
            facts = getattr(module, "facts", None) if name == "parse" else None
            full = stem if name == "parse" else f"{stem}.{name}"
            yield Parser(full, function, facts, binary), name.startswith("parse")


ALL = list(parsers())
PARSERS = [one for one, is_parser in ALL if is_parser]
TEXT = [one for one in PARSERS if not one.binary]
SAMPLED = [one for one in TEXT if one.path.exists()]
BINARY = [one for one in PARSERS if one.binary and one.path.exists()]
OTHERS = [one for one, is_parser in ALL if not is_parser and not one.binary]


def facts_or_parse_error(parser: Parser, text: str | bytes) -> None:
    try:
        json.dumps(plain(parser(text)))
        return
    except ParseError as exc:
        error = exc
    except ValueError:
        assert parser in OTHERS or parser.name in ONE_VALUE
        return
    assert "\n" not in str(error)
    assert len(error.line) <= len(text)
    assert 0 <= error.line_no <= len(text) + 1


def plain(value: Any) -> Any:
    """The same as lists and dictionaries, every text with single blanks between its words."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(one) for one in value)
    return " ".join(value.split()) if isinstance(value, str) else value
